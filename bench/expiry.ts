import { setTimeout as sleep } from "node:timers/promises";
import { reserveAll } from "./answers.ts";
import { guarded, type Plain, quantile, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import {
  BrokenInvariant,
  openSale,
  openWorld,
  prove,
  requestOf,
  type Sale,
  type World,
} from "./world.ts";

const plain: Plain = {
  name: "expiry lag, p99",
  unit: "ms",
  baselineName: null,
  target: { of: "value", is: "<=", bound: 1_000 },
};
const waitMs = 30_000;
const patienceMs = 30_000;

/** From the deadline of a hold to the entry that ended it; holds end over about a second. */
export async function expiryRow(scale: Scale): Promise<Row> {
  return guarded(plain, async () => {
    const lags: number[] = [];
    await using world = await openWorld({ expired: (_count, lagMs) => lags.push(lagMs) });
    const sale = await openSale(world, { name: "brief", stock: scale.count, holdSeconds: 1 });
    await reserveSlowly(world, sale, scale);
    const until = performance.now() + patienceMs;
    while (lags.length < scale.count && performance.now() < until) await sleep(20);
    if (lags.length !== scale.count) {
      throw new BrokenInvariant(`${lags.length} of ${scale.count} holds expired`);
    }
    await prove(world, { sale, reserved: 0 });
    const note = `${scale.count} holds; p50 ${quantile(lags, 0.5).toFixed(0)} ms`;
    return rowOf({ ...plain, note }, [{ ours: quantile(lags, 0.99), baseline: null }]);
  });
}

async function reserveSlowly(world: World, sale: Sale, scale: Scale): Promise<void> {
  const turns = 20;
  const size = Math.ceil(scale.count / turns);
  const { buyers } = world.holdfast.engine;
  for (let turn = 0; turn < turns; turn += 1) {
    const from = turn * size;
    const count = Math.min(size, scale.count - from);
    await reserveAll(Math.max(0, count), async (n) => {
      const outcome = await buyers.reserve(requestOf(sale, from + n), { waitMs });
      // On a busy machine a short hold may be over when its answer comes.
      if (!outcome.ok) throw new BrokenInvariant(`a buyer was told ${outcome.code}`);
    });
    await sleep(50);
  }
}
