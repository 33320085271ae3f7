import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type SkuId, skuId } from "../src/domain/values.ts";
import { reserveAll } from "./answers.ts";
import { plenty, reserve } from "./committed.ts";
import { newMetrics, serve } from "./http.ts";
import { openSale, openSaleOf, openWorld, type Sale, type World } from "./world.ts";

/** As large as a shop's largest: what the console must stay usable with. */
export const shopSize = { skus: 2_000, entries: 100_000 } as const;
export type ShopSize = { readonly skus: number; readonly entries: number };

export type ConsoleShop = AsyncDisposable & {
  readonly url: string;
  readonly world: World;
  /** One sale of many SKUs. */
  readonly wide: { readonly saleId: Sale["saleId"]; readonly skus: readonly SkuId[] };
  /** One SKU of many entries. */
  readonly long: Sale;
  /** The next buyer's number: each is a new one. */
  readonly next: () => number;
};

const stockEach = 1_000;
const folder = fileURLToPath(new URL("../console", import.meta.url));

/** The built console over an engine in this process, filled by the engine's own commands. */
export async function openConsoleShop({ skus, entries }: ShopSize): Promise<ConsoleShop> {
  if (!existsSync(join(folder, "index.html"))) throw new Error("no console: npm run build");
  const metrics = newMetrics();
  const world = await openWorld(metrics);
  const names = Array.from({ length: skus }, (_, n) => skuId(`wide-${String(n).padStart(4, "0")}`));
  const items = names.map((sku) => ({ sku, stock: stockEach }));
  const saleId = await openSaleOf(world, { name: "wide", items });
  const long = await openSale(world, { name: "long", stock: plenty });
  // The first entry is the stock that came in.
  await reserveAll(entries - 1, (n) => reserve(world, long, n));
  const server = await serve(world, metrics, { console: { folder, basePath: "" } });
  let next = entries;
  return {
    url: `http://127.0.0.1:${server.port}`,
    world,
    wide: { saleId, skus: names },
    long,
    next: () => next++,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}
