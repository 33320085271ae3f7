import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { InvariantError } from "../../src/domain/invariant.ts";
import { epoch, operationId, reservationId, skuId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { ledgerAdapters } from "../support/ledger-adapters.ts";
import {
  cancel,
  confirm,
  createSale,
  expire,
  give,
  moveSale,
  nextEpoch,
  openSale,
  refund,
  reserve,
  revive,
  saleA,
  skuA,
  skuB,
  take,
  wordsOf,
} from "../support/ledger-fixtures.ts";

/** What every ledger promises to those who write to it. */
describe.each(ledgerAdapters)("ledger: $name", ({ open }) => {
  const clock = new ManualClock();
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await open(clock);
  });
  afterEach(() => ledger.close());

  describe("once per id", () => {
    it("answers a ticket told again, in the same commit and later, and moves nothing", async () => {
      await openSale(ledger);
      const twice = await ledger.commit([reserve("r1"), reserve("r1")]);
      expect(wordsOf(twice)).toEqual(["accepted", "accepted again"]);
      const later = await ledger.commit([reserve("r1")]);
      expect(wordsOf(later)).toEqual(["accepted again"]);
      expect(later.entries).toEqual([]);
      expect(later.settled).toMatchObject([{ id: "r1", answer: { state: "reserved" } }]);
      expect(await ledger.level(skuA)).toMatchObject({
        balances: { available: 99, reserved: 1 },
      });
    });

    it("answers one that was decided among others that are new", async () => {
      await openSale(ledger);
      await ledger.commit([reserve("r2")]);
      const mixed = await ledger.commit([reserve("r1"), reserve("r2"), reserve("r3")]);
      expect(wordsOf(mixed)).toEqual(["accepted", "accepted again", "accepted"]);
      expect(mixed.entries.map(({ version }) => version)).toEqual([3, 4]);
      expect(await ledger.level(skuA)).toMatchObject({ balances: { reserved: 3 } });
    });

    it("lets the first decision stand when the id comes with other content", async () => {
      await openSale(ledger);
      await ledger.commit([reserve("r1", { lines: { [skuA]: 2 } })]);
      const other = await ledger.commit([reserve("r1", { lines: { [skuB]: 5 } })]);
      expect(wordsOf(other)).toEqual(["accepted again"]);
      expect(await ledger.level(skuB)).toMatchObject({ balances: { reserved: 0 } });
    });

    it("decides all again, harmlessly, when the answer of a commit was unknown", async () => {
      await openSale(ledger);
      const commands = [
        reserve("r1"),
        reserve("r2", { lines: { [skuA]: 1000 } }),
        take("freeze", skuA, { id: "f1", quantity: 5 }),
        give("restock", skuA, { id: "g1", quantity: 7 }),
        confirm("r1", "p1"),
        refund("r1", { id: "b1" }),
      ];
      const first = await ledger.commit(commands);
      expect(wordsOf(first)).toEqual([
        "accepted",
        "SOLD_OUT",
        "accepted",
        "accepted",
        "accepted",
        "accepted",
      ]);
      const level = await ledger.level(skuA);
      const again = await ledger.commit(commands);
      expect(wordsOf(again)).toEqual([
        "accepted again",
        "SOLD_OUT again",
        "accepted again",
        "accepted again",
        "accepted again",
        "accepted again",
      ]);
      expect(again.entries).toEqual([]);
      expect(await ledger.level(skuA)).toEqual(level);
    });

    it("decides one ticket once when it is committed from two sides at the same time", async () => {
      await openSale(ledger);
      const commits = await Promise.all([
        ledger.commit([reserve("r1")]),
        ledger.commit([reserve("r1")]),
      ]);
      expect(commits.map(wordsOf)).toEqual([["accepted"], ["accepted again"]]);
    });
  });

  describe("all or nothing", () => {
    it("leaves nothing of a batch in which something cannot be", async () => {
      await openSale(ledger);
      const before = await ledger.counts();
      const unknownLane = { kind: "barrier", lane: 99, epoch: epoch(1) } as const;
      await expect(ledger.commit([reserve("r1"), unknownLane])).rejects.toThrow(InvariantError);
      expect(await ledger.counts()).toEqual(before);
      expect(await ledger.order(reservationId("r1"))).toBeNull();
      expect(wordsOf(await ledger.commit([reserve("r1")]))).toEqual(["accepted"]);
    });

    it("rejects a cart as a whole, with an entry for each of its SKUs", async () => {
      await openSale(ledger, { items: { [skuA]: 5, [skuB]: 0 } });
      const lines = { [skuA]: 1, [skuB]: 1 };
      const commit = await ledger.commit([reserve("r1", { lines })]);
      expect(wordsOf(commit)).toEqual(["SOLD_OUT"]);
      expect(commit.entries.map(({ sku, availableDelta }) => [sku, availableDelta])).toEqual([
        [skuA, 0],
        [skuB, 0],
      ]);
      expect(await ledger.level(skuA)).toMatchObject({ balances: { available: 5 } });
    });
  });

  describe("stock", () => {
    it("sells the last unit once, however many want it", async () => {
      await openSale(ledger, { items: { [skuA]: 1 } });
      const commits = await Promise.all(
        Array.from({ length: 50 }, (_, n) => ledger.commit([reserve(`r${n}`)])),
      );
      const words = commits.flatMap(wordsOf);
      expect(words.filter((word) => word === "accepted")).toHaveLength(1);
      expect(words.filter((word) => word === "SOLD_OUT")).toHaveLength(49);
      expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: 51 });
    });

    it("keeps every unit in exactly one bucket through a whole life", async () => {
      await openSale(ledger, { holdMs: 1000 });
      await ledger.commit(["a", "b", "c", "d"].map((id) => reserve(id, { lines: { [skuA]: 3 } })));
      await ledger.commit([confirm("a", "p"), confirm("b", "p"), cancel("c")]);
      await ledger.commit([refund("a", { id: "x", lines: { [skuA]: 2 }, restock: false })]);
      await ledger.commit([refund("b", { id: "x" })]);
      await ledger.commit([take("freeze", skuA, { id: "f", quantity: 10 })]);
      await ledger.commit([give("unfreeze", skuA, { id: "u", quantity: 4 })]);
      await ledger.commit([take("withdraw", skuA, { id: "w", quantity: 20 })]);
      clock.advance(1000);
      expect(wordsOf(await ledger.commit([expire("d")]))).toEqual(["accepted"]);
      expect(wordsOf(await ledger.commit([confirm("d", "late")]))).toEqual(["late"]);
      await ledger.commit([revive("d", "late", { lines: { [skuA]: 3 } })]);
      const level = await ledger.level(skuA);
      expect(level?.balances).toEqual({
        available: 68,
        reserved: 0,
        sold: 4,
        frozen: 6,
        lost: 2,
      });
      expect(await ledger.verify(null)).toMatchObject({ ok: true, firstBroken: null });
      expect(await ledger.bucketDamage([skuA, skuB])).toEqual([]);
    });

    it("decides hundreds of orders in one commit, and keeps each with its own lines", async () => {
      await openSale(ledger, { items: { [skuA]: 500, [skuB]: 500 } });
      const ids = Array.from({ length: 333 }, (_, n) => `r${n}`);
      const lines = (n: number) => (n % 2 === 0 ? { [skuA]: 1 } : { [skuA]: 1, [skuB]: 2 });
      const commit = await ledger.commit(ids.map((id, n) => reserve(id, { lines: lines(n) })));
      expect(new Set(wordsOf(commit))).toEqual(new Set(["accepted"]));
      for (const n of [0, 15, 16, 331, 332]) {
        const view = await ledger.order(reservationId(`r${n}`));
        const found = view?.order.lines.map(({ sku, quantity }) => [sku, quantity]);
        expect(found).toEqual(Object.entries(lines(n)));
      }
      expect(await ledger.verify(null)).toMatchObject({ ok: true, entries: 2 + 333 + 166 });
    });

    it("decides once more about orders that the same commit has made", async () => {
      await openSale(ledger);
      const made = ["r1", "r2", "r3", "r4", "r5"].map((id) => reserve(id));
      const commit = await ledger.commit([
        ...made,
        ...[cancel("r1"), confirm("r2", "p2"), cancel("r5"), reserve("r6")],
        ...[confirm("r4", "p4"), refund("r4", { id: "f4" })],
      ]);
      expect(new Set(wordsOf(commit))).toEqual(new Set(["accepted"]));
      const states: unknown[] = [];
      for (const n of [1, 2, 3, 4, 5, 6]) {
        states.push((await ledger.order(reservationId(`r${n}`)))?.order.state);
      }
      expect(states).toEqual([
        "cancelled",
        "confirmed",
        "reserved",
        "refunded",
        "cancelled",
        "reserved",
      ]);
      expect(await ledger.level(skuA)).toMatchObject({ balances: { reserved: 2, sold: 1 } });
      expect(await ledger.verify(null)).toMatchObject({ ok: true, firstBroken: null });
      expect(await ledger.bucketDamage([skuA])).toEqual([]);
    });

    it("holds levels up to 2^53−1 exactly, and refuses a unit more", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      await openSale(ledger, { items: { [skuA]: most - 1 } });
      const one = await ledger.commit([
        give("restock", skuA, { id: "g1", quantity: 1 }),
        give("restock", skuA, { id: "g2", quantity: 1 }),
      ]);
      expect(wordsOf(one)).toEqual(["accepted", "NOT_ENOUGH"]);
      expect(await ledger.level(skuA)).toMatchObject({ balances: { available: most } });
      expect(await ledger.verify(skuA)).toMatchObject({ ok: true });
    });

    it("holds a buyer's limit in one commit, over commits, and frees it by a cancel", async () => {
      await openSale(ledger, { limit: 2 });
      const mine = { buyer: "u1" };
      const first = await ledger.commit([
        reserve("r1", mine),
        reserve("r2", mine),
        reserve("r3", mine),
        reserve("r4", { buyer: "U1" }),
      ]);
      expect(wordsOf(first)).toEqual(["accepted", "accepted", "LIMIT_EXCEEDED", "accepted"]);
      const more = await ledger.commit([reserve("r5", mine), cancel("r1")]);
      expect(wordsOf(more)).toEqual(["LIMIT_EXCEEDED", "accepted"]);
      expect(wordsOf(await ledger.commit([reserve("r6", mine)]))).toEqual(["accepted"]);
    });
  });

  describe("the chain", () => {
    it("gives each SKU versions without gaps, each on the hash of the one before", async () => {
      await openSale(ledger);
      const lines = { [skuA]: 1, [skuB]: 2 };
      await ledger.commit([reserve("r1", { lines }), reserve("r2"), reserve("r3", { lines })]);
      await ledger.commit([cancel("r1"), confirm("r2", "p")]);
      for (const sku of [skuA, skuB]) {
        const query = { after: 0, limit: 100, from: null, to: null };
        const entries = await ledger.entries(sku, query);
        expect(entries.map(({ version }) => version)).toEqual(entries.map((_, n) => n + 1));
        expect(entries.slice(1).map(({ previousHash }) => previousHash)).toEqual(
          entries.slice(0, -1).map(({ hash }) => hash),
        );
        expect(await ledger.level(sku)).toMatchObject({
          version: entries.length,
          hash: entries.at(-1)?.hash,
          balances: entries.at(-1)?.after,
        });
      }
    });

    it("never changes an entry, whatever happens to its order", async () => {
      await openSale(ledger);
      await ledger.commit([reserve("r1")]);
      const query = { after: 0, limit: 2, from: null, to: null };
      const before = await ledger.entries(skuA, query);
      await ledger.commit([confirm("r1", "p")]);
      await ledger.commit([refund("r1", { id: "b" })]);
      expect(await ledger.entries(skuA, query)).toEqual(before);
    });

    it("tells hot stock the same entries when it commits and when it catches up", async () => {
      await openSale(ledger);
      const lines = { [skuA]: 1, [skuB]: 2 };
      const commits = [
        await ledger.commit([reserve("r1", { lines }), reserve("r2", { lines: { [skuA]: 999 } })]),
        await ledger.commit([confirm("r1", "p"), take("freeze", skuA, { id: "f", quantity: 1 })]),
      ];
      const told = commits.flatMap(({ entries }) => entries.filter(({ sku }) => sku === skuA));
      expect(await ledger.entriesAfter(skuA, 1, 100)).toEqual(told);
      expect(await ledger.entriesAfter(skuA, 1, 2)).toEqual(told.slice(0, 2));
    });
  });

  describe("epochs", () => {
    it("counts the epochs of a lane, each for the hot stock it was given out for", async () => {
      expect(await nextEpoch(ledger, { lane: 7, epoch: epoch(0) }, "one")).toBe(1);
      expect(await nextEpoch(ledger, { lane: 7, epoch: epoch(1) }, "two")).toBe(2);
      const lanes = await ledger.lanes();
      expect(lanes.find(({ lane }) => lane === 7)).toEqual({
        lane: 7,
        epoch: 2,
        met: 0,
        incarnation: "two",
        ...{ doubt: null, repairs: 0 },
      });
    });

    it("gives the next epoch to one of two who saw the same", async () => {
      const seen = { lane: 7, epoch: epoch(0) };
      expect(await nextEpoch(ledger, seen, "one")).toBe(1);
      expect(await nextEpoch(ledger, seen, "two")).toBeNull();
      const lanes = await ledger.lanes();
      expect(lanes.find(({ lane }) => lane === 7)).toMatchObject({ epoch: 1, incarnation: "one" });
    });

    it("decides nothing on a ticket that a barrier has overtaken", async () => {
      await openSale(ledger);
      const next = epoch(2);
      expect(await nextEpoch(ledger, { lane: 0, epoch: epoch(1) }, "second")).toBe(next);
      const late = await ledger.commit([
        { kind: "barrier", lane: 0, epoch: next },
        reserve("r1", { epoch: 1 }),
        reserve("r2", { epoch: next }),
      ]);
      expect(wordsOf(late)).toEqual(["accepted", "stale", "accepted"]);
      expect(await ledger.order(reservationId("r1"))).toBeNull();
      expect(await ledger.lanes()).toMatchObject([{ lane: 0, epoch: next, met: next }]);
    });
  });

  describe("ids", () => {
    it("compares them byte by byte", async () => {
      await openSale(ledger, { items: { abc: 1, ABC: 1, "a.c": 1, abC: 1 } });
      await ledger.commit([
        reserve("Order", { lines: { abc: 1 } }),
        reserve("order", { lines: { ABC: 1 } }),
      ]);
      expect(await ledger.order(reservationId("ORDER"))).toBeNull();
      expect(await ledger.level(skuId("abC"))).toMatchObject({ balances: { available: 1 } });
      const page = await ledger.levelPage("ABC", 2);
      expect(page.map(({ sku }) => sku)).toEqual(["a.c", "abC"]);
    });

    it("keeps numbers above 2^53 apart, because they are text", async () => {
      await openSale(ledger);
      const [one, other] = ["9007199254740992", "9007199254740993"];
      await ledger.commit([reserve(one), reserve(other)]);
      await ledger.commit([confirm(other, "9007199254740993")]);
      expect((await ledger.order(reservationId(one)))?.order.state).toBe("reserved");
      expect((await ledger.order(reservationId(other)))?.order).toMatchObject({
        state: "confirmed",
        paymentId: "9007199254740993",
      });
    });

    it("creates a sale once, and refuses the same id with other content", async () => {
      const words = wordsOf(
        await ledger.commit([
          createSale(),
          createSale(),
          createSale({ fingerprint: "other" }),
          createSale({ id: "sale-b" }),
        ]),
      );
      expect(words).toEqual(["accepted", "accepted again", "KEY_REUSED", "SKU_IN_SALE"]);
      const closed = await ledger.commit([moveSale(saleA, "closed"), createSale({ id: "sale-b" })]);
      expect(wordsOf(closed)).toEqual(["accepted", "accepted"]);
      expect(await ledger.level(skuA)).toMatchObject({
        saleId: "sale-b",
        balances: { available: 200 },
      });
      expect(await ledger.operation("sku:sku-a", operationId("none"))).toBeNull();
    });
  });
});
