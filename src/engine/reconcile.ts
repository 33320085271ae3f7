import type { SkuRow } from "../domain/command.ts";
import { buckets } from "../domain/stock.ts";
import type { Lane, SkuId } from "../domain/values.ts";
import type { Observation, ObservedSku } from "../hot-stock/hot-stock.ts";
import type { BalancesAt } from "../ledger/ledger.ts";
import type { ReconciledSku, Reconciliation } from "./engine.ts";
import { observeOpen } from "./levels.ts";
import type { Parts } from "./parts.ts";

/** SKUs looked at before others have a turn: a few milliseconds. */
export const skusPerTurn = 200;

/**
 * Ledger against hot stock, exact under live traffic: hot stock is read in one step, and the
 * ledger at the very versions that were found there. Nothing is given time to settle.
 */
export async function reconcile(parts: Parts): Promise<Reconciliation> {
  const observations = await observeLanes(parts);
  const items: ReconciledSku[] = [];
  let after: string | null = null;
  for (;;) {
    const rows: readonly SkuRow[] = await parts.ledger.levelPage(after, skusPerTurn);
    items.push(...(await compare(parts, rows, observations)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < skusPerTurn) break;
    after = last.sku;
    await parts.turn();
  }
  const { ledger, clock } = parts;
  return {
    at: clock.now(),
    skus: items.length,
    drift: sum(items, ({ drift }) => Math.abs(drift)),
    behind: sum(items, ({ behind }) => behind),
    inFlight: sum(items, ({ inFlight }) => inFlight),
    repairs: sum(await ledger.lanes(), ({ repairs }) => repairs),
    closed: [...observations.values()].filter((each) => each === null).length,
    stopped: items.filter(({ status }) => status === "stopped").length,
    items,
  };
}

type Observed = ReadonlyMap<Lane, LaneView | null>;
type LaneView = { readonly at: number; readonly skus: ReadonlyMap<SkuId, ObservedSku> };

async function observeLanes(parts: Parts): Promise<Observed> {
  const found = new Map<Lane, LaneView | null>();
  for (let lane = 0; lane < parts.lanes; lane += 1) {
    const observation = await observeOpen(parts, lane, null);
    found.set(lane, observation === null ? null : laneView(observation));
  }
  return found;
}

function laneView({ at, skus }: Observation): LaneView {
  return { at, skus: new Map(skus.map((each) => [each.sku, each])) };
}

async function compare(
  { ledger }: Parts,
  rows: readonly SkuRow[],
  observed: Observed,
): Promise<ReconciledSku[]> {
  const hots = rows.map((row) => observed.get(row.lane)?.skus.get(row.sku) ?? null);
  const points = hots.flatMap((hot) => (hot === null ? [] : [hot]));
  const balances = await ledger.balancesAt([...rows, ...points]);
  const at = new Map(points.map((hot, index) => [hot.sku, balances[rows.length + index] ?? null]));
  return rows.map((row, index) => {
    const lane = observed.get(row.lane) ?? null;
    const hot = hots[index] ?? null;
    const item =
      hot === null || lane === null
        ? unobserved(row, lane === null ? "closed" : "missing")
        : observedItem(row, hot, { balances: at.get(row.sku) ?? null, now: lane.at });
    const damaged = row.status !== "stopped" && !isAsItsEntry(row, balances[index] ?? null);
    return damaged ? { ...item, status: "damaged" } : item;
  });
}

/** A row that is not what its last entry left behind was changed by hand. */
function isAsItsEntry(row: SkuRow, entry: BalancesAt | null): boolean {
  if (entry === null || entry.hash !== row.hash) return false;
  return buckets.every((bucket) => entry.balances[bucket] === row.balances[bucket]);
}

function unobserved(row: SkuRow, status: "closed" | "missing"): ReconciledSku {
  return {
    sku: row.sku,
    version: row.version,
    hotVersion: 0,
    behind: row.version,
    hotAvailable: 0,
    inFlight: 0,
    ledgerAvailable: row.balances.available,
    drift: 0,
    oldestTicketSeconds: 0,
    fits: false,
    status: row.status === "stopped" ? "stopped" : status,
  };
}

function observedItem(
  row: SkuRow,
  hot: ObservedSku,
  ledger: { readonly balances: BalancesAt | null; readonly now: number },
): ReconciledSku {
  const at = ledger.balances;
  const drift = at === null ? 0 : hot.available + hot.inFlight - at.balances.available;
  const oldest = hot.oldestTicketAt;
  return {
    sku: row.sku,
    version: row.version,
    hotVersion: hot.version,
    behind: Math.max(0, row.version - hot.version),
    hotAvailable: hot.available,
    inFlight: hot.inFlight,
    ledgerAvailable: at?.balances.available ?? row.balances.available,
    drift,
    oldestTicketSeconds: oldest === null ? 0 : Math.max(0, ledger.now - oldest) / 1000,
    fits: at !== null && at.hash === hot.hash,
    status: statusOf(row, hot, at, drift),
  };
}

/**
 * A version that the ledger does not have, or another hash at the same one: the ledger went
 * back. That is never repaired by machine.
 */
function statusOf(
  row: SkuRow,
  hot: ObservedSku,
  at: BalancesAt | null,
  drift: number,
): ReconciledSku["status"] {
  if (row.status === "stopped") return "stopped";
  if (at === null) return "ahead";
  if (at.hash !== hot.hash) return "forked";
  if (drift !== 0) return "drift";
  // By a fork that is no more, or never was: a rebuild opens it.
  if (hot.stopped && hot.statusRevision === row.statusRevision) return "halted";
  return row.version > hot.version ? "behind" : "ok";
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
