import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { MigrationError } from "../../src/ledger/migrate.ts";
import { migrateMysql, openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";
import { schemaOf } from "../support/mysql-schema.ts";

const files = [...["0001_ledger.sql", "0002_leases.sql", "0003_console.sql"], "0004_requests.sql"];
const migrated = { applied: files, pending: [] };
const pending = { applied: [], pending: files };
const firstMigration = new URL(
  "../../src/ledger/migrations/mysql/0001_ledger.sql",
  import.meta.url,
);

describe.each(ledgerServers())("the schema on $name", (server) => {
  let database: Database;
  const open = () => openMysqlLedger(database.url);
  beforeEach(async () => {
    database = await createDatabase(server);
    return () => database.drop();
  });

  it("is the golden one after all migrations", async () => {
    expect(await migrateMysql(database.url, { dryRun: false })).toEqual(migrated);
    // To accept a difference: node scripts/dump-schema.mjs
    await expect(await schemaOf(database)).toMatchFileSnapshot("../golden/schema.mysql.txt");
  });

  it("is made once by twenty who open an empty database at the same time", async () => {
    const ledgers = await Promise.all(Array.from({ length: 20 }, open));
    const secrets = await Promise.all(ledgers.map((ledger) => ledger.secret("messages")));
    expect(new Set(secrets.map((secret) => secret.toString("hex"))).size).toBe(1);
    for (const ledger of ledgers) expect(await ledger.lanes()).toHaveLength(1);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(await migrateMysql(database.url, { dryRun: true })).toEqual(migrated);
  });

  it("is finished by the next one when a migration died in the middle", async () => {
    const collation = server.name === "MariaDB" ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
    const script = readFileSync(firstMigration, "utf8").replaceAll("bytewise", collation);
    const half = script.slice(0, script.indexOf("create table if not exists order_lines"));
    await database.query(half);
    // And of the one that changes a table, the change alone.
    await database.query(
      "alter table orders add column request_id varchar(64), add column trace_id varchar(32)",
    );
    const ledger = await open();
    expect(await ledger.secret("messages")).toHaveLength(32);
    await ledger.close();
    await expect(await schemaOf(database)).toMatchFileSnapshot("../golden/schema.mysql.txt");
  });

  it("gets its secrets and lanes from the next one when only they are missing", async () => {
    await (await open()).close();
    await database.query("delete from meta where name = 'messages'; delete from lanes");
    const ledger = await open();
    onTestFinished(() => ledger.close());
    expect(await ledger.secret("messages")).toHaveLength(32);
    expect(await ledger.lanes()).toHaveLength(1);
  });

  it("is only looked at by a dry run", async () => {
    expect(await migrateMysql(database.url, { dryRun: true })).toEqual(pending);
    expect(await database.query("show tables")).toEqual([]);
  });

  it("is refused when it is newer than the program, or was made from another file", async () => {
    await migrateMysql(database.url, { dryRun: false });
    await database.query("insert into migrations values (99, '0099_later.sql', 'x', 1)");
    await expect(open()).rejects.toThrow(/0099_later.sql, which is newer than this program/);
    await database.query(
      "delete from migrations where number = 99; update migrations set hash = 'other'",
    );
    await expect(open()).rejects.toThrow(/0001_ledger.sql was applied with other content/);
    await expect(open()).rejects.toThrow(MigrationError);
  });

  it("is refused, not changed, by one who may only read", async () => {
    const opening = openMysqlLedger(database.url, { readOnly: true });
    await expect(opening).rejects.toThrow(/needs a migration first/);
    expect(await database.query("show tables")).toEqual([]);
  });
});
