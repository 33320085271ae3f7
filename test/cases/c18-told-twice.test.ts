import { expect } from "vitest";
import { Fault } from "../../src/domain/fault.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import type { CloudEvent } from "../../src/outlet/outlet.ts";
import { units } from "../support/at-rest.ts";
import { bent } from "../support/bent-ports.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";

const five = [1, 2, 3, 4, 5];

/** A bus that stores each message five times. */
function repeating(stores: Stores): Stores {
  const { bus } = stores;
  return {
    ...stores,
    bus: bent(bus, {
      publish: async (lane, body) => {
        for (const _ of five) await bus.publish(lane, body);
      },
      // One at a time, so that both consumers have some of the five.
      receive: (lane, options) => bus.receive(lane, { ...options, max: 1 }),
    }),
  };
}

test("C18 (a) an order whose message comes five times, to two, is made once", async () => {
  const shop = await openShop({ stock: { A: 3 }, processes: 2, stores: repeating });
  expect((await shop.reserve("o1", "u1", ["A", 1])).answer).toBe("ok");
  expect((await shop.ledger.counts()).orders).toEqual({ reserved: 1 });
  await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) });
});

/** Fails once, after the call has taken effect or before, when switched on. */
class OneFault {
  isDue = false;

  async around<T>(work: () => Promise<T>, when: "before" | "after"): Promise<T> {
    const isDue = this.isDue;
    this.isDue = false;
    if (isDue && when === "before") throw new Fault("BUS_UNAVAILABLE", "the channel is cut");
    const result = await work();
    if (isDue) throw new Fault("BUS_UNKNOWN", "the channel is cut");
    return result;
  }
}

test.each(["before", "after"] as const)(
  "C18 (b) a channel cut between publishing and deleting (%s it) tells it twice",
  async (when) => {
    const fault = new OneFault();
    const shop = await openShop({
      stock: { A: 3 },
      stores: (stores) => {
        const { hot } = stores;
        const forward: typeof hot.forward = (...asked) =>
          fault.around(() => hot.forward(...asked), when);
        return { ...stores, hot: bent(hot, { forward }) };
      },
    });
    fault.isDue = true;
    expect((await shop.reserve("o1", "u1", ["A", 1])).answer).toBe("ok");
    await shop.settle();
    expect(fault.isDue).toBe(false);
    await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) });
  },
);

test.each(["before", "after"] as const)(
  "C18 (b) a channel cut at the acknowledgement (%s it) decides it once",
  async (when) => {
    const fault = new OneFault();
    const shop = await openShop({
      stock: { A: 3 },
      stores: (stores) => {
        const { bus } = stores;
        const acknowledge: typeof bus.acknowledge = (...asked) =>
          fault.around(() => bus.acknowledge(...asked), when);
        return { ...stores, bus: bent(bus, { acknowledge }) };
      },
    });
    fault.isDue = true;
    expect((await shop.reserve("o1", "u1", ["A", 1])).answer).toBe("ok");
    await shop.settle();
    expect(fault.isDue).toBe(false);
    await shop.atRest({ A: units({ A: 2, R: 1, T: 3 }) });
  },
);

test("C18 (c) a payment told three times at once is booked once, and told on once", async () => {
  const events: CloudEvent[] = [];
  const outlet = {
    deliver: async (batch: readonly CloudEvent[]) => {
      events.push(...batch);
    },
  };
  const shop = await openShop({ stock: { A: 3 }, outlet });
  const { id } = await shop.reserve("o1", "u1", ["A", 1]);
  const told = await Promise.all([shop.pay(id, "p1"), shop.pay(id, "p1"), shop.pay(id, "p1")]);
  expect(told.map(({ answer }) => answer)).toEqual(["ok", "replayed", "replayed"]);
  expect(told.every(({ state }) => state === "confirmed")).toBe(true);
  expect((await shop.view(id)).payments).toMatchObject([{ paymentId: "p1", state: "taken" }]);
  await shop.atRest({ A: units({ A: 2, S: 1, T: 3 }) });
  const paid = events.filter(({ type }) => type === "dev.holdfast.stock.confirm.v1");
  expect(paid).toHaveLength(1);
});
