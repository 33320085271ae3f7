import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reservationId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { confirm, openSale, refund, reserve, skuA, wordsOf } from "../support/ledger-fixtures.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";
import { type Fate, type MysqlProxy, startMysqlProxy } from "../support/mysql-proxy.ts";

const servers = ledgerServers();
const cuts = ["cut-after", "cut-before"] as const;
const lines = { [skuA]: 2 };

describe.each(servers)("a connection that dies on $name", (server) => {
  let database: Database;
  let proxy: MysqlProxy;
  let ledger: Ledger;
  beforeEach(async () => {
    database = await createDatabase(server);
    const url = new URL(database.url);
    proxy = await startMysqlProxy(Number(url.port));
    url.port = String(proxy.port);
    ledger = await openMysqlLedger(url.href);
    await openSale(ledger, { items: { [skuA]: 10 } });
  });
  afterEach(async () => {
    await ledger.close();
    await proxy.close();
    await database.drop();
  });

  /** The next statement with this word meets its fate; all others pass. */
  function next(word: string, fate: Fate): void {
    let isDone = false;
    proxy.judge = (statement) => {
      if (isDone || !statement.includes(word)) return "pass";
      isDone = true;
      return fate;
    };
  }

  const steps = {
    "a reservation": { before: [], command: reserve("o1", { lines }), balances: [8, 2, 0] },
    "a payment": {
      before: [reserve("o1", { lines })],
      command: confirm("o1", "p1"),
      balances: [8, 0, 2],
    },
    "a refund": {
      before: [reserve("o1", { lines }), confirm("o1", "p1")],
      command: refund("o1", { id: "f1" }),
      balances: [10, 0, 0],
    },
  } as const;

  describe.each(cuts)("%s of COMMIT", (cut) => {
    it.each(Object.entries(steps))(
      "C28 leaves %s unknown, and done once when told again",
      async (_, { before, command, balances }) => {
        for (const each of before) await ledger.commit([each]);
        next("commit", cut);
        await expect(ledger.commit([command])).rejects.toMatchObject({ code: "LEDGER_UNKNOWN" });
        const found = wordsOf(await ledger.commit([command]));
        expect(found).toEqual([cut === "cut-after" ? "accepted again" : "accepted"]);
        const [available, reserved, sold] = balances;
        const level = await ledger.level(skuA);
        expect(level?.balances).toMatchObject({ available, reserved, sold });
        // The sale's stock, what was done before, and this: one movement each.
        expect(level?.version).toBe(2 + before.length);
        expect(await database.query("select order_id from orders")).toHaveLength(1);
        expect(await ledger.verify(null)).toMatchObject({ ok: true });
      },
    );
  });

  it.each(["start transaction", "insert into orders", "for update"])(
    "leaves nothing behind before COMMIT, and is not waited for: %s",
    async (word) => {
      next(word, "cut-after");
      const failed = ledger.commit([reserve("o1", { lines })]);
      await expect(failed).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
      expect(wordsOf(await ledger.commit([reserve("o1", { lines })]))).toEqual(["accepted"]);
      expect((await ledger.level(skuA))?.balances).toMatchObject({ available: 8, reserved: 2 });
      expect(await ledger.order(reservationId("o1"))).not.toBeNull();
    },
  );

  it("is followed by new ones when all have died at once", async () => {
    await Promise.all(Array.from({ length: 5 }, (_, n) => ledger.commit([reserve(`r${n}`)])));
    await database.query(await killAll(database));
    const again = Array.from({ length: 5 }, (_, n) => ledger.commit([reserve(`r${n}`)]));
    const told = await Promise.allSettled(again);
    for (const each of told) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ retryable: true });
    }
    const words = wordsOf(await ledger.commit([reserve("r0"), reserve("r4")]));
    expect(words).toEqual(["accepted again", "accepted again"]);
  });

  const answers = [
    [1290, "LEDGER_UNAVAILABLE", "read-only"],
    [1836, "LEDGER_UNAVAILABLE", "read-only by mode"],
    [1114, "LEDGER_UNAVAILABLE", "table full"],
    [1021, "LEDGER_UNAVAILABLE", "disk full"],
  ] as const;
  it.each(answers)(
    "refuses for a while what the server answers with %i (%s: %s)",
    async (errno, code) => {
      next("insert into orders", errno);
      await expect(ledger.commit([reserve("o1", { lines })])).rejects.toMatchObject({ code });
      expect((await ledger.level(skuA))?.balances).toMatchObject({ available: 10, reserved: 0 });
      expect(wordsOf(await ledger.commit([reserve("o1", { lines })]))).toEqual(["accepted"]);
    },
  );

  it.each([1213, 1205, 1020])("runs the whole transaction again after %i", async (errno) => {
    next("insert into inventory_log", errno);
    expect(wordsOf(await ledger.commit([reserve("o1", { lines })]))).toEqual(["accepted"]);
    expect((await ledger.level(skuA))?.balances).toMatchObject({ available: 8, reserved: 2 });
    expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: 2 });
  });

  it("gives up on a deadlock that never ends, and says that it may be tried again", async () => {
    let seen = 0;
    proxy.judge = (statement) => {
      if (!statement.includes("insert into orders")) return "pass";
      seen += 1;
      return 1213;
    };
    const failed = ledger.commit([reserve("o1", { lines })]);
    await expect(failed).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE", retryable: true });
    expect(seen).toBe(20);
  });
});

/** The server's own way to end every connection to a database but the one that asks. */
async function killAll({ query, name }: Database): Promise<string> {
  const rows = await query(
    `select id from information_schema.processlist where db = '${name}' and id <> connection_id()`,
  );
  return rows.map(({ id }) => `kill ${id}`).join("; ");
}
