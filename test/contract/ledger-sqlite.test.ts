import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { InvariantError } from "../../src/domain/invariant.ts";
import { reservationId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import {
  confirm,
  leaseOf,
  openSale,
  reserve,
  skuA,
  skuB,
  wordsOf,
} from "../support/ledger-fixtures.ts";
import { useEverything } from "../support/use-everything.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const clock = new ManualClock();
const pause = async () => {};

describe("a ledger in a SQLite file", () => {
  let path: string;
  let ledger: Ledger;
  beforeEach(async () => {
    path = join(folder, `${++files}.db`);
    ledger = await openSqliteLedger(path, { clock });
  });
  afterEach(() => ledger.close());

  /** Somebody edits the file by hand. */
  function edit(sql: string): void {
    const database = new Sqlite(path);
    database.pragma("foreign_keys = off");
    database.exec(sql);
    database.close();
  }

  const edits = {
    "a quantity": ["update inventory_log set quantity = 2 where version = 3", 3],
    "an actor": ["update inventory_log set actor = 'nobody' where version = 2", 2],
    "the order of an entry": ["update inventory_log set order_no = 0 where version = 2", 2],
    "a bucket's name": ["update inventory_log set to_bucket = 'lost' where version = 4", 4],
    "an entry in the middle": ["delete from inventory_log where version = 3", 3],
    "the last entry": ["delete from inventory_log where version = 5", 5],
    "the row's buckets": ["update inventory set sold = sold + 1, reserved = reserved - 1", 5],
    "the row's version": ["update inventory set version = 4", 4],
    "an order's state": ["update orders set state = 'confirmed' where order_id = 'r1'", 5],
  } as const;

  it.each(Object.entries(edits))(
    "proves that somebody has edited %s",
    async (_, [sql, version]) => {
      await openSale(ledger, { items: { [skuA]: 100 } });
      await ledger.commit([reserve("r1"), reserve("r2"), reserve("r3"), confirm("r2", "p")]);
      expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: 5 });
      edit(sql);
      const { ok, firstBroken } = await ledger.verify(null);
      expect(ok).toBe(false);
      expect(firstBroken).toMatchObject({ sku: skuA, version });
      expect((await ledger.verify(skuA)).firstBroken).toEqual(firstBroken);
    },
  );

  it("names the order and the units of a movement that was deleted by hand", async () => {
    await openSale(ledger);
    const lines = { [skuA]: 2 };
    await ledger.commit([reserve("r1", { lines }), reserve("r2", { lines })]);
    edit("delete from inventory_log where operation_type = 'reserve' and version = 2");
    const damage = { sku: skuA, what: "reserved", expected: 2, found: 0, reservationId: "r1" };
    expect(await ledger.bucketDamage([skuA, skuB])).toEqual([damage]);
  });

  it("chains no entry to a row that was edited, and decides the others", async () => {
    await openSale(ledger);
    await ledger.commit([reserve("r1")]);
    edit("update inventory set available = 98, reserved = 2 where sku_id = 'sku-a'");
    const commit = await ledger.commit([
      reserve("r1"),
      reserve("r2"),
      confirm("r1", "p"),
      reserve("r3", { lines: { [skuB]: 1 } }),
    ]);
    expect(wordsOf(commit)).toEqual(["accepted again", "broken", "broken", "accepted"]);
    expect(commit.results[1]).toEqual({
      status: "broken",
      sku: skuA,
      reason: "available is 98, after entry 2 it was 99",
    });
    expect(await ledger.order(reservationId("r2"))).toBeNull();
  });

  it("shows the log with string ids and its publication", async () => {
    await openSale(ledger, { items: { [skuA]: 5 } });
    await ledger.commit([reserve("r1")]);
    await ledger.published([{ sku: skuA, version: 1 }], await leaseOf(ledger, "publisher"));
    const database = new Sqlite(path, { readonly: true });
    const rows = database.prepare("select * from inventory_log_view order by version").all();
    database.close();
    expect(rows).toMatchObject([
      { sku_id: "sku-a", order_id: null, operation_type: "restock", status: "success" },
      { sku_id: "sku-a", order_id: "r1", operation_type: "reserve", status: "pending" },
    ]);
  });

  it("is read by a second one that cannot write", async () => {
    await openSale(ledger);
    const reader = await openSqliteLedger(path, { clock, readOnly: true });
    await ledger.commit([reserve("r1")]);
    expect(await reader.verify(null)).toMatchObject({ ok: true, entries: 3 });
    await expect(reader.commit([reserve("r2")])).rejects.toMatchObject({
      code: "LEDGER_UNAVAILABLE",
    });
    await reader.close();
  });

  it("belongs to its owner alone, because it holds secrets", () => {
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("keeps what it has said when it is opened again", async () => {
    await openSale(ledger);
    await ledger.commit([reserve("r1")]);
    const secret = await ledger.secret("messages");
    await ledger.close();
    await expect(ledger.commit([reserve("r2")])).rejects.toThrow(Fault);
    ledger = await openSqliteLedger(path, { clock });
    expect(await ledger.secret("messages")).toEqual(secret);
    expect(wordsOf(await ledger.commit([reserve("r1")]))).toEqual(["accepted again"]);
  });
});

describe.each([":memory:", "file"])("transactions of SQLite: %s", (kind) => {
  const path = () => (kind === "file" ? join(folder, `${++files}.db`) : kind);

  it("hide what is not committed, and leave nothing when they fail", async () => {
    const database = await openSqlite(path(), { readOnly: false, pause });
    await database.exclusively((session) => session.script("create table t (a integer)"));
    const count = async () => (await database.all("select count(*) as n from t", []))[0]?.["n"];
    const seen: unknown[] = [];
    const writing = database.transaction(async (session) => {
      await session.many("insert into t (a) values (?)", [[1], [2]]);
      reading = count().then((n) => seen.push(n));
      await Promise.resolve();
      throw new Error("on purpose");
    });
    let reading: Promise<unknown> = Promise.resolve();
    await expect(writing).rejects.toThrow("on purpose");
    await reading;
    expect([...seen, await count()]).toEqual([0, 0]);
    await database.close();
  });

  it("run one after the other, in the order in which they came", async () => {
    const database = await openSqlite(path(), { readOnly: false, pause });
    const steps: string[] = [];
    await Promise.all(
      ["a", "b", "c"].map((name) =>
        database.transaction(async () => {
          steps.push(`${name} begins`);
          await Promise.resolve();
          steps.push(`${name} ends`);
        }),
      ),
    );
    expect(steps).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    await database.close();
  });

  it("tell a broken constraint from a database that is away", async () => {
    const database = await openSqlite(path(), { readOnly: false, pause });
    await database.exclusively((session) => session.script("create table t (a integer unique)"));
    const insert = "insert into t (a) values (?)";
    const twice = database.transaction((session) => session.many(insert, [[1], [1]]));
    await expect(twice).rejects.toThrow(InvariantError);
    expect(await database.all("select a from t", [])).toEqual([]);
    const ended = await database.transaction(async (session) => session);
    await expect(ended.run(insert, [1])).rejects.toThrow(/after the end/);
    await database.close();
    await expect(database.all("select 1", [])).rejects.toMatchObject({
      code: "LEDGER_UNAVAILABLE",
    });
  });
});

describe("many rows in one statement", () => {
  const rows = Array.from({ length: 40 }, (_, n) => [n]);
  const tables = `
    create table t (a integer unique);
    create table child (a integer references t (a) deferrable initially deferred)`;

  it.each([
    ["a value that stands there twice", "insert into t (a) values (?)", [...rows, [17]]],
    ["a key whose row is missing", "insert into child (a) values (?)", rows],
  ])("are none of them written for %s, which is no outage", async (_, insert, values) => {
    const database = await openSqlite(join(folder, `${++files}.db`), { readOnly: false, pause });
    await database.exclusively((session) => session.script(tables));
    const writing = database.transaction((session) => session.many(insert, values));
    await expect(writing).rejects.toThrow(InvariantError);
    const found = await database.all("select a from t union all select a from child", []);
    expect(found).toEqual([]);
    await database.transaction((session) => session.many("insert into t (a) values (?)", rows));
    expect(await database.all("select a from t", [])).toHaveLength(40);
    await database.close();
  });
});

describe("the statements of SQLite", () => {
  it("never read a table from end to end, but for those that look for everything", async () => {
    const prepare = vi.spyOn(Sqlite.prototype, "prepare");
    const path = join(folder, `${++files}.db`);
    const ledger = await openSqliteLedger(path, { clock });
    await useEverything(ledger, clock);
    await ledger.close();
    const statements = new Set(prepare.mock.calls.map(([sql]) => sql));
    prepare.mockRestore();
    const database = new Sqlite(path);
    const scans = [...statements].flatMap((sql) => scansOf(database, sql));
    database.close();
    expect(statements.size).toBeGreaterThan(50);
    expect(scans.filter((scan) => !mayScan.some((known) => scan.includes(known)))).toEqual([]);
  });
});

/** Lists of values, small tables, small partial indexes, and reads whose answer is all rows. */
const mayScan = [
  ...["CONSTANT ROW", "ROW VALUES", "SCAN k:"],
  ...[
    "SCAN lanes:",

    "SCAN meta:",
    "SCAN migrations:",
    "SCAN sqlite_schema:",
    "SCAN inventory:",
  ],
  ...["SCAN dead_letters:", "SCAN sales:", "SCAN s USING COVERING INDEX"],
  ...["INDEX orders_due:", "INDEX inventory_unpublished:"],
];

function scansOf(database: Sqlite.Database, sql: string): string[] {
  const marks = sql.split("?").length - 1;
  const plan = database
    .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
    .all(new Array(marks).fill(1));
  const scans = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith("SCAN"));
  return scans.map((detail) => `${detail}: ${sql.replaceAll(/\s+/g, " ").trim()}`);
}
