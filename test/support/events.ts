import { expect } from "vitest";
import { type SkuId, skuId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { CloudEvent, Outlet } from "../../src/outlet/outlet.ts";
import { Publisher } from "../../src/workers/publisher.ts";
import { Stage } from "./stepped.ts";

const all = { after: 0, limit: 1_000, from: null, to: null };

/**
 * The events of a sale that has come so far: of each SKU so many, the first of which is its
 * restock, as the publisher makes them of a ledger.
 */
export async function soldEvents(
  counts: Readonly<Record<string, number>>,
): Promise<readonly CloudEvent[]> {
  const stage = await Stage.open();
  const stock = Object.fromEntries(Object.keys(counts).map((sku) => [sku, 1_000]));
  const process = await stage.started({ stock });
  for (const [sku, count] of Object.entries(counts)) {
    for (let n = 1; n < count; n += 1) await process.reserved(`${sku}-${n}`, { [sku]: 1 });
  }
  const told: CloudEvent[] = [];
  const outlet: Outlet = { deliver: async (events) => void told.push(...events) };
  await stage.leased(new Publisher(process.parts, outlet)).step();
  await stage.ledger.close();
  return told;
}

export function idsOf(events: readonly CloudEvent[]): readonly string[] {
  return events.map(({ id }) => id);
}

/** The first time that each version of a SKU is seen is after that of every smaller one. */
export function expectFirstInOrder(seen: readonly CloudEvent[]): void {
  const last = new Map<SkuId, number>();
  for (const { data, id } of seen) {
    const before = last.get(data.sku) ?? 0;
    expect(data.version, `${id} after version ${before}`).toBeLessThanOrEqual(before + 1);
    last.set(data.sku, Math.max(before, data.version));
  }
}

/** Entries by whether their event is confirmed. */
export async function statusesOf(
  ledger: Ledger,
  skus: readonly string[] = ["A", "B"],
): Promise<{ pending: number; success: number }> {
  const pages = await Promise.all(skus.map((sku) => ledger.entries(skuId(sku), all)));
  const statuses = pages.flat().map(({ publication }) => publication);
  const success = statuses.filter((status) => status === "success").length;
  return { pending: statuses.length - success, success };
}
