import { beforeEach, describe, expect, it } from "vitest";
import { saleId, skuId } from "../../src/domain/values.ts";
import { HotLine, openValue, wordOfAdmission } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { reserveTicket, reviveTicket, takeTicket } from "../support/tickets.ts";

/** What every hot stock promises to those who ask for units. */
describe.each(hotStockAdapters)("hot stock $name: admission", ({ open }) => {
  let subject: HotSubject;
  beforeEach(async () => {
    subject = await open();
    return () => subject.hot.close();
  });

  describe("a ticket", () => {
    it("is taken from available into the overlay and the outbox in one step", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5, B: 5 } });
      const ticket = reserveTicket("r1", { A: 2, B: 1 });
      expect(await line.words(ticket)).toEqual(["admitted"]);
      expect(await line.sku("A")).toMatchObject({ available: 3, inFlight: 2 });
      expect(await line.sku("B")).toMatchObject({ available: 4, inFlight: 1 });
      expect(await line.outbox()).toMatchObject([{ kind: "ticket", ticket }]);
      const pending = { kind: "pending", ticket: { ticket } };
      expect(await line.hot.lookup(0, "r1")).toMatchObject(pending);
      expect(await line.observe()).toMatchObject({ tickets: 1, outboxLength: 1, open: true });
    });

    it("keeps by which call it came, and is the same ticket by any other", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5 } });
      const origin = { requestId: "gateway-7", traceId: "4bf92f3577b34da6a3ce929d0e0e4736" };
      const ticket = { ...reserveTicket("r1"), origin };
      expect(await line.words(ticket)).toEqual(["admitted"]);
      expect(await line.outbox()).toMatchObject([{ kind: "ticket", ticket: { origin } }]);
      expect(await line.hot.lookup(0, "r1")).toMatchObject({ ticket: { ticket: { origin } } });
      const again = { ...ticket, origin: { requestId: "gateway-8", traceId: null } };
      expect(await line.words(again)).toEqual(["replayed pending"]);
      expect(await line.hot.lookup(0, "r1")).toMatchObject({ ticket: { ticket: { origin } } });
    });

    it("holds all of its lines or none", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5, B: 1 } });
      expect(await line.words(reserveTicket("r1", { A: 2, B: 2 }))).toEqual(["SOLD_OUT"]);
      expect(await line.sku("A")).toMatchObject({ available: 5, inFlight: 0 });
      expect(await line.outbox()).toEqual([]);
      expect(await line.hot.lookup(0, "r1")).toEqual({ kind: "unknown" });
    });

    it("of a batch sees those before it, and stands or falls alone", async () => {
      const line = await HotLine.open(subject, { stock: { A: 3, B: 1 } });
      const words = await line.words(
        reserveTicket("r1", { A: 2 }),
        reserveTicket("r2", { A: 2 }),
        reserveTicket("r1", { A: 2 }),
        reserveTicket("r3", { A: 1, B: 1 }),
        reserveTicket("r4", { B: 1 }),
        takeTicket("withdraw", "o1", 1),
      );
      const first = ["admitted", "SOLD_OUT", "replayed pending", "admitted"];
      expect(words).toEqual([...first, "SOLD_OUT", "NOT_ENOUGH"]);
      expect((await line.outbox()).map((item) => item.kind)).toEqual(["ticket", "ticket"]);
    });

    it("takes the last unit and not one more", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5 } });
      const all = Array.from({ length: 20 }, (_, n) => reserveTicket(`r${n}`, { A: 1 }));
      const words = await line.words(...all);
      expect(words.filter((word) => word === "admitted")).toHaveLength(5);
      expect(words.filter((word) => word === "SOLD_OUT")).toHaveLength(15);
      expect(await line.sku()).toMatchObject({ available: 0, inFlight: 5 });
    });
  });

  describe("a repeat", () => {
    it.each(["sold out", "paused", "over the limit", "stopped"])(
      "is answered before any refusal: %s",
      async (now) => {
        const line = await HotLine.open(subject, { stock: { A: 2 }, limit: 2 });
        await line.admit(reserveTicket("r1", { A: 2 }));
        if (now === "paused") await pause(line);
        if (now === "stopped") await stop(line);
        expect(await line.words(reserveTicket("r1", { A: 2 }))).toEqual(["replayed pending"]);
        await line.relay();
        line.decide();
        await line.project();
        expect(await line.words(reserveTicket("r1", { A: 2 }))).toEqual(["replayed reserved"]);
        expect(await line.outbox()).toEqual([]);
      },
    );

    it("with other content is a conflict, pending or decided, and takes nothing", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1", { A: 1 }));
      expect(await line.words(reserveTicket("r1", { A: 2 }))).toEqual(["KEY_REUSED"]);
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.words(reserveTicket("r1", { A: 2 }))).toEqual(["KEY_REUSED"]);
      expect(await line.sku()).toMatchObject({ available: 4, inFlight: 0 });
    });

    it("of one that the ledger rejected is told so", async () => {
      const line = await HotLine.open(subject);
      const ticket = reserveTicket("r1", { A: 2 });
      await line.admit(ticket);
      line.ledger.decideTicket(takeTicket("withdraw", "o1", 4));
      const withdrawn = line.ledger.book.projected;
      await line.relay();
      line.decide();
      await line.project({ entries: [...withdrawn, ...line.news.entries] });
      expect(await line.words(ticket)).toEqual(["replayed rejected"]);
    });

    it("under a voided id is void, whatever its content", async () => {
      const line = await HotLine.open(subject);
      await line.hot.enqueue(line.fence, {
        kind: "void",
        id: "r1",
        ticket: null,
        reason: "lost",
      });
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.words(reserveTicket("r1", { A: 3 }))).toEqual(["replayed void"]);
    });
  });

  describe("a refusal", () => {
    it("changes nothing at all", async () => {
      const line = await HotLine.open(subject, { stock: { A: 1, B: 1 }, limit: 1 });
      const before = await line.observe();
      const words = await line.words(
        reserveTicket("r1", { A: 2 }),
        reserveTicket("r2", { A: 1, C: 1 }),
        reserveTicket("r3", { A: 1 }, { sale: "other" }),
        takeTicket("freeze", "o1", 2),
        takeTicket("freeze", "o1", 2, { sku: "C" }),
      );
      const missing = ["missing sale", "NOT_ENOUGH", "missing sku"];
      expect(words).toEqual(["LIMIT_EXCEEDED", "SKU_NOT_FOUND", ...missing]);
      expect(await line.observe()).toEqual({ ...before, at: expect.any(Number) });
      for (const id of ["r1", "r2", "r3"]) {
        expect(await line.hot.lookup(0, id)).toEqual({ kind: "unknown" });
      }
    });

    it("is the first in order of precedence", async () => {
      const line = await HotLine.open(subject, { stock: { A: 3, B: 0 }, limit: 2 });
      const ask = (cart: Readonly<Record<string, number>>) =>
        line.words(reserveTicket("r1", cart)).then(([word]) => word);
      // Too many and over the limit; over the limit and another sold out.
      expect(await ask({ A: 4 })).toBe("LIMIT_EXCEEDED");
      expect(await ask({ A: 3, B: 1 })).toBe("SOLD_OUT");
      await stop(line);
      expect(await ask({ A: 3, B: 1 })).toBe("SALE_PAUSED");
      expect(await ask({ A: 1, C: 1 })).toBe("SKU_NOT_FOUND");
      await close(line);
      expect(await ask({ A: 1, B: 1 })).toBe("SALE_ENDED");
      expect(await ask({ A: 1, C: 1 })).toBe("SKU_NOT_FOUND");
    });

    it("names the SKU that it is about", async () => {
      const line = await HotLine.open(subject, { stock: { A: 3, B: 0 } });
      const [admission] = await line.admit(reserveTicket("r1", { A: 1, B: 1 }));
      expect(admission).toEqual({ kind: "refused", code: "SOLD_OUT", sku: "B" });
    });
  });

  describe("the limit of a buyer", () => {
    it("counts what is held and owned, in flight and decided, per SKU and buyer", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9, B: 9 }, limit: 2 });
      expect(await line.words(reserveTicket("r1", { A: 1 }))).toEqual(["admitted"]);
      expect(await line.words(reserveTicket("r2", { A: 2 }))).toEqual(["LIMIT_EXCEEDED"]);
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.words(reserveTicket("r2", { A: 2 }))).toEqual(["LIMIT_EXCEEDED"]);
      expect(await line.words(reserveTicket("r3", { A: 1, B: 2 }))).toEqual(["admitted"]);
      expect(await line.words(reserveTicket("r4", { A: 1 }))).toEqual(["LIMIT_EXCEEDED"]);
      const bob = reserveTicket("r5", { A: 2 }, { buyer: "bob" });
      expect(await line.words(bob)).toEqual(["admitted"]);
    });
  });

  describe("the window of a sale", () => {
    it.each([
      ["before it opens", 60_000, null, "SALE_NOT_OPEN"],
      ["from its first moment", 0, 60_000, "admitted"],
      ["once it has ended", null, 0, "SALE_ENDED"],
      ["long after", null, -60_000, "SALE_ENDED"],
    ] as const)("is read by the clock of the store: %s", async (_, opens, closes, word) => {
      const line = await HotLine.open(subject);
      const { at } = await line.observe();
      const opensAt = opens === null ? null : at + opens;
      const closesAt = closes === null ? null : at + closes;
      const policy = { ...line.policy(), revision: 9, opensAt, closesAt };
      await line.hot.setPolicy(line.fence, policy);
      expect(await line.words(reserveTicket("r1"))).toEqual([word]);
    });
  });

  describe("an operator's or a payment's ticket", () => {
    it("is bound by what is there, not by window, pause or stop", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5 } });
      await stop(line);
      await close(line);
      expect(await line.words(takeTicket("freeze", "o1", 3))).toEqual(["admitted"]);
      expect(await line.words(takeTicket("freeze", "o1", 3))).toEqual(["replayed pending"]);
      expect(await line.words(takeTicket("freeze", "o1", 2))).toEqual(["KEY_REUSED"]);
      expect(await line.words(takeTicket("withdraw", "o2", 3))).toEqual(["NOT_ENOUGH"]);
      expect(await line.words(takeTicket("withdraw", "o2", 2))).toEqual(["admitted"]);
    });

    it("keeps the buyer's limit when it is a late payment, and needs no open sale", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5 }, limit: 2 });
      await line.admit(reserveTicket("r1", { A: 1 }));
      await close(line);
      expect(await line.words(reviveTicket("r9", "p1", { A: 2 }))).toEqual(["LIMIT_EXCEEDED"]);
      expect(await line.words(reviveTicket("r9", "p1", { A: 1 }))).toEqual(["admitted"]);
      expect(await line.words(reviveTicket("r9", "p2", { A: 1 }))).toEqual(["LIMIT_EXCEEDED"]);
    });
  });
});

describe.each(hotStockAdapters)("hot stock $name: the bound of a lane", ({ open }) => {
  it("admits no more than it may hold in flight, and answers repeats all the same", async () => {
    const subject = await open({ ticketsMax: 2 });
    const line = await HotLine.open(subject, { stock: { A: 9, B: 0 } });
    const [one, two, three] = ["r1", "r2", "r3"].map((id) => reserveTicket(id));
    if (one === undefined || two === undefined || three === undefined) throw new Error("three");
    expect(await line.words(one, two, three)).toEqual(["admitted", "admitted", "busy"]);
    expect(await line.words(two, reserveTicket("r4", { B: 1 }))).toEqual([
      "replayed pending",
      "SOLD_OUT",
    ]);
    await line.relay();
    line.decide();
    await line.project();
    expect(await line.words(three)).toEqual(["admitted"]);
    await subject.hot.close();
  });
});

describe.each(hotStockAdapters)("hot stock $name: the fence", ({ open }) => {
  it("lets no call pass that means another hot stock, and then nothing is changed", async () => {
    const subject = await open();
    const line = await HotLine.open(subject);
    await line.admit(reserveTicket("r1"));
    await line.relay();
    line.decide();
    const before = await line.observe();
    const { hot, fence, news } = line;
    const wrong = [
      { ...fence, epoch: (fence.epoch + 1) as typeof fence.epoch },
      { ...fence, epoch: (fence.epoch - 1) as typeof fence.epoch },
      { ...fence, incarnation: "another" },
      { ...fence, lane: 7, incarnation: await hot.incarnation(7) },
    ];
    for (const other of wrong) {
      const why = other.incarnation === "another" ? "incarnation" : "epoch";
      const level = { ...line.ledger.snapshot().levels[0], sku: skuId("N") } as never;
      const replies = await Promise.all([
        hot.admit(other, [reserveTicket("r2")]),
        hot.enqueue(other, { kind: "marker", seq: 1 }),
        hot.mark(other),
        hot.forward(other, [1, 2, 3]),
        hot.project(other, news),
        hot.setPolicy(other, { ...line.policy(), revision: 99, state: "closed" }),
        hot.setStatus(other, { sku: skuId("A"), stopped: true, revision: 99 }),
        hot.adopt(other, level),
        hot.forgetSale(other, saleId("s")),
        hot.forgetSku(other, skuId("A")),
        hot.heldTickets(other),
        hot.load(other, line.ledger.snapshot()),
        hot.overdue(other, 99),
        hot.resend(other, 99, ["r1"]),
        hot.knownIds(other, skuId("A")),
        hot.leftOf(other, [skuId("A")]),
      ]);
      for (const reply of replies) expect(reply).toEqual({ closed: true, why });
    }
    expect(await line.observe()).toEqual({ ...before, at: expect.any(Number) });
    await hot.close();
  });

  it("closes a hot stock that lives on under another incarnation", async () => {
    const subject = await open();
    const line = await HotLine.open(subject);
    await subject.reborn();
    expect(await line.hot.admit(line.fence, [reserveTicket("r1")])).toEqual({
      closed: true,
      why: "incarnation",
    });
    await line.rebuild();
    expect(await line.words(reserveTicket("r1"))).toEqual(["admitted"]);
    await subject.hot.close();
  });

  it("says closed, never not found, once the keys are gone", async () => {
    const subject = await open();
    const line = await HotLine.open(subject);
    await subject.flush();
    const closed = { closed: true, why: "epoch" };
    expect(await line.hot.admit(line.fence, [reserveTicket("r1")])).toEqual(closed);
    expect(await line.hot.lookup(0, "r1")).toEqual({ kind: "closed" });
    expect(await line.observe()).toMatchObject({ open: false, epoch: null, skus: [] });
    await line.rebuild();
    const [again] = openValue(await line.hot.admit(line.fence, [reserveTicket("r1")]));
    expect(again === undefined ? "" : wordOfAdmission(again)).toBe("admitted");
    await subject.hot.close();
  });
});

async function pause(line: HotLine): Promise<void> {
  const { hot, fence } = line;
  await hot.setPolicy(fence, { ...line.policy(), revision: 50, state: "paused" });
}

async function close(line: HotLine): Promise<void> {
  const { hot, fence } = line;
  await hot.setPolicy(fence, { ...line.policy(), revision: 60, state: "closed" });
}

async function stop({ hot, fence }: HotLine): Promise<void> {
  await hot.setStatus(fence, { sku: skuId("A"), stopped: true, revision: 50 });
}
