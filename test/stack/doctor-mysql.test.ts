import { createConnection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ManualClock, systemClock } from "../../src/clock.ts";
import { examineMysql } from "../../src/doctor/mysql.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { type SqlServer, startMariadb } from "../../stack/mariadb.ts";
import { startMysql } from "../../stack/mysql.ts";
import { foundAt, notOk } from "../support/doctor.ts";
import { breakLedger, ledgerAilments } from "../support/doctor-ailments.ts";
import { confirm, leaseOf, openSale, reserve } from "../support/ledger-fixtures.ts";
import { createDatabase, type Database } from "../support/ledger-servers.ts";

const servers = [
  { name: "MariaDB", start: startMariadb, unflushed: "--skip-innodb-doublewrite" },
  { name: "MySQL", start: startMysql, unflushed: "--innodb-doublewrite=OFF" },
] as const;

describe.each(servers)("the doctor of a real $name", ({ name, start, unflushed }) => {
  let server: SqlServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  /** A paid order `one` and a hold `two` in a database of the test's own. */
  async function healthy(): Promise<Database> {
    const database = await createDatabase(server);
    onTestFinished(() => database.drop());
    const ledger = await openMysqlLedger(database.url);
    await openSale(ledger);
    await ledger.commit([reserve("one"), reserve("two"), confirm("one", "paid")]);
    await ledger.publishedAll(await leaseOf(ledger, "publisher"));
    await ledger.close();
    return database;
  }
  const examine = ({ url }: Pick<Database, "url">) => examineMysql(url, systemClock);
  async function setGlobal(database: Database, variable: string, value: string): Promise<void> {
    const [row] = await database.query(`select @@global.${variable} as value`);
    const before = row?.["value"];
    await database.query(`set global ${variable} = ${value}`);
    const back = typeof before === "string" ? `'${before}'` : String(before);
    onTestFinished(async () => void (await ask(server.url, `set global ${variable} = ${back}`)));
  }

  it("finds nothing wrong with a healthy one", async () => {
    const found = await examine(await healthy());
    expect(notOk(found)).toEqual({});
    expect(found.length).toBeGreaterThan(18);
    expect(foundAt(found, "mysql.version")).toContain(name);
  });

  it.each([
    ["mysql.flush", "fail", "innodb_flush_log_at_trx_commit", "2"],
    ["mysql.binlog-sync", "fail", "sync_binlog", "0"],
    ["mysql.isolation", "fail", "binlog_format", "'STATEMENT'"],
    ["mysql.read-only", "fail", "read_only", "1"],
    ["mysql.time-zone", "warn", "time_zone", "'+08:00'"],
  ])("names %s (%s) when %s is %s", async (id, state, variable, value) => {
    const database = await healthy();
    await setGlobal(database, variable, value);
    expect(notOk(await examine(database))).toEqual({ [id]: state });
  });

  it("names the connections when they are used up", async () => {
    const database = await healthy();
    await setGlobal(database, "max_connections", "10");
    const idle = await Promise.all(
      Array.from({ length: 8 }, () => createConnection({ uri: database.url })),
    );
    onTestFinished(async () => void (await Promise.all(idle.map((each) => each.end()))));
    expect(notOk(await examine(database))).toEqual({ "mysql.connections": "warn" });
  });

  it("names the locks that somebody waits for", async () => {
    const database = await healthy();
    const [holder, waiter] = await Promise.all([
      createConnection({ uri: database.url }),
      createConnection({ uri: database.url }),
    ]);
    const update = "update inventory set status_reason = 'x' where sku_id = 'sku-a'";
    await holder.query("begin");
    await holder.query(update);
    const waiting = waiter.query(update);
    const named = async () => notOk(await examine(database));
    await expect.poll(named, slow).toEqual({ "mysql.lock-waits": "warn" });
    await holder.query("rollback");
    await waiting;
    await Promise.all([holder.end(), waiter.end()]);
  });

  it.each([
    [
      "mysql.collation",
      "alter table audit_log modify actor varchar(64) collate utf8mb4_general_ci",
    ],
    ["mysql.engine", "alter table audit_log engine = MyISAM"],
    ["ledger.unique-keys", "alter table inventory drop index inventory_by_id"],
    ["ledger.unique-keys", `alter table operations drop primary key`],
  ])("names %s after %s", async (id, sql) => {
    const database = await healthy();
    await database.query(sql);
    expect(notOk(await examine(database))).toEqual({ [id]: "fail" });
  });

  it.each(ledgerAilments)("names $id when $what", async (ailment) => {
    const database = await healthy();
    for (const sql of breakLedger(ailment, Date.now())) await database.query(sql);
    expect(notOk(await examine(database))).toEqual({ [ailment.id]: ailment.state });
  });

  it("names the clocks when they disagree", async () => {
    const late = new ManualClock(Date.now() - 40_000);
    const clock = { ...systemClock, now: () => late.now() };
    const found = await examineMysql((await healthy()).url, clock);
    expect(notOk(found)).toEqual({ clocks: "fail" });
  });

  it("names the double write of a server that was started without", async () => {
    const reckless = await start({ settings: [unflushed] });
    onTestFinished(() => reckless.stop());
    const database = await createDatabase(reckless);
    await (await openMysqlLedger(database.url)).close();
    expect(notOk(await examine(database))).toEqual({ "mysql.doublewrite": "fail" });
    await reckless.kill("SIGSTOP");
    expect(notOk(await examine(database))).toEqual({ "mysql.reachable": "fail" });
    await reckless.kill("SIGCONT");
  });

  it("says why one that is away or does not know us cannot be reached", async () => {
    const url = `${server.url}/no_such_database`;
    const unknown = await examine({ url });
    expect(notOk(unknown)).toEqual({ "mysql.reachable": "fail" });
    expect(foundAt(unknown, "mysql.reachable")).toContain("no_such_database");
    const stranger = `mysql://nobody:hidden-word@127.0.0.1:${server.port}/x`;
    const refused = await examine({ url: stranger });
    expect(notOk(refused)).toEqual({ "mysql.reachable": "fail" });
    expect(JSON.stringify(refused)).not.toContain("hidden-word");
    const away = await examine({ url: "mysql://root@127.0.0.1:1/x" });
    expect(foundAt(away, "mysql.reachable")).toContain("ECONNREFUSED");
  });
});

const slow = { timeout: 20_000, interval: 100 };

async function ask(url: string, sql: string): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection({ uri: url });
  const [rows] = await connection.query<RowDataPacket[]>(sql);
  await connection.end();
  return rows;
}
