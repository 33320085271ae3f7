import { epoch, type SkuId, saleId, skuId } from "../domain/values.ts";
import type { Observation, ObservedSku } from "./hot-stock.ts";
import { type RedisLane, skuArguments } from "./redis-lane.ts";
import { numberOrNull, saleOrNull } from "./redis-words.ts";

const skusMax = 300;
const policiesMax = "10000";
const idsMax = "2000";

/** Each SKU in one step with the lane that it stands in; very many SKUs in several such steps. */
export async function observeLane(
  lane: RedisLane,
  wanted: readonly SkuId[] | null,
): Promise<Observation> {
  const skus = wanted ?? (await lane.skus());
  let seen = await observePart(lane, skus.slice(0, skusMax));
  for (let at = skusMax; at < skus.length; at += skusMax) {
    const more = await observePart(lane, skus.slice(at, at + skusMax));
    // A rebuild came between: what stood before it says nothing any more.
    const isSame = more.epoch === seen.epoch && more.open === seen.open;
    seen = isSame ? { ...more, skus: [...seen.skus, ...more.skus] } : more;
  }
  return seen;
}

async function observePart(lane: RedisLane, skus: readonly SkuId[]): Promise<Observation> {
  const args = [policiesMax, idsMax, ...skuArguments(skus)];
  const { server, words } = await lane.read("observe", args, skus);
  const [replication = "", stamp, open, at, length, oldest, tickets, voids, ...facts] = words;
  const found = numberOrNull(stamp);
  const rows = facts.map((fact) => fact.split(" "));
  const bySku = new Map(rows.filter(([kind]) => kind === "SKU").map((row) => [row[1], row]));
  return {
    lane: lane.lane,
    incarnation: server.incarnationAt(replication),
    epoch: found === null ? null : epoch(found),
    open: open === "1",
    at: Number(at),
    outboxLength: Number(length),
    outboxOldestAt: numberOrNull(oldest),
    tickets: Number(tickets),
    voids: Number(voids),
    skus: skus.flatMap((sku) => {
      const row = bySku.get(sku);
      return row === undefined ? [] : [observedSku(row)];
    }),
    policies: rows
      .filter(([kind]) => kind === "SALE")
      .map(([, sale, revision]) => ({ saleId: saleId(sale), revision: Number(revision) })),
  };
}

function observedSku(row: readonly string[]): ObservedSku {
  const [, sku, version, hash = "", available, overlay, oldest, stopped, revision, sale] = row;
  return {
    sku: skuId(sku),
    version: Number(version),
    hash,
    available: Number(available),
    inFlight: Number(overlay),
    oldestTicketAt: numberOrNull(oldest),
    stopped: stopped === "1",
    statusRevision: Number(revision),
    saleId: saleOrNull(sale),
  };
}
