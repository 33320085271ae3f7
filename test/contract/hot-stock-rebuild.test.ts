import { beforeEach, describe, expect, it } from "vitest";
import { epoch, skuId } from "../../src/domain/values.ts";
import { commands } from "../support/commands.ts";
import { HotLine, openValue } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { reserveTicket, reviveTicket, takeTicket } from "../support/tickets.ts";

const voidOf = (id: string) => ({ kind: "void", id, ticket: null, reason: "lost" }) as const;

/** What every hot stock promises to a rebuild behind a barrier. */
describe.each(hotStockAdapters)("hot stock $name: rebuild", ({ open }) => {
  let subject: HotSubject;
  beforeEach(async () => {
    subject = await open();
    return () => subject.hot.close();
  });

  describe("a lane that waits for its barrier", () => {
    it("is closed to all but who drains it and who loads it", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1"));
      await line.begin();
      const { hot, fence } = line;
      const closed = { closed: true, why: "rebuilding" };
      const replies = await Promise.all([
        hot.admit(fence, [reserveTicket("r2")]),
        hot.enqueue(fence, { kind: "void", id: "r9", ticket: null, reason: "" }),
        hot.mark(fence),
        hot.project(fence, { entries: line.ledger.entries, settled: [] }),
        hot.setPolicy(fence, { ...line.policy(), revision: 99 }),
        hot.setStatus(fence, { sku: skuId("A"), stopped: true, revision: 99 }),
        hot.overdue(fence, 99),
        hot.resend(fence, 99, ["r1"]),
        hot.knownIds(fence, skuId("A")),
        hot.leftOf(fence, [skuId("A")]),
      ]);
      for (const reply of replies) expect(reply).toEqual(closed);
      expect(await hot.lookup(0, "r1")).toEqual({ kind: "closed" });
      expect(openValue(await hot.heldTickets(fence))).toEqual(["r1"]);
      expect(await line.observe()).toMatchObject({ open: false, epoch: fence.epoch });
    });

    it("has its barrier behind what the outbox held, under the new epoch", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1"), reserveTicket("r2"));
      await line.begin();
      await line.begin();
      const head = await line.hot.outbox(0, 10);
      expect(head.epoch).toBe(line.fence.epoch);
      const barriers = [line.fence.epoch - 1, line.fence.epoch];
      expect(head.items.map(({ item }) => ("epoch" in item ? item.epoch : item.kind))).toEqual([
        "ticket",
        "ticket",
        ...barriers,
      ]);
    });

    it("never takes a lower epoch, and a repeated mark brings the barrier again", async () => {
      const line = await HotLine.open(subject);
      await line.begin();
      const { hot, fence } = line;
      const lower = { ...fence, epoch: epoch(fence.epoch - 1) };
      expect(await hot.beginRebuild(lower)).toEqual({ closed: true, why: "epoch" });
      expect((await line.observe()).epoch).toBe(fence.epoch);
      expect(await hot.beginRebuild(fence)).toEqual({ closed: false, value: null });
      expect((await line.outbox()).filter(({ kind }) => kind === "barrier")).toHaveLength(2);
    });

    it("is not marked under another incarnation, nor once it is open", async () => {
      const line = await HotLine.open(subject);
      const { hot, fence } = line;
      const other = { ...fence, incarnation: "another", epoch: epoch(fence.epoch + 1) };
      expect(await hot.beginRebuild(other)).toEqual({ closed: true, why: "incarnation" });
      expect(await hot.beginRebuild(fence)).toEqual({ closed: true, why: "open" });
      expect(await line.observe()).toMatchObject({ open: true, epoch: fence.epoch });
    });
  });

  describe("a load", () => {
    it("goes only into the lane that waits for this very epoch in this incarnation", async () => {
      const line = await HotLine.open(subject);
      const { hot } = line;
      const snapshot = line.ledger.snapshot();
      expect(await hot.load(line.fence, snapshot)).toEqual({ closed: true, why: "open" });
      await line.begin();
      const { fence } = line;
      const before = await line.observe();
      const older = { ...fence, epoch: epoch(fence.epoch - 1) };
      const newer = { ...fence, epoch: epoch(fence.epoch + 1) };
      const other = { ...fence, incarnation: "another" };
      expect(await hot.load(older, snapshot)).toEqual({ closed: true, why: "epoch" });
      expect(await hot.load(newer, snapshot)).toEqual({ closed: true, why: "epoch" });
      expect(await hot.load(other, snapshot)).toEqual({ closed: true, why: "incarnation" });
      expect(await line.observe()).toEqual({ ...before, at: expect.any(Number) });
      expect(openValue(await line.load())).toMatchObject({ ledgerWentBack: [] });
      expect(await hot.load(fence, snapshot)).toEqual({ closed: true, why: "open" });
    });

    it("that was overtaken by a failover has no effect", async () => {
      const line = await HotLine.open(subject);
      await line.begin();
      await subject.reborn();
      expect(await line.load()).toEqual({ closed: true, why: "incarnation" });
      expect(await line.observe()).toMatchObject({ open: false });
    });

    it("sets balance, version and hash together, as the ledger had them", async () => {
      const line = await HotLine.open(subject);
      await line.settle(reserveTicket("r1", { A: 2 }));
      line.say(commands.confirm());
      await subject.flush();
      await line.rebuild();
      const { version, hash } = line.ledger.row("A");
      expect(await line.sku()).toMatchObject({ available: 3, inFlight: 0, version, hash });
    });

    it("restores what was decided: answers, buyers' counts, policies, stopped SKUs", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9, B: 0 }, limit: 2 });
      await line.settle(reserveTicket("r1", { A: 2 }));
      await line.settle(reserveTicket("r2", { A: 1 }, { buyer: "bob" }));
      line.say(commands.skuTo("stopped"));
      await subject.flush();
      await line.rebuild();
      const again = reserveTicket("r1", { A: 2 });
      expect(await line.words(again, reserveTicket("r1", { A: 1 }))).toEqual([
        "replayed reserved",
        "KEY_REUSED",
      ]);
      const bob = (units: number) => reserveTicket(`b${units}`, { A: units }, { buyer: "bob" });
      expect(await line.words(bob(1))).toEqual(["SALE_PAUSED"]);
      const { statusRevision } = line.ledger.row("A");
      const status = { sku: skuId("A"), stopped: false, revision: statusRevision + 1 };
      await line.hot.setStatus(line.fence, status);
      expect(await line.words(bob(2), bob(1))).toEqual(["LIMIT_EXCEEDED", "admitted"]);
    });

    it("restores ids that were voided before anybody saw their cart", async () => {
      const line = await HotLine.open(subject);
      await line.hot.enqueue(line.fence, voidOf("r9"));
      await line.rebuild();
      expect(openValue(await line.hot.knownIds(line.fence, skuId("A"))).ids).toEqual(["r9"]);
      expect(await line.words(reserveTicket("r9", { A: 1 }))).toEqual(["replayed void"]);
    });

    it("knows no void as under way whose id is decided, wherever it stands", async () => {
      const line = await HotLine.open(subject);
      await line.hot.enqueue(line.fence, voidOf("r9"));
      await line.begin();
      const [item] = await line.outbox();
      if (item?.kind !== "void") throw new Error("the void is not in the outbox");
      // It was sent once, and is not taken out of the outbox before the load.
      line.lane.push({ item, epoch: line.fence.epoch });
      line.decide();
      openValue(await line.load());
      expect(await line.outbox()).toContainEqual(item);
      expect((await line.observe()).voids).toBe(0);
    });

    it("keeps the undecided tickets that are still here, in overlay and outbox", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9 }, limit: 4 });
      await line.admit(reserveTicket("sent", { A: 1 }), takeTicket("freeze", "o1", 1));
      await line.relay();
      // The broker loses these; two more wait in the outbox, and are decided before the barrier.
      line.lane = [];
      await line.admit(reserveTicket("waits", { A: 2 }));
      const reply = await line.rebuild();
      expect(reply).toMatchObject({ kept: 2, dropped: 1 });
      expect(await line.sku()).toMatchObject({ available: 5, inFlight: 2 });
      const kept = (await line.outbox()).map((item) =>
        item.kind === "ticket" ? item.ticket.id : "",
      );
      expect(kept.sort()).toEqual(["sent", "take:A:o1"]);
      expect(await line.words(reserveTicket("sent", { A: 1 }))).toEqual(["replayed pending"]);
      expect(await line.words(reserveTicket("more", { A: 2 }))).toEqual(["LIMIT_EXCEEDED"]);
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.sku()).toMatchObject({ available: 5, inFlight: 0 });
    });

    it("leaves a ticket that waits in the outbox where it stands, once", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1", { A: 2 }));
      await line.begin();
      expect(openValue(await line.load())).toMatchObject({ kept: 1 });
      expect((await line.outbox()).map(({ kind }) => kind)).toEqual(["ticket", "barrier"]);
      await line.check();
    });

    it("drops what was decided meanwhile, with its place in the outbox", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1", { A: 2 }));
      await line.relay();
      const copy = [...line.lane];
      line.decide();
      line.news = { entries: [], settled: [] };
      await line.begin();
      // A relay that was killed after the broker's confirm: the ticket stands in the outbox yet.
      expect(openValue(await line.load())).toMatchObject({ kept: 0, dropped: 1 });
      await line.check();
      expect(await line.sku()).toMatchObject({ available: 3, inFlight: 0 });
      line.lane = copy;
      line.decide();
      await line.project();
      expect(await line.sku()).toMatchObject({ available: 3, inFlight: 0 });
    });

    it("may leave hot stock below zero: sold out, until the decision", async () => {
      const line = await HotLine.open(subject, { stock: { A: 2 } });
      await line.admit(reserveTicket("r1", { A: 2 }));
      await line.relay();
      line.lane = [];
      line.ledger.decideTicket(takeTicket("withdraw", "o1", 1));
      await line.rebuild();
      expect(await line.sku()).toMatchObject({ available: -1, inFlight: 2 });
      expect(await line.words(reserveTicket("r2"))).toEqual(["SOLD_OUT"]);
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.sku()).toMatchObject({ available: 1, inFlight: 0 });
    });

    it("keeps a late payment's ticket and its buyer's count", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9 }, limit: 2 });
      await line.settle(reserveTicket("r1", { A: 2 }));
      line.ledger.pass(60_000);
      line.say(commands.expire());
      await line.project();
      await line.admit(reviveTicket("r1", "p1", { A: 2 }));
      await line.relay();
      line.lane = [];
      expect(await line.rebuild()).toMatchObject({ kept: 1 });
      expect(await line.words(reserveTicket("r2", { A: 1 }))).toEqual(["LIMIT_EXCEEDED"]);
    });

    it("drops a ticket of which a SKU is not there any more", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5, B: 5 } });
      await line.admit(reserveTicket("r1", { A: 1, B: 1 }));
      await line.begin();
      const snapshot = line.ledger.snapshot();
      const levels = snapshot.levels.filter(({ sku }) => sku === "A");
      const reply = await line.hot.load(line.fence, { ...snapshot, levels });
      expect(openValue(reply)).toMatchObject({ kept: 0, dropped: 1 });
      expect(await line.sku()).toMatchObject({ available: 5, inFlight: 0 });
      expect((await line.outbox()).map(({ kind }) => kind)).toEqual(["barrier"]);
    });

    it("asks again for a void that had left the outbox, not for one that waits in it", async () => {
      const line = await HotLine.open(subject);
      const ask = (id: string) =>
        line.hot.enqueue(line.fence, { kind: "void", id, ticket: null, reason: "" });
      await ask("gone");
      await line.relay();
      line.lane = [];
      await ask("waits");
      await line.begin();
      await line.load();
      expect((await line.observe()).voids).toBe(1);
      await ask("gone");
      await ask("waits");
      const voids = (await line.outbox()).flatMap((item) => (item.kind === "void" ? item.id : []));
      expect(voids).toEqual(["waits", "gone"]);
    });
  });

  describe("a ledger that went back", () => {
    it.each([
      ["a lower version", (version: number) => ({ version: version - 1 })],
      ["another hash at the same version", () => ({ hash: "f".repeat(64) })],
    ])("is named, and the SKU stays stopped at its version: %s", async (_, change) => {
      const line = await HotLine.open(subject, { stock: { A: 9, B: 9 } });
      await line.settle(reserveTicket("r1", { A: 2 }));
      await line.admit(reserveTicket("r2", { A: 1, B: 1 }));
      await line.relay();
      line.lane = [];
      const before = await line.sku();
      await line.begin();
      const snapshot = line.ledger.snapshot();
      const levels = snapshot.levels.map((level) =>
        level.sku === "A" ? { ...level, ...change(level.version) } : level,
      );
      const reply = openValue(await line.hot.load(line.fence, { ...snapshot, levels }));
      const { version, hash } = before;
      expect(reply.ledgerWentBack).toEqual([{ sku: "A", hotVersion: version }]);
      expect(await line.sku("A")).toMatchObject({ version, hash, stopped: true });
      expect(await line.words(reserveTicket("r3"))).toEqual(["SALE_PAUSED"]);
      expect(await line.words(reserveTicket("r3", { B: 1 }))).toEqual(["admitted"]);
    });

    it("is loaded anew only after an operator had the SKU forgotten", async () => {
      const line = await HotLine.open(subject);
      await line.settle(reserveTicket("r1", { A: 2 }));
      await line.admit(reserveTicket("r2", { A: 1 }));
      const { hot } = line;
      openValue(await hot.forgetSku(line.fence, skuId("A")));
      expect(await line.words(reserveTicket("r3"))).toEqual(["missing sku"]);
      const [level] = line.ledger.snapshot().levels;
      if (level === undefined) throw new Error();
      expect(openValue(await hot.adopt(line.fence, level))).toBe("lost");
      await line.relay();
      line.lane = [];
      expect(await line.rebuild()).toMatchObject({ kept: 1, ledgerWentBack: [] });
      expect(await line.sku()).toMatchObject({ available: 2, inFlight: 1 });
    });
  });
});
