import { closedLoop, rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import { Recipe } from "./recipe.ts";
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

/** More than any run can sell. */
export const plenty = 1_000_000_000;
const waitMs = 30_000;

const plain: Plain = {
  name: "committed",
  unit: "reservations/s",
  baselineName: "one transaction per order",
  target: { of: "ratio", is: ">=", bound: 5 },
};

/** Buyers in this process: admitted, relayed, decided and flushed in SQLite, answered. */
export async function committedRow(scale: Scale): Promise<Row> {
  return guarded(plain, async () => {
    const short = { ...scale, seconds: scale.seconds / 2 };
    const callers = await best(scale.ourCallers, (count) => committedRate(short, count));
    const recipeCallers = await best(scale.recipeCallers, (count) => recipeRate(short, count));
    const pairs = await inPairs(
      scale.pairs,
      () => committedRate(scale, callers),
      () => recipeRate(scale, recipeCallers),
    );
    const note = `${callers} callers against ${recipeCallers}`;
    return rowOf({ ...plain, note }, pairs);
  });
}

/** The same with a limit per buyer, which the ledger checks again. */
export async function limitedRow(scale: Scale): Promise<Row> {
  const limited: Plain = { ...plain, name: "committed, limit per buyer" };
  return guarded(limited, async () => {
    const [callers = 256] = scale.ourCallers.slice(-2);
    const [recipeCallers = 1] = scale.recipeCallers;
    const pairs = await inPairs(
      scale.pairs,
      () => committedRate(scale, callers, 1),
      () => recipeRate(scale, recipeCallers),
    );
    return rowOf({ ...limited, note: `${callers} callers against ${recipeCallers}` }, pairs);
  });
}

export async function committedRate(
  scale: Scale,
  callers: number,
  limitPerBuyer: number | null = null,
): Promise<number> {
  await using world = await openWorld();
  const sale = await openSale(world, { name: "rush", stock: plenty, limitPerBuyer });
  const tally = await closedLoop({ callers, seconds: scale.seconds }, (n) =>
    reserve(world, sale, n),
  );
  await prove(world, { sale, reserved: tally.answered });
  return rateOf(tally);
}

/** One reservation, answered as reserved. */
export async function reserve(world: World, sale: Sale, n: number): Promise<void> {
  const outcome = await world.holdfast.engine.buyers.reserve(requestOf(sale, n), { waitMs });
  if (outcome.ok && outcome.value.state === "reserved" && !outcome.replayed) return;
  const found = outcome.ok ? outcome.value.state : outcome.code;
  throw new BrokenInvariant(`a buyer who should have reserved was told ${found}`);
}

export async function recipeRate(scale: Scale, callers: number): Promise<number> {
  const recipe = await Recipe.open(plenty);
  try {
    const tally = await closedLoop({ callers, seconds: scale.seconds }, async (n) => {
      if (!(await recipe.order(n))) throw new BrokenInvariant("the recipe refused an order");
    });
    if (recipe.sold() !== tally.answered) throw new BrokenInvariant("the recipe lost an order");
    return rateOf(tally);
  } finally {
    await recipe.close();
  }
}
