import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { reservationId } from "../../src/domain/values.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { type SqlServer, startMariadb } from "../../stack/mariadb.ts";
import { openSale, reserve, skuA, wordsOf } from "../support/ledger-fixtures.ts";
import { createDatabase } from "../support/ledger-servers.ts";
import { type MysqlProxy, startMysqlProxy } from "../support/mysql-proxy.ts";

/** A server of its own: these tests kill it, or set what nobody should. */
let server: SqlServer;
let proxy: MysqlProxy;
beforeAll(async () => {
  server = await startMariadb();
  proxy = await startMysqlProxy(server.port);
  return () => proxy.close();
});
afterAll(() => server.stop());

it("loses nothing acknowledged when the server is killed in the middle of commits", async () => {
  const database = await createDatabase(server);
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const ledger = await openMysqlLedger(url.href);
  await openSale(ledger, { items: { [skuA]: 100_000 } });
  const acknowledged: string[] = [];
  const doubtful: string[][] = [];
  let isOver = false;
  const writer = async (name: string): Promise<void> => {
    for (let batch = 0; !isOver; batch += 1) {
      const ids = Array.from({ length: 10 }, (_, n) => `${name}.${batch}.${n}`);
      try {
        await ledger.commit(ids.map((id) => reserve(id)));
        acknowledged.push(...ids);
      } catch (error) {
        expect(error).toMatchObject({ retryable: true });
        doubtful.push(ids);
        await systemClock.sleep(20);
      }
    }
  };
  const writers = ["w1", "w2", "w3", "w4"].map(writer);
  while (acknowledged.length <= 100) await systemClock.sleep(50);
  await server.kill("SIGKILL");
  await systemClock.sleep(200);
  server = await startMariadb({ folder: server.folder });
  proxy.target = server.port;
  while (doubtful.length === 0) await systemClock.sleep(50);
  await systemClock.sleep(500);
  isOver = true;
  await Promise.all(writers);

  expect(acknowledged.length).toBeGreaterThan(100);
  expect(doubtful.length).toBeGreaterThan(0);
  for (const id of acknowledged) expect(await ledger.order(reservationId(id))).not.toBeNull();
  for (const ids of doubtful) {
    const words = wordsOf(await ledger.commit(ids.map((id) => reserve(id))));
    // A batch is one transaction: all of it was done, or nothing.
    expect(new Set(words).size).toBe(1);
  }
  const sold = acknowledged.length + doubtful.flat().length;
  expect((await ledger.level(skuA))?.balances).toMatchObject({ reserved: sold });
  expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: sold + 1 });
  await ledger.close();
}, 120_000);

it.each([
  ["innodb_flush_log_at_trx_commit", 2, 1],
  ["innodb_flush_log_at_trx_commit", 0, 1],
  ["sync_binlog", 0, 1],
])("is not opened on a server that may lose commits: %s = %i", async (setting, value, safe) => {
  const database = await createDatabase(server);
  await database.query(`set global ${setting} = ${value}`);
  await expect(openMysqlLedger(database.url)).rejects.toMatchObject({
    code: "LEDGER_UNAVAILABLE",
    message: expect.stringContaining(`${setting} is ${value}`),
  });
  expect(await database.query("show tables")).toEqual([]);
  await database.query(`set global ${setting} = ${safe}`);
  await (await openMysqlLedger(database.url)).close();
});

it("waits out a server that is read-only, without a word of success", async () => {
  const database = await createDatabase(server);
  await database.query(`
    create user shop@localhost identified by 'long enough';
    grant all on ${database.name}.* to shop@localhost`);
  const url = new URL(database.url);
  url.username = "shop";
  url.password = encodeURIComponent("long enough");
  url.hostname = "localhost";
  const ledger = await openMysqlLedger(url.href);
  await openSale(ledger);
  await database.query("set global read_only = 1");
  const refused = ledger.commit([reserve("r1")]);
  await expect(refused).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(await ledger.level(skuA)).toMatchObject({ balances: { available: 100 } });
  await database.query("set global read_only = 0");
  expect(wordsOf(await ledger.commit([reserve("r1")]))).toEqual(["accepted"]);
  await ledger.close();
});

it("says OVERLOADED or UNAVAILABLE, not more, when the server has no connection left", async () => {
  const database = await createDatabase(server);
  const ledger = await openMysqlLedger(`${database.url}?connections=50`);
  await openSale(ledger, { items: { [skuA]: 1000 } });
  await database.query("set global max_connections = 10");
  const many = Array.from({ length: 100 }, (_, n) => ledger.commit([reserve(`r${n}`)]));
  const told = await Promise.allSettled(many);
  const done = told.filter(({ status }) => status === "fulfilled").length;
  for (const each of told) {
    if (each.status === "rejected") expect(each.reason).toMatchObject({ retryable: true });
  }
  expect((await ledger.level(skuA))?.balances).toMatchObject({ reserved: done });
  await ledger.close();
  await database.query("set global max_connections = 300");
});
