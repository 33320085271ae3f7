import type { HotStock } from "../src/hot-stock/hot-stock.ts";
import { plenty } from "./committed.ts";
import type { Servers } from "./stack-servers.ts";
import { BrokenInvariant, openSale, openWorldOn, type Sale, type World } from "./world.ts";

/** A sale on Redis that is open, and a process that only admits: its tickets stay in flight. */
export type Undrained = AsyncDisposable & {
  readonly world: World;
  readonly sale: Sale;
  readonly lane: number;
  /** Somebody does the rest: all that was admitted is decided, told to hot stock, and proved. */
  openDraining(): Promise<World>;
};

export async function openUndrained(servers: Servers): Promise<Undrained> {
  await servers.redis.plain.flushall();
  const { url } = servers.redis;
  const stores = { ledgerUrl: await servers.freshDatabase(), hotUrl: url, busUrl: url };
  const sale = await openedSale(stores);
  const world = await openWorldOn({ ...stores, roles: ["api"] });
  const lane = (await world.holdfast.ledger.sale(sale.saleId))?.lane ?? 0;
  const openDraining = () => openWorldOn(stores);
  return { world, sale, lane, openDraining, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
}

/** A lane opens only with somebody to empty it, who leaves when the sale is open. */
export async function openedSale(stores: Parameters<typeof openWorldOn>[0]): Promise<Sale> {
  await using whole = await openWorldOn(stores);
  return await openSale(whole, { name: "rush", stock: plenty });
}

/** Each ticket is held once, and its unit is off the stock. */
export async function proveHeld(
  hot: HotStock,
  { sale, lane, count }: { readonly sale: Sale; readonly lane: number; readonly count: number },
): Promise<void> {
  const { tickets, outboxLength, skus } = await hot.observe(lane, [sale.sku]);
  const [level] = skus;
  const isWhole =
    tickets === count &&
    outboxLength >= count &&
    level?.inFlight === count &&
    level.available === plenty - count;
  if (!isWhole) throw new BrokenInvariant(`${count} were admitted, hot stock holds ${tickets}`);
}
