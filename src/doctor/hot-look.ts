import { clusterUrl } from "../config-values.ts";
import type { Lane, SkuId } from "../domain/values.ts";
import { Keys } from "../hot-stock/keys.ts";
import { redisPlace } from "./redis.ts";
import { nodeUrls, type StoreUrls } from "./transport.ts";

/**
 * What to type to see a SKU in hot stock as it lies there: its row, and how many buyers it knows.
 * Reading only; never the password. Nothing where hot stock is this process's own memory.
 */
export function hotLookLines(
  { hot, lanes }: StoreUrls,
  { lane, sku }: { readonly lane: Lane; readonly sku: SkuId },
): readonly string[] {
  if (hot.kind === "memory" || lanes === undefined) return [];
  const [node = hot.url] = nodeUrls(hot.url);
  const follow = clusterUrl(hot.url) === null ? "" : "-c ";
  const [stock, buyers] = new Keys(lanes.prefix).sku(lane, sku);
  const at = `redis-cli ${follow}${redisPlace(node)}`;
  return [`${at} hgetall '${stock}'`, `${at} hlen '${buyers}'`];
}
