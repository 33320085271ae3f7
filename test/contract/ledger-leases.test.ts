import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { epoch, reservationId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { ledgerAdapters } from "../support/ledger-adapters.ts";
import {
  expire,
  leaseOf,
  openSale,
  reserve,
  saleA,
  skuA,
  wordsOf,
} from "../support/ledger-fixtures.ts";

const wish = { name: "expirer", forMs: 1_000 };

/** Who may act, in every ledger. */
describe.each(ledgerAdapters)("leases: $name", ({ open }) => {
  const clock = new ManualClock();
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await open(clock);
  });
  afterEach(() => ledger.close());

  describe("a lease", () => {
    it("is one holder's until it runs out by the ledger's clock", async () => {
      expect(await ledger.hold("one", [wish])).toEqual([{ name: "expirer", token: 1 }]);
      clock.advance(999);
      expect(await ledger.hold("two", [wish])).toEqual([]);
      clock.advance(1);
      expect(await ledger.hold("two", [wish])).toEqual([{ name: "expirer", token: 2 }]);
      expect(await ledger.hold("one", [wish])).toEqual([]);
    });

    it("keeps its token while its holder prolongs it, late or not", async () => {
      await ledger.hold("one", [wish]);
      for (const ms of [500, 900, 5_000]) {
        clock.advance(ms);
        expect(await ledger.hold("one", [wish])).toEqual([{ name: "expirer", token: 1 }]);
      }
      clock.advance(999);
      expect(await ledger.hold("two", [wish])).toEqual([]);
    });

    it("stands alone among others that are asked for together", async () => {
      await ledger.hold("one", [wish]);
      const wishes = ["rebuilder", "expirer", "relay 0"].map((name) => ({ name, forMs: 1_000 }));
      const held = await ledger.hold("two", wishes);
      expect(held.map(({ name }) => name).sort()).toEqual(["rebuilder", "relay 0"]);
    });

    it("that was given up is free at once, and a stale one gives up nothing", async () => {
      const [first] = await ledger.hold("one", [wish]);
      if (first === undefined) throw new Error("it was free");
      await ledger.release([first]);
      expect(await ledger.hold("two", [wish])).toEqual([{ name: "expirer", token: 2 }]);
      await ledger.release([first]);
      expect(await ledger.hold("one", [wish])).toEqual([]);
      await ledger.releaseAll();
      expect(await ledger.hold("one", [wish])).toEqual([{ name: "expirer", token: 3 }]);
    });

    it("goes to one of many who ask for it at the same time", async () => {
      const holders = Array.from({ length: 12 }, (_, n) => `p${n}`);
      const found = await Promise.all(holders.map((holder) => ledger.hold(holder, [wish])));
      expect(found.flat()).toEqual([{ name: "expirer", token: 1 }]);
    });
  });

  describe("under a stale token", () => {
    async function stale(name: string) {
      const lease = await leaseOf(ledger, name, "one");
      clock.advance(60_000);
      await leaseOf(ledger, name, "two");
      return lease;
    }

    it("nothing of a sweep is written, and the rest of its batch is", async () => {
      await openSale(ledger, { holdMs: 1_000 });
      await ledger.commit([reserve("r1"), reserve("r2")]);
      const lease = await stale("expirer");
      const commit = await ledger.commit([
        { kind: "expire", id: reservationId("r1"), lease },
        expire("r2"),
      ]);
      expect(wordsOf(commit)).toEqual(["stale", "accepted"]);
      expect((await ledger.order(reservationId("r1")))?.order.state).toBe("reserved");
      expect(await ledger.level(skuA)).toMatchObject({ balances: { reserved: 1 } });
    });

    it("a SKU is not stopped", async () => {
      await openSale(ledger);
      const lease = await stale("reconciler");
      const stop = { kind: "sku-status", sku: skuA, to: "stopped", operationId: null } as const;
      const told = { ...stop, actor: "reconciler", reason: "a look" };
      expect(wordsOf(await ledger.commit([{ ...told, lease }]))).toEqual(["stale"]);
      expect(await ledger.level(skuA)).toMatchObject({ status: "normal" });
      expect(wordsOf(await ledger.commit([told]))).toEqual(["accepted"]);
    });

    it("no epoch is given out", async () => {
      const lease = await stale("rebuilder");
      const seen = { lane: 0, epoch: epoch(0) };
      expect(await ledger.nextEpoch(seen, { incarnation: "i", lease })).toBeNull();
      expect(await ledger.lanes()).toMatchObject([{ epoch: 0, incarnation: null }]);
    });

    it("nothing counts as told to the world", async () => {
      await openSale(ledger, { id: saleA, items: { [skuA]: 9 } });
      const lease = await stale("publisher");
      await ledger.published([{ sku: skuA, version: 1 }], lease);
      await ledger.publishedAll(lease);
      expect(await ledger.unpublished(4)).toHaveLength(1);
    });
  });

  describe("the care for a lane", () => {
    it("remembers the first doubt about an epoch until the next one", async () => {
      await openSale(ledger);
      await ledger.doubt({ lane: 0, epoch: epoch(1) }, "drift");
      await ledger.doubt({ lane: 0, epoch: epoch(1) }, "another");
      expect(await ledger.lanes()).toMatchObject([{ epoch: 1, doubt: "drift" }]);
      const lease = await leaseOf(ledger, "rebuilder");
      await ledger.nextEpoch({ lane: 0, epoch: epoch(1) }, { incarnation: "i", lease });
      await ledger.doubt({ lane: 0, epoch: epoch(1) }, "of a past epoch");
      expect(await ledger.lanes()).toMatchObject([{ epoch: 2, doubt: null }]);
      await ledger.doubt({ lane: 0, epoch: epoch(2) }, "again");
      expect(await ledger.lanes()).toMatchObject([{ epoch: 2, doubt: "again" }]);
    });

    it("counts repairs", async () => {
      await ledger.repaired(0, 1);
      await ledger.repaired(0, 3);
      expect(await ledger.lanes()).toMatchObject([{ lane: 0, repairs: 4 }]);
    });
  });
});
