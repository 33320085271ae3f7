import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { genesisHash } from "../../src/domain/entry.ts";
import { noUnits } from "../../src/domain/stock.ts";
import { epoch, operationId, reservationId, saleId, skuId } from "../../src/domain/values.ts";
import type { Ledger, NewDeadLetter } from "../../src/ledger/ledger.ts";
import { ledgerAdapters } from "../support/ledger-adapters.ts";
import {
  cancel,
  confirm,
  createSale,
  expire,
  give,
  leaseOf,
  moveSale,
  openSale,
  refund,
  reserve,
  reserveTicket,
  revive,
  saleA,
  skuA,
  skuB,
  take,
  ticketCommand,
} from "../support/ledger-fixtures.ts";

const everything = { after: 0, limit: 1000, from: null, to: null };

/** What every ledger promises to those who read it. */
describe.each(ledgerAdapters)("reads of the ledger: $name", ({ open }) => {
  let clock = new ManualClock();
  let ledger: Ledger;
  beforeEach(async () => {
    clock = new ManualClock();
    ledger = await open(clock);
  });
  afterEach(() => ledger.close());

  describe("a snapshot", () => {
    it("has what hot stock must know: levels, policies, buyers' units, answers", async () => {
      await openSale(ledger, { limit: 9 });
      const mine = { buyer: "u1", lines: { [skuA]: 2, [skuB]: 1 } };
      await ledger.commit([
        reserve("held", mine),
        reserve("paid", mine),
        reserve("over", { lines: { [skuA]: 999 } }),
        reserve("gone", { buyer: "u2" }),
      ]);
      await ledger.commit([confirm("paid", "p"), cancel("gone")]);
      await ledger.commit([refund("paid", { id: "b", lines: { [skuA]: 1 } })]);
      const snapshot = await ledger.snapshot(0, []);
      expect(snapshot.levels).toMatchObject([
        { sku: skuA, available: 97, saleId: saleA, stopped: false },
        { sku: skuB, available: 98 },
      ]);
      expect(snapshot.policies).toMatchObject([
        { saleId: saleA, state: "open", limitPerBuyer: 9, skus: [skuA, skuB] },
      ]);
      expect(sorted(snapshot.buyers.map((each) => `${each.buyerId} ${each.sku} ${each.units}`)))
        // The buyer of `gone` holds nothing, and neither does the one who was refused.
        .toEqual(["u1 sku-a 3", "u1 sku-b 2"]);
      expect(sorted(snapshot.answers.map(({ id, state }) => `${id} ${state}`))).toEqual([
        "gone reserved",
        "held reserved",
        "over rejected",
        "paid reserved",
      ]);
    });

    it("forgets a sale that is closed and holds nothing, not one that still holds", async () => {
      await openSale(ledger, { items: { [skuA]: 5 } });
      await ledger.commit([reserve("r1"), moveSale(saleA, "closed")]);
      expect((await ledger.snapshot(0, [])).answers).toHaveLength(1);
      expect(await ledger.endedSales([saleA, saleId("none")])).toEqual([]);
      await ledger.commit([cancel("r1")]);
      expect(await ledger.snapshot(0, [])).toMatchObject({
        answers: [],
        policies: [],
        buyers: [],
      });
      expect(await ledger.endedSales([saleA, saleId("none")])).toEqual([saleA]);
    });

    it("keeps the answer under an id whose ticket was never seen, in its lane", async () => {
      await openSale(ledger);
      const stamp = { lane: 0, epoch: epoch(1) };
      const unseen = { kind: "void", stamp, ticket: null, reason: "lost" } as const;
      await ledger.commit([
        { ...unseen, id: "0.lost" },
        { ...unseen, id: "1.other" },
      ]);
      expect((await ledger.snapshot(0, [])).answers).toEqual([
        { id: "0.lost", state: "void", fingerprint: null, saleId: null, skus: [] },
      ]);
    });

    it("knows which held tickets are decided, of every kind", async () => {
      await openSale(ledger, { holdMs: 1000 });
      await ledger.commit([reserve("r1"), take("freeze", skuA, { id: "f1", quantity: 1 })]);
      clock.advance(1000);
      await ledger.commit([expire("r1")]);
      await ledger.commit([revive("r1", "p1")]);
      const held = ["r1", "r2", "take:sku-a:f1", "take:sku-a:f2", "revive:r1:p1", "revive:r2:p1"];
      const { decided } = await ledger.snapshot(0, held);
      expect(sorted([...decided])).toEqual(["r1", "revive:r1:p1", "take:sku-a:f1"]);
      const settled = await ledger.settled(0, held);
      expect(settled.map(({ id, versions }) => [id, versions.get(skuA)])).toEqual([
        ["r1", 2],
        ["take:sku-a:f1", 3],
        ["revive:r1:p1", 5],
      ]);
    });
  });

  describe("stock as of then", () => {
    it("is read at any version, and at none that there is not", async () => {
      await openSale(ledger);
      await ledger.commit([reserve("r1", { lines: { [skuA]: 3 } })]);
      const points = [0, 1, 2, 3].map((version) => ({ sku: skuA, version }));
      const [zero, one, two, three] = await ledger.balancesAt(points);
      expect(zero).toEqual({ sku: skuA, version: 0, balances: noUnits, hash: genesisHash });
      expect(one?.balances).toMatchObject({ available: 100, reserved: 0 });
      expect(two?.balances).toMatchObject({ available: 97, reserved: 3 });
      expect(two?.hash).toBe((await ledger.level(skuA))?.hash);
      expect(three).toBeNull();
      expect(await ledger.balancesAt([{ sku: skuId("none"), version: 1 }])).toEqual([null]);
    });

    it("is read at any time", async () => {
      const start = clock.now();
      await openSale(ledger);
      for (const id of ["r1", "r2", "r3"]) {
        clock.advance(10);
        await ledger.commit([reserve(id)]);
      }
      const at = (ms: number) => ledger.versionAt(skuA, start + ms);
      const versions = [await at(-1), await at(0), await at(19), await at(20), await at(999)];
      expect(versions).toEqual([0, 1, 2, 3, 4]);
      const window = { ...everything, from: start + 10, to: start + 20 };
      const entries = await ledger.entries(skuA, window);
      expect(entries.map(({ version, buyerId }) => [version, buyerId])).toEqual([
        [2, "buyer-of-r1"],
        [3, "buyer-of-r2"],
      ]);
    });
  });

  describe("publication", () => {
    const lease = () => leaseOf(ledger, "publisher");

    it("counts everything as told when nobody subscribes", async () => {
      await openSale(ledger, { items: { [skuA]: 9, [skuB]: 9 } });
      await ledger.commit([reserve("r1"), reserve("r2")]);
      await ledger.publishedAll(await lease());
      expect(await ledger.unpublished(4)).toEqual([]);
      await ledger.commit([reserve("r3")]);
      expect((await ledger.unpublished(4)).map(({ version }) => version)).toEqual([4]);
    });

    it("goes from pending to success in order, and never back", async () => {
      await openSale(ledger, { items: { [skuA]: 9, [skuB]: 9 } });
      await ledger.commit([reserve("r1"), reserve("r2"), reserve("r3")]);
      const pending = await ledger.unpublished(4);
      const names = sorted(pending.map(({ sku, version }) => `${sku} ${version}`));
      expect(names).toEqual(["sku-a 1", "sku-a 2", "sku-b 1"]);
      await ledger.published([{ sku: skuA, version: 3 }], await lease());
      await ledger.published([{ sku: skuA, version: 2 }], await lease());
      const entries = await ledger.entries(skuA, everything);
      expect(entries.map(({ publication }) => publication)).toEqual([
        "success",
        "success",
        "success",
        "pending",
      ]);
      const { at } = entries[3] ?? {};
      expect(await ledger.counts()).toMatchObject({ unpublished: 2, unpublishedSince: at });
      const marks = [
        { sku: skuA, version: 99 },
        { sku: skuB, version: 1 },
      ];
      await ledger.published(marks, await lease());
      expect((await ledger.unpublished(10)).map(({ sku }) => sku)).toEqual([skuA]);
    });
  });

  describe("dead letters", () => {
    const letter: NewDeadLetter = {
      lane: 0,
      reason: "signature",
      body: Buffer.from([0, 255, 10]),
      kind: null,
      itemId: "m1",
      sku: null,
      tries: 3,
    };

    it("are kept as they came, and settled by one person only", async () => {
      const id = await ledger.addDeadLetter(letter);
      const other = await ledger.addDeadLetter({ ...letter, itemId: "m2", reason: "content" });
      expect(other).toBeGreaterThan(id);
      expect(await ledger.deadLetter(id)).toMatchObject({ ...letter, id, state: "open" });
      const settlement = { state: "discarded", actor: "ann", reason: "forged" } as const;
      const settled = await Promise.all([
        ledger.settleDeadLetter(id, settlement),
        ledger.settleDeadLetter(id, { ...settlement, state: "replayed", actor: "bob" }),
      ]);
      expect(settled).toEqual([true, false]);
      expect(await ledger.deadLetter(id)).toMatchObject({ state: "discarded", settledBy: "ann" });
      expect(await ledger.deadLetter(999)).toBeNull();
      const none = { state: null, lane: null, reason: null, itemId: null, after: 0, limit: 10 };
      const ids = async (filter: object) =>
        (await ledger.deadLetters({ ...none, ...filter })).map((each) => each.id);
      expect(await ids({})).toEqual([id, other]);
      expect(await ids({ state: "open" })).toEqual([other]);
      expect(await ids({ reason: "signature" })).toEqual([id]);
      expect(await ids({ after: id, itemId: "m2" })).toEqual([other]);
      expect((await ledger.counts()).deadLetters).toBe(1);
    });
  });

  describe("the rest", () => {
    it("audits what operators do, newest first, by any filter", async () => {
      await openSale(ledger);
      clock.advance(5);
      const record = { reason: "why", before: { a: 1 }, after: null };
      await ledger.audit({ actor: "ann", action: "lane.rebuild", subject: "lane:0", ...record });
      const all = { actor: null, action: null, subject: null, from: null, to: null };
      const page = { before: null, limit: 10 };
      const found = await ledger.auditLog({ ...all, ...page, actor: "ann" });
      expect(found).toMatchObject([{ action: "lane.rebuild", at: clock.now(), before: { a: 1 } }]);
      const actions = (await ledger.auditLog({ ...all, ...page })).map(({ action }) => action);
      expect(actions).toEqual(["lane.rebuild", "sale.open", "sale.create"]);
      const older = await ledger.auditLog({ ...all, limit: 10, before: found[0]?.id ?? 0 });
      expect(older.map(({ action }) => action)).toEqual(["sale.open", "sale.create"]);
      expect(await ledger.auditLog({ ...all, ...page, to: clock.now() - 1 })).toHaveLength(2);
    });

    it("finds every kind of id, exactly", async () => {
      await openSale(ledger);
      await ledger.commit([reserve("r1", { buyer: "u1" }), reserve("r2", { buyer: "u1" })]);
      await ledger.commit([confirm("r1", "p1"), take("freeze", skuA, { id: "f1", quantity: 1 })]);
      const found = async (text: string) =>
        (await ledger.search(text, 10)).map((hit) => `${hit.matched} ${hit.id}`);
      expect(await found(" r1 ")).toEqual(["reservationId r1"]);
      expect(sorted(await found("u1"))).toEqual(["buyerId r1", "buyerId r2"]);
      expect(await found("key-of-r2")).toEqual(["idempotencyKey r2"]);
      expect(await found("p1")).toEqual(["paymentId r1"]);
      expect(await found("sku-a")).toEqual(["sku sku-a"]);
      expect(await found("sale-a")).toEqual(["saleId sale-a"]);
      expect(await found("f1")).toEqual(["operationId sku:sku-a"]);
      expect(await found("U1")).toEqual([]);
      expect(await found("no such thing")).toEqual([]);
    });

    it("knows by which call an order came and by which ones it was changed", async () => {
      await openSale(ledger);
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
      const call = (requestId: string) => ({ origin: { requestId, traceId } });
      await ledger.commit([
        ticketCommand({ ...reserveTicket("r1", { lines: { [skuA]: 2 } }), ...call("req-1") }),
        { ...confirm("r1", "p1"), ...call("req-2") },
        reserve("r2"),
      ]);
      await ledger.commit([
        { ...refund("r1", { id: "b", lines: { [skuA]: 1 } }), ...call("req-3") },
        { ...give("restock", skuB, { id: "g1", quantity: 3 }), ...call("req-4") },
        { ...cancel("r2"), origin: { requestId: "req-5", traceId: null } },
      ]);
      // Told again, and refused: nothing is changed by these.
      await ledger.commit([
        { ...confirm("r1", "p1"), ...call("req-6") },
        { ...cancel("r1"), ...call("req-7") },
      ]);
      expect((await ledger.order(reservationId("r1")))?.order).toMatchObject(call("req-1"));
      expect((await ledger.order(reservationId("r2")))?.order).not.toHaveProperty("origin");
      const at = clock.now();
      const changed = { scope: "order:r1", at };
      expect(await ledger.requests("order:r1")).toEqual([
        { ...changed, ...call("req-2"), operation: "confirm", operationId: "p1" },
        { ...changed, ...call("req-3"), operation: "refund", operationId: "b" },
      ]);
      const found = async (text: string) =>
        (await ledger.search(text, 10)).map((hit) => `${hit.matched} ${hit.type} ${hit.id}`);
      expect(await found("req-1")).toEqual(["requestId reservation r1"]);
      expect(await found("req-2")).toEqual(["requestId reservation r1"]);
      expect(await found("req-4")).toEqual(["requestId sku sku-b"]);
      expect(await found("req-5")).toEqual(["requestId reservation r2"]);
      for (const nothing of ["req-6", "req-7", "REQ-1"]) expect(await found(nothing)).toEqual([]);
      expect(sorted(await found(traceId))).toEqual([
        "traceId reservation r1",
        "traceId reservation r1",
        "traceId reservation r1",
        "traceId sku sku-b",
      ]);
    });

    it("lists sales newest first, and by state", async () => {
      for (const id of ["s1", "s2", "s3"]) {
        await ledger.commit([createSale({ id, items: { [`sku-${id}`]: 1 } })]);
      }
      await ledger.commit([moveSale("s2", "open")]);
      const first = await ledger.sales({ after: null, limit: 2 });
      expect(first.map((sale) => sale.saleId)).toEqual(["s3", "s2"]);
      const rest = await ledger.sales({ after: "s2", limit: 2 });
      expect(rest.map((sale) => sale.saleId)).toEqual(["s1"]);
      const drafts = await ledger.salesIn(["draft"]);
      expect(drafts.map((sale) => sale.saleId)).toEqual(["s1", "s3"]);
      expect(await ledger.sale(saleId("s2"))).toMatchObject({
        state: "open",
        revision: 2,
        skus: ["sku-s2"],
        stocked: new Map([["sku-s2", 1]]),
      });
      expect(await ledger.sale(saleId("s4"))).toBeNull();
    });

    it("remembers an operation's decision with its versions and content", async () => {
      await openSale(ledger);
      await ledger.commit([give("restock", skuA, { id: "g1", quantity: 5 })]);
      expect(await ledger.operation("sku:sku-a", operationId("g1"))).toMatchObject({
        operation: "restock",
        code: null,
        versions: new Map([[skuA, 2]]),
        actor: "operator",
      });
    });

    it("keeps its secrets", async () => {
      const secret = await ledger.secret("reservation-ids");
      expect(secret).toHaveLength(32);
      expect(await ledger.secret("reservation-ids")).toEqual(secret);
      expect(await ledger.secret("messages")).not.toEqual(secret);
    });
  });
});

function sorted(words: readonly string[]): readonly string[] {
  return [...words].sort();
}
