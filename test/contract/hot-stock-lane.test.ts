import { beforeEach, describe, expect, it } from "vitest";
import { saleId, skuId } from "../../src/domain/values.ts";
import { commands } from "../support/commands.ts";
import { HotLine, openValue } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { reserveTicket, takeTicket } from "../support/tickets.ts";

const voidOf = (id: string) => ({ kind: "void", id, ticket: null, reason: "lost" }) as const;

/** What every hot stock promises of its outbox, its markers and what it knows besides stock. */
describe.each(hotStockAdapters)("hot stock $name: the lane", ({ open }) => {
  let subject: HotSubject;
  let line: HotLine;
  beforeEach(async () => {
    subject = await open();
    line = await HotLine.open(subject, { stock: { A: 9, B: 1 } });
    return () => subject.hot.close();
  });

  describe("the outbox", () => {
    it("keeps the order in which things were appended, of every kind", async () => {
      await line.admit(reserveTicket("r1"));
      await line.hot.enqueue(line.fence, {
        kind: "cancel",
        id: reserveTicket("r1").id,
        actor: "op",
        reason: "",
      });
      await line.hot.mark(line.fence);
      await line.hot.enqueue(line.fence, voidOf("r9"));
      await line.admit(takeTicket("freeze", "o1", 1));
      const kinds = (await line.outbox()).map(({ kind }) => kind);
      expect(kinds).toEqual(["ticket", "cancel", "marker", "void", "ticket"]);
    });

    it("shows its head up to a limit, and its whole length", async () => {
      await line.admit(...["a", "b", "c"].map((id) => reserveTicket(id)));
      const head = await line.hot.outbox(0, 2);
      expect(head).toMatchObject({ epoch: line.fence.epoch, length: 3 });
      expect(head.incarnation).toBe(line.fence.incarnation);
      expect(head.items.map(({ item }) => (item.kind === "ticket" ? item.ticket.id : ""))).toEqual([
        "a",
        "b",
      ]);
      expect(head.oldestAt).toBe((await line.observe()).outboxOldestAt);
      expect((await line.hot.outbox(0, 2)).items).toEqual(head.items);
    });

    it("forgets what was forwarded, and forwarding twice forgets nothing else", async () => {
      await line.admit(reserveTicket("a"), reserveTicket("b"));
      const [first] = (await line.hot.outbox(0, 1)).items;
      const seqs = [first?.seq ?? -1];
      await line.hot.forward(line.fence, seqs);
      await line.hot.forward(line.fence, seqs);
      expect(await line.outbox()).toMatchObject([{ ticket: { id: "b" } }]);
      expect(await line.hot.lookup(0, "a")).toMatchObject({ kind: "pending" });
    });

    it("of a lane that has no epoch sends nothing", async () => {
      expect(await line.hot.outbox(7, 10)).toMatchObject({ epoch: null, items: [], length: 0 });
    });
  });

  describe("a void", () => {
    it("is queued for an id that is not known here, and once while it is on its way", async () => {
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r9")))).toBe("queued");
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r9")))).toBe("queued");
      await line.relay();
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r9")))).toBe("queued");
      expect(await line.outbox()).toEqual([]);
      expect((await line.observe()).voids).toBe(1);
      line.decide();
      await line.project();
      expect((await line.observe()).voids).toBe(0);
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r9")))).toBe("known");
    });

    it("is not queued while the ticket or its answer is here", async () => {
      await line.admit(reserveTicket("r1"));
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r1")))).toBe("known");
      await line.relay();
      line.decide();
      await line.project();
      expect(openValue(await line.hot.enqueue(line.fence, voidOf("r1")))).toBe("known");
      expect(await line.outbox()).toEqual([]);
    });

    it("that gives up a ticket carries it, and frees its units once it is decided", async () => {
      const ticket = reserveTicket("r1", { A: 3 });
      await line.admit(ticket);
      await line.relay();
      line.lane = [];
      const item = { kind: "void", id: "r1", ticket, reason: "never decided" } as const;
      expect(openValue(await line.hot.enqueue(line.fence, item))).toBe("queued");
      await line.relay();
      line.decide();
      expect(await line.project()).toMatchObject({ gaveBack: ["A"] });
      expect(await line.sku()).toMatchObject({ available: 9, inFlight: 0 });
      expect(await line.words(ticket)).toEqual(["replayed void"]);
    });

    it("of an operator's ticket is over once it is decided", async () => {
      const ticket = takeTicket("freeze", "o1", 2);
      await line.admit(ticket);
      await line.relay();
      line.lane = [];
      const item = { kind: "void", id: ticket.id, ticket, reason: "never decided" } as const;
      openValue(await line.hot.enqueue(line.fence, item));
      await line.relay();
      line.decide();
      expect(await line.project()).toMatchObject({ gaveBack: ["A"] });
      expect(await line.observe()).toMatchObject({ tickets: 0, voids: 0 });
    });

    it("that the broker lost is asked for again once a marker has come", async () => {
      await line.hot.enqueue(line.fence, voidOf("r9"));
      await line.relay();
      line.lane = [];
      const marker = openValue(await line.hot.mark(line.fence));
      await line.relay();
      openValue(await line.hot.overdue(line.fence, marker));
      expect((await line.observe()).voids).toBe(0);
      await line.hot.enqueue(line.fence, voidOf("r9"));
      expect(await line.outbox()).toMatchObject([{ kind: "void", id: "r9" }]);
    });
  });

  describe("a marker", () => {
    const ids = async (marker: number): Promise<string[]> =>
      openValue(await line.hot.overdue(line.fence, marker)).map(({ ticket }) => ticket.id);

    it("has a greater number than all that was appended before it", async () => {
      await line.admit(reserveTicket("r1"));
      const marker = openValue(await line.hot.mark(line.fence));
      const head = (await line.hot.outbox(0, 10)).items;
      expect(head.map(({ item }) => item.kind)).toEqual(["ticket", "marker"]);
      expect(head[0]?.seq).toBeLessThan(marker);
      expect(head[1]?.item).toEqual({ kind: "marker", seq: marker });
      expect(openValue(await line.hot.mark(line.fence))).toBeGreaterThan(marker);
    });

    it("tells which tickets left before it and are still here; age is no reason", async () => {
      await line.admit(reserveTicket("left"));
      await line.relay();
      const marker = openValue(await line.hot.mark(line.fence));
      await line.admit(reserveTicket("after"));
      expect(await ids(marker)).toEqual(["left"]);
      await line.relay();
      expect(await ids(marker)).toEqual(["left"]);
      line.decide();
      await line.project();
      expect(await ids(marker)).toEqual([]);
    });

    it("says nothing of a ticket that waits in the outbox yet", async () => {
      await line.admit(reserveTicket("waits"));
      const marker = openValue(await line.hot.mark(line.fence));
      expect(await ids(marker)).toEqual([]);
    });

    it("has a lost ticket sent again, once per marker, and counts it", async () => {
      await line.admit(reserveTicket("lost"), reserveTicket("also"));
      await line.relay();
      line.lane = [];
      const marker = openValue(await line.hot.mark(line.fence));
      await line.relay();
      line.lane = [];
      const { hot, fence } = line;
      const told = ["lost", "never", "lost"];
      expect(openValue(await hot.resend(fence, marker, told))).toEqual(["lost"]);
      expect(openValue(await hot.resend(fence, marker, ["lost"]))).toEqual([]);
      expect(await line.outbox()).toMatchObject([{ ticket: { id: "lost" } }]);
      await line.relay();
      // It left again after this marker: only the next one speaks of it.
      expect(openValue(await hot.resend(fence, marker, ["lost"]))).toEqual([]);
      expect(await ids(marker)).toEqual(["also"]);
      const next = openValue(await hot.mark(fence));
      const overdue = openValue(await hot.overdue(fence, next));
      const seen = overdue.map(({ ticket, resends }) => `${ticket.id} ${resends}`);
      expect(seen.sort()).toEqual(["also 0", "lost 1"]);
      line.decide();
      await line.project();
      expect(await line.sku()).toMatchObject({ available: 7, inFlight: 1 });
    });
  });

  describe("a policy", () => {
    it("is set by its revision: an older or the same one is ignored", async () => {
      const { hot, fence } = line;
      const policy = line.policy();
      await hot.setPolicy(fence, { ...policy, revision: 5, state: "paused" });
      await hot.setPolicy(fence, { ...policy, revision: 4, state: "open" });
      await hot.setPolicy(fence, { ...policy, revision: 5, state: "open" });
      expect(await line.words(reserveTicket("r1"))).toEqual(["SALE_PAUSED"]);
      await hot.setPolicy(fence, { ...policy, revision: 6, state: "open" });
      expect(await line.words(reserveTicket("r1"))).toEqual(["admitted"]);
      expect((await line.observe()).policies).toEqual([{ saleId: "s", revision: 6 }]);
    });

    it("of a next sale takes its SKUs over, and its buyers begin anew", async () => {
      const own = await open();
      const next = await HotLine.open(own, { stock: { A: 9 }, limit: 1 });
      await next.settle(reserveTicket("r1"));
      next.say(commands.saleTo("closed"));
      next.ledger.open({ sale: "t", stock: { A: 1 }, limit: 1 });
      await next.hot.setPolicy(next.fence, next.policy("s"));
      await next.project({ entries: next.ledger.entries });
      await next.hot.setPolicy(next.fence, next.policy("t"));
      const ask = (sale: string) => reserveTicket(`in-${sale}`, { A: 1 }, { sale });
      expect(await next.words(ask("s"), ask("t"), ask("t"))).toEqual([
        "SALE_ENDED",
        "admitted",
        "replayed pending",
      ]);
      const more = reserveTicket("more", { A: 1 }, { sale: "t" });
      expect(await next.words(more)).toEqual(["LIMIT_EXCEEDED"]);
      expect((await next.sku()).saleId).toBe("t");
      await own.hot.close();
    });
  });

  describe("the status of a SKU", () => {
    it("is set by its revision: an older or the same one is ignored", async () => {
      const set = (stopped: boolean, revision: number) =>
        line.hot.setStatus(line.fence, { sku: skuId("A"), stopped, revision });
      await set(true, 5);
      await set(false, 4);
      await set(false, 5);
      expect(await line.words(reserveTicket("r1"))).toEqual(["SALE_PAUSED"]);
      expect(await line.sku()).toMatchObject({ stopped: true, statusRevision: 5 });
      await set(false, 6);
      expect(await line.words(reserveTicket("r1"))).toEqual(["admitted"]);
    });
  });

  describe("a SKU that the lane does not have", () => {
    it("is adopted if it never had it, once, with the ledger's balance at a version", async () => {
      line.ledger.open({ sale: "t", stock: { N: 4 } });
      const level = line.ledger.snapshot().levels.find(({ sku }) => sku === "N");
      if (level === undefined) throw new Error();
      expect(openValue(await line.hot.adopt(line.fence, level))).toBe("adopted");
      const stale = { ...level, available: 99 };
      expect(openValue(await line.hot.adopt(line.fence, stale))).toBe("known");
      expect(await line.sku("N")).toMatchObject({ available: 4, version: 1, saleId: "t" });
      await line.check();
    });
  });

  describe("a sale that has ended", () => {
    it("is forgotten with its answers, once nothing of it is in flight", async () => {
      await line.settle(reserveTicket("r1"));
      await line.admit(reserveTicket("r2"));
      const { hot, fence } = line;
      const forget = () => hot.forgetSale(fence, saleId("s"));
      await forget();
      expect(await line.words(reserveTicket("r1"))).toEqual(["replayed reserved"]);
      await hot.setPolicy(fence, { ...line.policy(), revision: 9, state: "closed" });
      await forget();
      expect(await line.words(reserveTicket("r1"))).toEqual(["replayed reserved"]);
      await line.relay();
      line.decide();
      await line.project();
      await forget();
      expect(await hot.lookup(0, "r1")).toEqual({ kind: "unknown" });
      expect(await line.words(reserveTicket("r1"))).toEqual(["missing sale"]);
      expect(openValue(await hot.knownIds(fence, skuId("A"))).ids).toEqual([]);
      expect(await line.sku("A")).toMatchObject({ saleId: null });
    });
  });

  describe("the ids that are known for a SKU", () => {
    it("are all that are held or decided, and its own", async () => {
      await line.settle(reserveTicket("done", { A: 1 }), reserveTicket("no", { B: 1 }));
      await line.admit(reserveTicket("held", { A: 2 }));
      await line.hot.enqueue(line.fence, voidOf("void"));
      await line.relay();
      line.tell(commands.expire());
      const known = openValue(await line.hot.knownIds(line.fence, skuId("A")));
      expect([...known.ids].sort()).toEqual(["done", "held"]);
      expect(known.available).toBe(6);
      line.decide();
      await line.project();
      const after = openValue(await line.hot.knownIds(line.fence, skuId("A")));
      expect([...after.ids].sort()).toEqual(["done", "held", "void"]);
      expect(after.idsSeen).toBeGreaterThan(known.idsSeen);
    });

    it("have a number that grows with each, so that every gate learns of it", async () => {
      const left = async () => openValue(await line.hot.leftOf(line.fence, [skuId("A")]))[0];
      const before = await left();
      expect(before).toMatchObject({ sku: "A", available: 9 });
      await line.admit(reserveTicket("r1", { A: 2 }));
      const after = await left();
      expect(after?.available).toBe(7);
      expect(after?.idsSeen).toBeGreaterThan(before?.idsSeen ?? 0);
      await line.words(reserveTicket("r1", { A: 2 }), reserveTicket("r2", { A: 99 }));
      expect(await left()).toEqual(after);
      expect(openValue(await line.hot.leftOf(line.fence, [skuId("N")]))).toEqual([]);
    });
  });
});
