import { beforeEach, describe, expect, it } from "vitest";
import type { Command } from "../../src/domain/command.ts";
import { skuId } from "../../src/domain/values.ts";
import { commands } from "../support/commands.ts";
import { HotLine } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { reserveTicket, reviveTicket, takeTicket } from "../support/tickets.ts";

const restock = (name: string, units: number): Command => commands.give("restock", name, units);
/** Decided, and not told yet. */
function twoEntries(line: HotLine) {
  line.say(restock("o1", 3));
  line.say(restock("o2", 3));
  const [first, second] = line.news.entries;
  if (first === undefined || second === undefined) throw new Error("nothing was decided");
  return [first, second] as const;
}

const nothing = { gaps: [], forks: [], missing: [], gaveBack: [] };

/** What every hot stock promises to the ledger's news. */
describe.each(hotStockAdapters)("hot stock $name: projection", ({ open }) => {
  let subject: HotSubject;
  beforeEach(async () => {
    subject = await open();
    return () => subject.hot.close();
  });

  describe("an entry", () => {
    it("is applied once, however often it is told", async () => {
      const line = await HotLine.open(subject);
      line.say(restock("o1", 3));
      const news = { ...line.news };
      expect(await line.project(news)).toEqual({ ...nothing, gaveBack: ["A"] });
      const after = await line.observe();
      expect(await line.project(news)).toEqual(nothing);
      expect(await line.observe()).toEqual({ ...after, at: expect.any(Number) });
      expect(await line.sku()).toMatchObject({ available: 8, version: 2 });
    });

    it("is applied in version order only; what is missing is said", async () => {
      const line = await HotLine.open(subject);
      for (const name of ["o1", "o2", "o3"]) line.say(restock(name, 1));
      const [first, second, third] = line.news.entries;
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      expect(await line.project({ entries: [third] })).toMatchObject({
        gaps: [{ sku: "A", version: 1 }],
        gaveBack: [],
      });
      expect(await line.project({ entries: [third, second] })).toMatchObject({
        gaps: [{ sku: "A", version: 1 }],
      });
      expect(await line.sku()).toMatchObject({ available: 5, version: 1 });
      expect(await line.project({ entries: [third, first, second, third] })).toEqual({
        ...nothing,
        gaveBack: ["A"],
      });
      expect(await line.sku()).toMatchObject({ available: 8, version: 4, hash: third.hash });
    });

    it("that fits no version here is a fork, and changes nothing", async () => {
      const line = await HotLine.open(subject);
      const [entry, next] = twoEntries(line);
      const fork = { ...nothing, forks: [{ sku: "A", version: 1 }] };
      const strange = { ...entry, previousHash: "f".repeat(64) };
      expect(await line.project({ entries: [strange, next] })).toMatchObject({
        forks: fork.forks,
        gaveBack: [],
      });
      expect(await line.project({ entries: [{ ...entry, version: 1 }] })).toEqual(fork);
      expect(await line.sku()).toMatchObject({ available: 5, version: 1 });
      expect(await line.project()).toMatchObject({ forks: [] });
    });

    it("that comes late, beside a taking that is asked for again, is no fork", async () => {
      const line = await HotLine.open(subject);
      const taken = takeTicket("withdraw", "o1", 1);
      await line.admit(taken);
      await line.relay();
      line.decide();
      const late = line.news.entries;
      await line.project();
      await line.settle(reserveTicket("r1", { A: 1 }));
      // Takings leave no answer behind, so its units are held until the ledger says: decided.
      expect(await line.words(taken)).toEqual(["admitted"]);
      expect(await line.project({ entries: late })).toEqual(nothing);
      await line.relay();
      line.decide();
      await line.project();
      expect(await line.sku()).toMatchObject({ available: 3, inFlight: 0, stopped: false });
    });

    it("that is behind while its ticket is held here is a fork: no more is sold", async () => {
      const line = await HotLine.open(subject);
      const [first, second] = twoEntries(line);
      await line.project({ entries: [first, second] });
      const ticket = reserveTicket("r1");
      expect(await line.words(ticket)).toEqual(["admitted"]);
      const before = await line.sku();
      // Told again, by another process, it is nothing new.
      expect(await line.project({ entries: [first] })).toEqual(nothing);
      // The ledger went back, and has decided the ticket under a version that was another's.
      const { id, fingerprint, saleId } = ticket;
      const answer = { id, fingerprint, state: "reserved", saleId, skus: [skuId("A")] } as const;
      const back = { ...first, ticketId: id, availableDelta: -1, answer };
      const fork = { ...nothing, forks: [{ sku: "A", version: 3 }] };
      expect(await line.project({ entries: [back] })).toEqual(fork);
      expect(await line.sku()).toEqual({ ...before, stopped: true });
      expect(await line.words(reserveTicket("r2"))).toEqual(["SALE_PAUSED"]);
    });

    it("of a SKU that is not here is said to be missing", async () => {
      const line = await HotLine.open(subject);
      line.say(restock("o1", 3));
      const [entry] = line.news.entries;
      if (entry === undefined) throw new Error();
      const reply = await line.project({ entries: [{ ...entry, sku: skuId("N") }] });
      expect(reply).toEqual({ ...nothing, missing: ["N"] });
    });

    it("tells the gate of units that came back, not of any version", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5, B: 5 } });
      await line.admit(reserveTicket("r1", { A: 1, B: 1 }));
      await line.relay();
      line.decide();
      expect(await line.project()).toEqual(nothing);
      line.say(commands.confirm());
      expect(await line.project()).toEqual(nothing);
      line.say(commands.refund("f1", { B: 1 }));
      expect(await line.project()).toEqual({ ...nothing, gaveBack: ["B"] });
    });
  });

  describe("the decision on a ticket", () => {
    it("takes over what the ticket held, and is remembered", async () => {
      const line = await HotLine.open(subject, { stock: { A: 5, B: 5 } });
      await line.settle(reserveTicket("r1", { A: 2, B: 1 }));
      expect(await line.sku("A")).toMatchObject({ available: 3, inFlight: 0, version: 2 });
      expect(await line.sku("B")).toMatchObject({ available: 4, inFlight: 0, version: 2 });
      expect(await line.observe()).toMatchObject({ tickets: 0 });
      expect(await line.hot.lookup(0, "r1")).toMatchObject({
        kind: "decided",
        answer: { id: "r1", state: "reserved", saleId: "s", skus: ["A", "B"] },
      });
    });

    it("gives back what the ticket held when it was a rejection", async () => {
      const line = await HotLine.open(subject);
      await line.admit(reserveTicket("r1", { A: 5 }));
      line.ledger.decideTicket(takeTicket("withdraw", "o1", 1));
      const before = line.ledger.book.projected;
      await line.relay();
      line.decide();
      await line.project({ entries: before });
      expect(await line.sku()).toMatchObject({ available: -1, inFlight: 5 });
      expect(await line.project()).toMatchObject({ gaveBack: ["A"] });
      expect(await line.sku()).toMatchObject({ available: 4, inFlight: 0 });
      expect(await line.hot.lookup(0, "r1")).toMatchObject({ answer: { state: "rejected" } });
    });

    it("takes what the entry says though its ticket is not here", async () => {
      const line = await HotLine.open(subject);
      line.ledger.decideTicket(reserveTicket("r1", { A: 2 }));
      await line.project({ entries: line.ledger.book.projected });
      expect(await line.sku()).toMatchObject({ available: 3, inFlight: 0 });
    });

    it("gives back all that a ticket of other content held, and takes what it says", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9, B: 9 } });
      line.say(commands.reserve({ A: 2 }));
      await line.admit(reserveTicket("r1", { A: 5, B: 1 }));
      await line.project({ entries: line.news.entries });
      expect(await line.sku("A")).toMatchObject({ available: 7, inFlight: 0 });
      expect(await line.sku("B")).toMatchObject({ available: 8, inFlight: 1 });
      expect(await line.words(reserveTicket("r1", { A: 5, B: 1 }))).toEqual(["KEY_REUSED"]);
      await line.relay();
      line.decide();
      await line.project({ settled: line.news.settled });
      expect(await line.sku("B")).toMatchObject({ available: 9, inFlight: 0 });
      expect(await line.observe()).toMatchObject({ tickets: 0 });
    });

    it.each([
      ["taken", takeTicket("freeze", "o1", 2), { A: 5 }, 3],
      ["refused", takeTicket("freeze", "o1", 2, { ifVersion: 9 }), { A: 5 }, 5],
    ])("on an operator's ticket is heard the same way: %s", async (_, ticket, stock, left) => {
      const line = await HotLine.open(subject, { stock });
      await line.settle(ticket);
      expect(await line.sku()).toMatchObject({ available: left, inFlight: 0 });
      expect(await line.observe()).toMatchObject({ tickets: 0 });
    });
  });

  describe("a ticket that was decided before it came", () => {
    it("is dropped, and its buyer may hold again as before", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9 }, limit: 2 });
      line.say(commands.reserve({ A: 1 }));
      await line.begin();
      await line.relay();
      line.decide();
      await line.hot.load(line.fence, { ...line.ledger.snapshot(), answers: [] });
      line.news = { entries: [], settled: [] };
      expect(await line.words(reserveTicket("r1", { A: 1 }))).toEqual(["admitted"]);
      expect(await line.words(reserveTicket("r2", { A: 1 }))).toEqual(["LIMIT_EXCEEDED"]);
      await line.relay();
      line.decide();
      expect(await line.project()).toEqual({ ...nothing, gaveBack: ["A"] });
      expect(await line.words(reserveTicket("r2", { A: 1 }))).toEqual(["admitted"]);
      expect(await line.words(reserveTicket("r1", { A: 1 }))).toEqual(["replayed reserved"]);
    });

    it("is dropped only where the version that decided it is here", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9, B: 9 } });
      line.say(commands.reserve({ A: 2, B: 2 }));
      const { entries } = line.news;
      await line.admit(reserveTicket("r1", { A: 2, B: 2 }));
      await line.relay();
      line.news = { entries: [], settled: [] };
      line.decide();
      const { settled } = line.news;
      expect(settled).toHaveLength(1);
      expect(await line.project({ settled })).toMatchObject({
        gaps: [
          { sku: "A", version: 1 },
          { sku: "B", version: 1 },
        ],
      });
      expect(await line.sku("A")).toMatchObject({ available: 7, inFlight: 2 });
      await line.project({ entries: entries.filter(({ sku }) => sku === "A") });
      expect(await line.project({ settled })).toMatchObject({ gaps: [{ sku: "B", version: 1 }] });
      expect(await line.sku("A")).toMatchObject({ available: 7, inFlight: 0 });
      expect(await line.sku("B")).toMatchObject({ available: 7, inFlight: 2 });
      await line.project({ entries });
      expect(await line.project({ settled })).toEqual(nothing);
      expect(await line.sku("B")).toMatchObject({ available: 7, inFlight: 0 });
      expect(await line.observe()).toMatchObject({ tickets: 0 });
    });

    it("is dropped at once when no entry decided it: void or early cancel", async () => {
      for (const command of [commands.void(), commands.cancel(true)]) {
        const own = await open();
        const line = await HotLine.open(own);
        await line.admit(reserveTicket("r1", { A: 2 }));
        line.say(command);
        expect(await line.project()).toEqual({ ...nothing, gaveBack: ["A"] });
        expect(await line.sku()).toMatchObject({ available: 5, inFlight: 0 });
        await line.relay();
        line.decide();
        expect(await line.project()).toEqual(nothing);
        await own.hot.close();
      }
    });

    it("says which entries are missing though it holds no such ticket", async () => {
      const line = await HotLine.open(subject);
      line.say(commands.reserve({ A: 2 }));
      line.news = { entries: [], settled: [] };
      line.say(commands.reserve({ A: 2 }));
      const { settled } = line.news;
      expect(await line.project({ settled })).toEqual({
        ...nothing,
        gaps: [{ sku: "A", version: 1 }],
      });
    });

    it("keeps the first answer under its id, whatever is told later", async () => {
      const line = await HotLine.open(subject);
      await line.settle(reserveTicket("r1"));
      const answer = {
        id: "r1",
        fingerprint: null,
        state: "void",
        saleId: null,
        skus: [],
      } as const;
      const settled = [{ lane: 0, id: "r1", answer, versions: new Map() }];
      expect(await line.project({ settled })).toEqual(nothing);
      expect(await line.words(reserveTicket("r1"))).toEqual(["replayed reserved"]);
    });
  });

  describe("the count of a buyer", () => {
    it("follows every entry: held, paid, refunded, expired, revived, in part", async () => {
      const line = await HotLine.open(subject, { stock: { A: 9 }, limit: 2 });
      const free = async (): Promise<number> => {
        const { policies, skus } = await line.observe();
        expect([policies.length, skus.length]).toEqual([1, 1]);
        let units = 0;
        for (const wanted of [1, 2]) {
          const probe = reserveTicket(`probe-${wanted}-${line.ledger.log.length}`, { A: wanted });
          const [word] = await line.words(probe);
          if (word !== "admitted") continue;
          units = wanted;
          line.say({ ...commands.void(), id: probe.id, ticket: probe } as Command);
          await line.project();
          await line.relay();
          line.lane = [];
        }
        return units;
      };
      const steps: [Command, number][] = [
        [commands.confirm(), 0],
        [commands.refund("f1", { A: 1 }), 1],
        [commands.refund("f2", { A: 1 }, false), 2],
      ];
      await line.settle(reserveTicket("r1", { A: 2 }));
      expect(await free()).toBe(0);
      for (const [command, left] of steps) {
        line.say(command);
        await line.project();
        expect(await free()).toBe(left);
      }
      await line.settle(reserveTicket("r2", { A: 2 }));
      line.ledger.pass(60_000);
      line.say({ kind: "expire", id: reserveTicket("r2").id });
      await line.project();
      expect(await free()).toBe(2);
      await line.settle(reviveTicket("r2", "p2", { A: 2 }));
      expect(line.ledger.order("r2").state).toBe("confirmed");
      expect(await free()).toBe(0);
    });
  });
});
