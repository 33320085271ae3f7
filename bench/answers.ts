import { reserve } from "./committed.ts";
import { closedLoop, rateOf } from "./load.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { BrokenInvariant, openSale, openWorld, prove, requestOf } from "./world.ts";

const waitMs = 30_000;

/** Sold out, and the gate closed: what the losers of a rush are told. */
export async function refusedRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: "refused, sold out",
    unit: "answers/s",
    baselineName: null,
    target: null,
  };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const sale = await openSale(world, { name: "gone", stock: 1 });
    await reserve(world, sale, 0);
    const { buyers } = world.holdfast.engine;
    const pairs = await inPairs(
      scale.pairs,
      async () => {
        const tally = await closedLoop({ callers: 256, seconds: scale.seconds }, async (n) => {
          const outcome = await buyers.reserve(requestOf(sale, n + 1), { waitMs });
          if (outcome.ok || outcome.code !== "SOLD_OUT" || outcome.replayed) {
            throw new BrokenInvariant("a sold-out SKU did not answer SOLD_OUT");
          }
        });
        return rateOf(tally);
      },
      null,
    );
    await prove(world, { sale, reserved: 1 });
    return rowOf({ ...plain, note: "256 callers" }, pairs);
  });
}

/** Repeats of keys that were decided: the same reservation, and nothing is taken. */
export async function replayedRow(scale: Scale): Promise<Row> {
  const plain: Plain = { name: "replayed", unit: "answers/s", baselineName: null, target: null };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const { count } = scale;
    const sale = await openSale(world, { name: "again", stock: count });
    await reserveAll(count, (n) => reserve(world, sale, n));
    const { buyers } = world.holdfast.engine;
    const pairs = await inPairs(
      scale.pairs,
      async () => {
        const tally = await closedLoop({ callers: 256, seconds: scale.seconds }, async (n) => {
          const outcome = await buyers.reserve(requestOf(sale, n % count), { waitMs });
          if (!outcome.ok || !outcome.replayed) {
            throw new BrokenInvariant("a repeat was not answered as one");
          }
        });
        return rateOf(tally);
      },
      null,
    );
    await prove(world, { sale, reserved: count });
    return rowOf({ ...plain, note: "256 callers, all keys decided, nothing left on sale" }, pairs);
  });
}

const atOnce = 500;

/** All of them, so many at once. */
export async function reserveAll(count: number, call: (n: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const size = Math.min(atOnce, count - from);
    await Promise.all(Array.from({ length: size }, (_, index) => call(from + index)));
  }
}
