import { setTimeout as sleep } from "node:timers/promises";
import { committedRate, plenty, reserve } from "./committed.ts";
import { openLoop } from "./load.ts";
import { guarded, median, type Plain, quantile, rowOf, type Scale } from "./pairs.ts";
import { Recipe } from "./recipe.ts";
import type { Pair, Row } from "./report.ts";
import { BrokenInvariant, openSale, openWorld, prove } from "./world.ts";

/**
 * Milliseconds from the intended start to the decided answer, at half of the highest rate: the
 * tail against the middle, and against the tail of the recipe at the same rate.
 */
export async function latencyRows(scale: Scale): Promise<Row[]> {
  const plain = { name: "latency at half rate, p99", unit: "ms" } as const;
  const callers = scale.ourCallers.at(-1) ?? 1;
  const highest = await committedRate({ ...scale, seconds: scale.seconds / 2 }, callers);
  const perSecond = Math.max(1, Math.round(highest / 2));
  const note = `open loop, ${perSecond} a second; lower is better`;
  const versusMiddle: Plain = {
    ...plain,
    baselineName: "its p50",
    target: { of: "ratio", is: "<=", bound: 3 },
    note,
  };
  const found: number[][] = [];
  const row = await guarded(versusMiddle, async () => {
    for (let n = 0; n < scale.pairs; n += 1) found.push(await latenciesAt(scale, perSecond));
    const pairs = found.map((each) => ({ ours: quantile(each, 0.99), baseline: median(each) }));
    return rowOf(versusMiddle, pairs);
  });
  if (row.ours === null) return [row];
  const versusRecipe: Plain = {
    ...plain,
    baselineName: "the recipe's at that rate",
    target: { of: "ratio", is: "<", bound: 1 },
    note,
  };
  const pairs: Pair[] = [];
  for (const each of found) {
    const baseline = quantile(await recipeLatenciesAt(scale, perSecond), 0.99);
    pairs.push({ ours: quantile(each, 0.99), baseline });
  }
  return [row, rowOf(versusRecipe, pairs)];
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

async function recipeLatenciesAt(scale: Scale, perSecond: number): Promise<number[]> {
  const recipe = await Recipe.open(plenty);
  try {
    return await openLoop({ perSecond, seconds: scale.seconds }, async (n) => {
      if (!(await recipe.order(n))) throw new BrokenInvariant("the recipe refused an order");
    });
  } finally {
    await recipe.close();
  }
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
