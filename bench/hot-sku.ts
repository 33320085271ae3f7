import { type SaleId, type SkuId, saleId, skuId } from "../src/domain/values.ts";
import { plenty } from "./committed.ts";
import { closedLoop, rateOf } from "./load.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { BrokenInvariant, moveSale, openWorld, prove, requestOf, type World } from "./world.ts";

const waitMs = 30_000;

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
  const sales = await openWideSale(world, count);
  const { buyers } = world.holdfast.engine;
  const tally = await closedLoop({ callers, seconds: scale.seconds }, async (n) => {
    const sku = sales.skus[n % count];
    if (sku === undefined) throw new BrokenInvariant("no SKU");
    const request = requestOf({ saleId: sales.saleId, sku }, n);
    const outcome = await buyers.reserve(request, { waitMs });
    if (!outcome.ok || outcome.value.state !== "reserved") {
      throw new BrokenInvariant("a buyer who should have reserved was refused");
    }
  });
  await prove(world, { sale: null, reserved: null });
  if ((await reservedOf(world, sales.skus)) !== tally.answered)
    throw new BrokenInvariant("answers and units differ");
  return rateOf(tally);
}

type WideSale = { readonly saleId: SaleId; readonly skus: readonly SkuId[] };

async function openWideSale({ holdfast }: World, count: number): Promise<WideSale> {
  const sale = { saleId: saleId("wide"), sku: skuId("wide-0") };
  const skus = Array.from({ length: count }, (_, n) => skuId(`wide-${n}`));
  const made = await holdfast.engine.merchandising.createSale(
    {
      saleId: sale.saleId,
      title: "wide",
      opensAt: null,
      closesAt: null,
      holdSeconds: 3_600,
      limitPerBuyer: null,
      items: skus.map((sku) => ({ sku, stock: plenty })),
    },
    { actor: "bench" },
  );
  if (!made.ok) throw new Error(made.detail);
  await moveSale(holdfast, sale, "open");
  return { saleId: sale.saleId, skus };
}

async function reservedOf({ holdfast }: World, skus: readonly SkuId[]): Promise<number> {
  let reserved = 0;
  for (const sku of skus) {
    reserved += (await holdfast.engine.oversight.level(sku))?.balances.reserved ?? 0;
  }
  return reserved;
}
