import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Fault } from "../../../src/domain/fault.ts";
import type { Lane } from "../../../src/domain/values.ts";
import type { Stores } from "../../../src/engine/assemble.ts";
import { PrivateRabbitmq } from "../../../stack/rabbitmq.ts";
import { units } from "../../support/at-rest.ts";
import { bent } from "../../support/bent-ports.ts";
import { openShop, type Shop } from "../../support/shop.ts";

const allowed = ["^.*$", "^.*$", "^.*$"] as const;
/** It may use what is there, and make nothing. */
const makesNothing = ["^$", "^.*$", "^.*$"] as const;

let rabbitmq: PrivateRabbitmq;
beforeAll(async () => {
  rabbitmq = await PrivateRabbitmq.start();
});
afterAll(() => rabbitmq.stop());

afterEach(() => permit(allowed));

async function permit(patterns: readonly string[]): Promise<void> {
  const user = new URL(rabbitmq.url).username;
  await rabbitmq.ctl("set_permissions", "-p", "/", user, ...patterns);
}

async function outboxOf({ first }: Shop): Promise<number> {
  const [flow] = await first.parts.hot.observe(0, []).then((seen) => [seen.outboxLength]);
  return flow ?? 0;
}

function failuresOf({ noted }: Shop): number {
  return noted.filter((line) => line.startsWith("failed relay")).length;
}

test("C14 (a) what the broker confirms without a queue stays unsent, and is told", async () => {
  const shop = await openShop({ stock: { A: 5 }, servers: { rabbitmq: rabbitmq.url } });
  await shop.stopWorkers("ledger-writer");
  await permit(makesNothing);
  await rabbitmq.ctl("delete_queue", `${shop.prefix}.lane-0`);
  const request = { key: "o1", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id, state } = await shop.reserveAt(shop.first, request);
  expect(state).toBe("pending");
  while (failuresOf(shop) < 2) await shop.passes(20);
  expect(await outboxOf(shop)).toBe(1);
  expect((await shop.row("A")).balances).toMatchObject({ available: 5, reserved: 0 });
  await permit(allowed);
  shop.first.start("ledger-writer");
  expect(await shop.levels("A")).toEqual(units({ A: 4, R: 1, T: 5 }));
  expect(await shop.state(id)).toBe("reserved");
  await shop.atRest({ A: units({ A: 4, R: 1, T: 5 }) });
});

/** A bus whose every send throws, though some of them arrive all the same. */
class Throwing {
  isIn = false;
  tries = 0;

  busOf = (stores: Stores): Stores => {
    const { bus } = stores;
    const publish = async (lane: Lane, body: Buffer): Promise<void> => {
      if (!this.isIn) return bus.publish(lane, body);
      this.tries += 1;
      if (this.tries % 2 === 0) await bus.publish(lane, body);
      throw new Fault("BUS_UNKNOWN", "the client threw");
    };
    return { ...stores, bus: bent(bus, { publish }) };
  };
}

test("C14 (b) a client that throws at every send for a while sells each order once", async () => {
  const bus = new Throwing();
  const servers = { rabbitmq: rabbitmq.url };
  const shop = await openShop({ stock: { A: 5 }, servers, stores: bus.busOf });
  bus.isIn = true;
  const { id } = await shop.reserve("o1", "u1", ["A", 1]);
  while (bus.tries < 6) await shop.passes(20);
  bus.isIn = false;
  expect(await shop.levels("A")).toEqual(units({ A: 4, R: 1, T: 5 }));
  expect(await shop.state(id)).toBe("reserved");
  expect((await shop.ledger.counts()).orders).toEqual({ reserved: 1 });
  await shop.atRest({ A: units({ A: 4, R: 1, T: 5 }) });
});
