import type { SkuRow } from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import type { Instant, Lane, SkuId } from "../domain/values.ts";
import type { Fence, Observation, ObservedSku } from "../hot-stock/hot-stock.ts";
import type { LevelView } from "./engine.ts";
import type { Parts } from "./parts.ts";
import { levelView, type Proof, unproved } from "./views.ts";

/** These SKUs in both stores, in the order asked for; an unknown one is left out. */
export async function viewLevels(parts: Parts, skus: readonly SkuId[]): Promise<LevelView[]> {
  const rows = await parts.ledger.levels(skus);
  const observed = await observeRows(parts, rows);
  const fresh = await parts.ledger.levels(skus);
  const proofs = await proveRows(parts, fresh, observed);
  const views = new Map(
    fresh.map((row) => [row.sku, levelView(row, proofs.get(row.sku) ?? unproved)]),
  );
  return skus.flatMap((sku) => views.get(sku) ?? []);
}

/** By hot stock's own clock. */
type Seen = ObservedSku & { readonly at: Instant };

/** What hot stock says of these SKUs, lane by lane; nothing where it is closed or away. */
async function observeRows(
  parts: Parts,
  rows: readonly SkuRow[],
): Promise<ReadonlyMap<SkuId, Seen>> {
  const byLane = new Map<Lane, SkuId[]>();
  for (const { lane, sku } of rows) {
    const own = byLane.get(lane);
    if (own === undefined) byLane.set(lane, [sku]);
    else own.push(sku);
  }
  const found = new Map<SkuId, Seen>();
  for (const [lane, skus] of byLane) {
    const observation = await observeOpen(parts, lane, skus);
    if (observation === null) continue;
    for (const each of observation.skus) found.set(each.sku, { ...each, at: observation.at });
  }
  return found;
}

/** Null while the lane is closed, or hot stock does not answer. */
export async function observeOpen(
  parts: Parts,
  lane: Lane,
  skus: readonly SkuId[] | null,
): Promise<Observation | null> {
  try {
    const observation = await parts.hot.observe(lane, skus);
    if (!observation.open) return null;
    if (fits(parts.fences.get(lane), observation)) return observation;
    // Another process may have rebuilt the lane, and nobody has asked here since.
    await parts.fences.refresh();
    return fits(parts.fences.get(lane), observation) ? observation : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

function fits(fence: Fence | null, { epoch, incarnation }: Observation): boolean {
  return fence !== null && epoch === fence.epoch && incarnation === fence.incarnation;
}

/**
 * The equation, exactly: hot available + in flight against the ledger's available at the very
 * version that hot stock has. The rows must be read after the observation.
 */
export async function proveRows(
  { ledger }: Parts,
  rows: readonly SkuRow[],
  observed: ReadonlyMap<SkuId, Seen>,
): Promise<ReadonlyMap<SkuId, Proof>> {
  const hots = rows.flatMap((row) => observed.get(row.sku) ?? []);
  const points = await ledger.balancesAt(hots.map(({ sku, version }) => ({ sku, version })));
  const proofs = new Map<SkuId, Proof>();
  const versions = new Map(rows.map((row) => [row.sku, row.version]));
  for (const [index, hot] of hots.entries()) {
    const at = points[index] ?? null;
    const { version, available, inFlight, oldestTicketAt } = hot;
    const drift = at === null ? 0 : available + inFlight - at.balances.available;
    proofs.set(hot.sku, {
      hot: { version, available, inFlight },
      drift,
      behind: Math.max(0, (versions.get(hot.sku) ?? 0) - version),
      oldestTicketSeconds:
        oldestTicketAt === null ? 0 : Math.max(0, hot.at - oldestTicketAt) / 1_000,
    });
  }
  return proofs;
}
