import { expect } from "vitest";
import { openEnvelope } from "../../src/domain/message.ts";
import type { Lane } from "../../src/domain/values.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import { units } from "../support/at-rest.ts";
import { bent } from "../support/bent-ports.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";

/** What stood in the ledger's row at every millisecond. */
function watchLedger(shop: Shop, sku: string): string[] {
  const seen: string[] = [];
  shop.time.eachTick(() => {
    void shop.row(sku).then(({ balances: { available, reserved } }) => {
      seen.push(`A=${available} R=${reserved}`);
    });
  });
  return seen;
}

test("C21 (a) a cancel that comes before its order ends it before it began", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const id = shop.idOf("o1", "u1");
  const seen = watchLedger(shop, "A");
  expect(await shop.cancel(id)).toMatchObject({ answer: "ok", state: "cancelled" });
  const late = await shop.reserve("o1", "u1", ["A", 2]);
  expect(late).toMatchObject({ answer: "replayed", state: "cancelled", id });
  expect(await shop.levels("A")).toEqual(units({ A: 5, T: 5 }));
  expect(await shop.cancel(id)).toMatchObject({ answer: "replayed", state: "cancelled" });
  await shop.atRest({ A: units({ A: 5, T: 5 }) });
  expect([...new Set(seen)]).toEqual(["A=5 R=0"]);
});

/** A bus on which the orders are overtaken by everything else until `letThrough`. */
class Overtaken {
  #held: (() => Promise<void>)[] = [];
  isHolding = false;

  busOf = (stores: Stores): Stores => {
    const { bus, messageKeys } = stores;
    const publish = async (lane: Lane, body: Buffer): Promise<void> => {
      const { items } = openEnvelope(body, messageKeys);
      const isOrder = items.some(({ kind }) => kind === "ticket");
      if (!this.isHolding || !isOrder) return bus.publish(lane, body);
      this.#held.push(() => bus.publish(lane, body));
    };
    return { ...stores, bus: bent(bus, { publish }) };
  };

  async letThrough(): Promise<void> {
    this.isHolding = false;
    for (const publish of this.#held.splice(0)) await publish();
  }
}

test("C21 (a) a cancel that overtakes its order on the bus stands", async () => {
  const bus = new Overtaken();
  const shop = await openShop({ stock: { A: 5 }, stores: bus.busOf });
  bus.isHolding = true;
  const seen = watchLedger(shop, "A");
  const request = { key: "o1", buyer: "u1", cart: [["A", 2]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  expect(await shop.cancel(id)).toMatchObject({ answer: "ok", state: "cancelled" });
  await bus.letThrough();
  expect(await shop.levels("A")).toEqual(units({ A: 5, T: 5 }));
  expect(await shop.cancel(id)).toMatchObject({ answer: "replayed", state: "cancelled" });
  await shop.atRest({ A: units({ A: 5, T: 5 }) });
  expect([...new Set(seen)]).toEqual(["A=5 R=0"]);
});

test("C21 (b) cancelling an order that was refused moves nothing", async () => {
  const shop = await openShop({ stock: { A: 1 } });
  await shop.reserve("o1", "u1", ["A", 1]);
  expect((await shop.reserve("o2", "u2", ["A", 1])).answer).toBe("SOLD_OUT");
  expect((await shop.cancel(shop.idOf("o2", "u2"))).state).toBe("cancelled");
  expect(await shop.levels("A")).toEqual(units({ R: 1, T: 1 }));

  // The same for one that only the ledger refused.
  await shop.stopWorkers("reconciler");
  await shop.hand.editHot("A", (sku) => {
    sku.available += 1;
  });
  const third = await shop.reserve("o3", "u3", ["A", 1]);
  expect(third).toMatchObject({ answer: "SOLD_OUT", state: "rejected" });
  expect(await shop.cancel(third.id)).toMatchObject({ answer: "WRONG_STATE", state: "rejected" });
  shop.first.start("reconciler");
  await shop.passes(2_000);
  await shop.atRest({ A: units({ R: 1, T: 1 }) }, { repairs: 1, lateRefusals: 1 });
});

test("C21 (c) a payment before its order is told to come back, and is not lost", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  await shop.stopWorkers("relay");
  const request = { key: "o1", buyer: "u1", cart: [["A", 2]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  const early = await shop.pay(id, "p1");
  expect(early).toMatchObject({ answer: "WRONG_STATE" });
  shop.first.start("relay");
  await shop.settle();
  expect((await shop.pay(id, "p1")).state).toBe("confirmed");
  await shop.atRest({ A: units({ A: 3, S: 2, T: 5 }) });
});

test("C21 (c) a payment for an order that was lost on its way is due back", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  await shop.stopWorkers("relay");
  const request = { key: "o1", buyer: "u1", cart: [["A", 2]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, request);
  await shop.kill({ hot: "is lost" });
  await shop.addProcess();
  await shop.isOpen();
  expect((await shop.pay(id, "p1")).answer).toBe("WRONG_STATE");
  await shop.settle();
  const told = await shop.pay(id, "p1");
  expect(told).toMatchObject({ answer: "REFUND_DUE", state: "void" });
  expect(told.view?.refundDue).toMatchObject([{ paymentId: "p1", state: "due" }]);
  await shop.atRest({ A: units({ A: 5, T: 5 }) }, { voids: 1 });
});
