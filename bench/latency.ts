import { setTimeout as sleep } from "node:timers/promises";
import { committedRate, plenty, reserve } from "./committed.ts";
import { openLoop } from "./load.ts";
import { guarded, inPairs, median, type Plain, quantile, rowOf, type Scale } from "./pairs.ts";
import { Recipe } from "./recipe.ts";
import type { Row } from "./report.ts";
import { openSale, openWorld, prove } from "./world.ts";

/** Milliseconds from the intended start to the decided answer, at half of the highest rate. */
export async function latencyRows(scale: Scale): Promise<Row[]> {
  const plain = (share: string): Plain => ({
    name: `latency at half rate, ${share}`,
    unit: "ms",
    baselineName: null,
    target: null,
  });
  const callers = scale.ourCallers.at(-1) ?? 1;
  const highest = await committedRate({ ...scale, seconds: scale.seconds / 2 }, callers);
  const perSecond = Math.max(1, Math.round(highest / 2));
  const found: { p50: number; p99: number }[] = [];
  const note = `open loop, ${perSecond} a second`;
  const half = async (): Promise<number> => {
    const latencies = await latenciesAt(scale, perSecond);
    const one = { p50: median(latencies), p99: quantile(latencies, 0.99) };
    found.push(one);
    return one.p50;
  };
  const row = await guarded(plain("p50"), async () =>
    rowOf({ ...plain("p50"), note }, await inPairs(scale.pairs, half, null)),
  );
  if (row.ours === null) return [row];
  const tail = found.map(({ p99 }) => ({ ours: p99, baseline: null }));
  return [row, rowOf({ ...plain("p99"), note }, tail)];
}

async function latenciesAt(scale: Scale, perSecond: number): Promise<number[]> {
  await using world = await openWorld();
  const sale = await openSale(world, { name: "steady", stock: plenty });
  const latencies = await openLoop({ perSecond, seconds: scale.seconds }, (n) =>
    reserve(world, sale, n),
  );
  await prove(world, { sale, reserved: latencies.length });
  return latencies;
}

/** One buyer on an idle system, again and again; medians of each turn. */
export async function loneRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: "a lone request",
    unit: "ms",
    baselineName: "a lone transaction",
    target: null,
  };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const sale = await openSale(world, { name: "alone", stock: plenty });
    const recipe = await Recipe.open(plenty);
    const turn = Math.max(1, Math.floor(scale.count / 20));
    let own = 0;
    let other = 0;
    const pairs = await inPairs(
      scale.pairs,
      () => medianOf(turn, () => reserve(world, sale, own++)),
      () => medianOf(turn, () => recipe.order(other++)),
    );
    await recipe.close();
    await prove(world, { sale, reserved: own });
    return rowOf({ ...plain, note: "lower is better" }, pairs);
  });
}

/** Milliseconds of a call, with a little rest before each. */
export async function medianOf(count: number, call: () => Promise<unknown>): Promise<number> {
  const found: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(2);
    const from = performance.now();
    await call();
    found.push(performance.now() - from);
  }
  return median(found);
}
