import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Command } from "../../src/domain/command.ts";
import { reservationId, skuId, ValueError } from "../../src/domain/values.ts";
import type { Commit, Ledger } from "../../src/ledger/ledger.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import {
  confirm,
  createSale,
  give,
  moveSale,
  openSale,
  reserve,
  reserveTicket,
  saleA,
  skuA,
  skuB,
  ticketCommand,
  wordsOf,
} from "../support/ledger-fixtures.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";
import { startMysqlProxy } from "../support/mysql-proxy.ts";

const deadlock = 1213;

describe.each(ledgerServers())("many at once on $name", (server) => {
  let database: Database;
  let ledger: Ledger;
  const open = (query = "", options = {}) => openMysqlLedger(database.url + query, options);
  beforeEach(async () => {
    database = await createDatabase(server);
    ledger = await open();
  });
  afterEach(async () => {
    await ledger.close();
    await database.drop();
  });

  it("C24 carts in opposite order and deadlocks in every tenth order lose nothing", async () => {
    await openSale(ledger, { items: { [skuA]: 100, [skuB]: 100 } });
    const url = new URL(database.url);
    const proxy = await startMysqlProxy(Number(url.port));
    proxy.judge = secondWriteOfEveryTenth();
    url.port = String(proxy.port);
    const through = await openMysqlLedger(url.href);
    const carts = Array.from({ length: 100 }, (_, n) => {
      const lines = n % 2 === 0 ? { [skuA]: 1, [skuB]: 1 } : { [skuB]: 1, [skuA]: 1 };
      return through.commit([reserve(`o${n}`, { lines })]);
    });
    const told = await Promise.all(carts);
    expect(new Set(told.flatMap(wordsOf))).toEqual(new Set(["accepted"]));
    for (const level of await ledger.levels([skuA, skuB])) {
      expect(level.balances).toMatchObject({ available: 0, reserved: 100 });
      expect(level.version).toBe(101);
    }
    expect(await database.query("select order_id from orders")).toHaveLength(100);
    expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: 202 });
    await through.close();
    await proxy.close();
  });

  it("C24 two first deliveries of one new message are applied once", async () => {
    await openSale(ledger, { items: { [skuA]: 100 } });
    for (let n = 0; n < 20; n += 1) {
      const both = [reserve(`r${n}`), reserve(`r${n}`)].map((each) => ledger.commit([each]));
      const words = (await Promise.all(both)).flatMap(wordsOf).sort();
      expect(words).toEqual(["accepted", "accepted again"]);
    }
    expect((await ledger.level(skuA))?.balances).toMatchObject({ available: 80, reserved: 20 });
  });

  it("C27 a pool of two serves twenty reservations and twenty payments", async () => {
    await openSale(ledger, { items: { [skuA]: 20 } });
    const small = await open("?connections=2");
    const startedAt = performance.now();
    const all = async (commands: readonly Command[]): Promise<readonly string[]> =>
      (await Promise.all(commands.map((each) => small.commit([each])))).flatMap(wordsOf);
    const twenty = Array.from({ length: 20 }, (_, n) => `r${n}`);
    expect(new Set(await all(twenty.map((id) => reserve(id))))).toEqual(new Set(["accepted"]));
    expect((await small.level(skuA))?.balances).toMatchObject({ available: 0, reserved: 20 });
    await all(twenty.map((id) => confirm(id, `p-${id}`)));
    expect((await small.level(skuA))?.balances).toMatchObject({ reserved: 0, sold: 20 });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await small.close();
  });

  it("C27 of 500 at once a small pool sends the surplus away, and moves nothing", async () => {
    await openSale(ledger, { items: { [skuA]: 1000 } });
    const small = await open("?connections=2", { queueMax: 30 });
    const many = Array.from({ length: 500 }, (_, n) => small.commit([reserve(`r${n}`)]));
    const told = await Promise.allSettled(many);
    const done = told.filter(({ status }) => status === "fulfilled");
    for (const each of told) {
      if (each.status === "fulfilled") continue;
      expect(each.reason).toMatchObject({ code: "OVERLOADED", retryable: true });
    }
    expect(done).toHaveLength(32);
    expect((await ledger.level(skuA))?.balances).toMatchObject({ available: 968, reserved: 32 });
    await small.close();
  });

  it("C29 ids that differ by case are different, all others are refused", async () => {
    await openSale(ledger, { items: { abc: 5, ABC: 7 } });
    for (const odd of ["abc ", "ábc", "a".repeat(65)]) {
      expect(() => skuId(odd)).toThrow(ValueError);
      expect(() => reservationId(odd)).toThrow(ValueError);
    }
    await ledger.commit([reserve("r1", { lines: { abc: 1 } })]);
    const levels = await ledger.levels([skuId("abc"), skuId("ABC")]);
    expect(levels.map(({ sku, balances }) => [sku, balances.available])).toEqual([
      ["ABC", 7],
      ["abc", 4],
    ]);
    const long = "k".repeat(63);
    const ticket = reserveTicket("r2", { lines: { abc: 1 } });
    await ledger.commit(
      ["1", "2"].map((last) => ticketCommand({ ...ticket, id: reservationId(long + last) })),
    );
    expect((await ledger.level(skuId("abc")))?.balances).toMatchObject({ reserved: 3 });
  });

  it("C29 the database itself tells trailing spaces and accents apart", async () => {
    const [row] = await database.query(`
      select count(*) as n from information_schema.columns
      where table_schema = database() and column_name like '%\\_id'
        and collation_name not in ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')`);
    expect(row?.["n"]).toBe(0);
    await database.query("insert into meta values ('a', 'x'), ('a ', 'x'), ('A', 'x'), ('á', 'x')");
    expect(await database.query("select 1 from meta where name in ('a', 'a ')")).toHaveLength(2);
  });

  it("moves a sale once when two operators press at the same time", async () => {
    await openSale(ledger);
    for (let n = 0; n < 10; n += 1) {
      const to = n % 2 === 0 ? "paused" : "open";
      const both = await Promise.all([moveSale(saleA, to), moveSale(saleA, to)].map(commitOne));
      for (const commit of both) expect(commit.results[0]?.status).toBe("accepted");
    }
    // Created, opened, and ten moves: none was lost, none was made twice.
    expect((await ledger.sale(saleA))?.revision).toBe(12);
  });

  it("puts a SKU into one of two sales that want it at once", async () => {
    const sales = ["one", "two"].map((id) => createSale({ id, items: { [skuA]: 5 } }));
    const words = (await Promise.all(sales.map(commitOne))).flatMap(wordsOf).sort();
    expect(words).toEqual(["SKU_IN_SALE", "accepted"]);
  });

  it("keeps versions and times in the same order for each SKU", async () => {
    await openSale(ledger, { items: { [skuA]: 10 } });
    const restock = (n: number) => give("restock", skuA, { id: `g${n}`, quantity: 1 });
    await Promise.all(Array.from({ length: 30 }, (_, n) => commitOne(restock(n))));
    const query = { after: 0, limit: 100, from: null, to: null };
    const times = (await ledger.entries(skuA, query)).map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("has its time from the database, not from this process", async () => {
    const [row] = await database.query("select unix_timestamp() as seconds");
    const now = await ledger.now();
    expect(Math.abs(now / 1000 - Number(row?.["seconds"]))).toBeLessThan(2);
  });

  function commitOne(command: Command): Promise<Commit> {
    return ledger.commit([command]);
  }
});

/** Answers a deadlock at the second write of every tenth order, once. */
function secondWriteOfEveryTenth(): (statement: string, connection: number) => number | "pass" {
  let orders = 0;
  const doomed = new Set<number>();
  return (statement, connection) => {
    if (statement.includes("insert into orders")) {
      orders += 1;
      if (orders % 10 === 0) doomed.add(connection);
      return "pass";
    }
    if (!statement.includes("insert into order_lines") || !doomed.delete(connection)) return "pass";
    return deadlock;
  };
}
