import { setTimeout as sleep } from "node:timers/promises";
import { MemoryHotStock } from "../src/hot-stock/memory.ts";
import { reserveAll } from "./answers.ts";
import { plenty, reserve } from "./committed.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { BrokenInvariant, openSale, openWorld, prove, type World } from "./world.ts";

const patienceMs = 30_000;

/** Ten times as much takes no more than so many times as long. */
const growthMax = 12;

/** Hot stock loses everything beside so many reservations, and beside ten times as many. */
export async function rebuildRows(scale: Scale): Promise<Row[]> {
  const few = await rebuildRow(scale, scale.count * 5);
  const many = await rebuildRow(scale, scale.count * 50);
  const growth: Plain = {
    name: "rebuild, growth",
    unit: "ms",
    baselineName: "a tenth of it open",
    target: { of: "ratio", is: "<=", bound: growthMax },
    note: `linear: 10; ${scale.count * 50} open`,
  };
  const pairs = many.pairs.map(({ ours }, n) => ({ ours, baseline: few.pairs[n]?.ours ?? null }));
  if (pairs.length === 0) return [few, many];
  return [await rebuildRow(scale, scale.count / 2), few, many, rowOf(growth, pairs)];
}

/** From the first look until it is open again. */
async function rebuildRow(scale: Scale, open: number): Promise<Row> {
  const plain: Plain = {
    name: `rebuild, ${open} open`,
    unit: "ms",
    baselineName: null,
    target: null,
  };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const sale = await openSale(world, { name: "lost", stock: plenty });
    await reserveAll(open, (n) => reserve(world, sale, n));
    const pairs = await inPairs(scale.pairs, () => rebuildMs(world), null);
    await prove(world, { sale, reserved: open, repairs: pairs.length });
    return rowOf(plain, pairs);
  });
}

async function rebuildMs({ holdfast, rebuilds }: World): Promise<number> {
  const { hot, fences } = holdfast.parts;
  if (!(hot instanceof MemoryHotStock)) throw new Error("made for hot stock in memory");
  const before = rebuilds.length;
  hot.flush();
  fences.doubt(0, "bench");
  const until = performance.now() + patienceMs;
  while (rebuilds.length === before && performance.now() < until) await sleep(1);
  const ms = rebuilds.at(-1);
  if (rebuilds.length === before || ms === undefined) throw new BrokenInvariant("no rebuild");
  return ms;
}
