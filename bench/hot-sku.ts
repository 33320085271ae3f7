import { skuId } from "../src/domain/values.ts";
import { plenty } from "./committed.ts";
import { closedLoop, rateOf } from "./load.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import {
  BrokenInvariant,
  openSaleOf,
  openWorld,
  prove,
  requestOf,
  type Sale,
  type World,
} from "./world.ts";

const waitMs = 30_000;
/** Of one sale. */
const skusMax = 2_000;
const pageMax = 1_000;

/** Many SKUs side by side against one hot one: what splitting a SKU into shares could win. */
export async function hotSkuRows(scale: Scale): Promise<Row[]> {
  const rows: Row[] = [];
  for (const skus of [2, 4, 16]) rows.push(await spreadRow(scale, skus));
  return rows;
}

export async function spreadRow(scale: Scale, skus: number): Promise<Row> {
  const plain: Plain = {
    name: `committed, spread over ${skus} SKUs`,
    unit: "reservations/s",
    baselineName: "one SKU",
    target: null,
  };
  return guarded(plain, async () => {
    const callers = scale.ourCallers.at(-1) ?? 1;
    const pairs = await inPairs(
      scale.pairs,
      () => spreadRate(scale, callers, skus),
      () => spreadRate(scale, callers, 1),
    );
    return rowOf({ ...plain, note: `${callers} callers` }, pairs);
  });
}

async function spreadRate(scale: Scale, callers: number, count: number): Promise<number> {
  await using world = await openWorld();
  const sold = await openWideSales(world, count);
  const { buyers } = world.holdfast.engine;
  const tally = await closedLoop({ callers, seconds: scale.seconds }, async (n) => {
    const sale = sold[n % count];
    if (sale === undefined) throw new BrokenInvariant("no SKU");
    const outcome = await buyers.reserve(requestOf(sale, n), { waitMs });
    if (!outcome.ok || outcome.value.state !== "reserved") {
      throw new BrokenInvariant("a buyer who should have reserved was refused");
    }
  });
  await prove(world, { sale: null, reserved: null });
  if ((await reservedOf(world)) !== tally.answered) {
    throw new BrokenInvariant("answers and units differ");
  }
  return rateOf(tally);
}

/** So many SKUs, in as many sales as they need, in the order of their sales. */
async function openWideSales(world: World, count: number): Promise<readonly Sale[]> {
  const sold: Sale[] = [];
  for (let from = 0; from < count; from += skusMax) {
    const size = Math.min(skusMax, count - from);
    const items = Array.from({ length: size }, (_, n) => {
      return { sku: skuId(`wide-${from + n}`), stock: plenty };
    });
    const id = await openSaleOf(world, { name: `wide-${from}`, items });
    sold.push(...items.map(({ sku }) => ({ saleId: id, sku })));
  }
  return sold;
}

async function reservedOf({ holdfast }: World): Promise<number> {
  let reserved = 0;
  let page = await holdfast.parts.ledger.levelPage(null, pageMax);
  while (page.length > 0) {
    reserved += page.reduce((sum, { balances }) => sum + balances.reserved, 0);
    page = await holdfast.parts.ledger.levelPage(page.at(-1)?.sku ?? null, pageMax);
  }
  return reserved;
}
