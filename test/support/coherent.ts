import { expect } from "vitest";
import type { SkuRow } from "../../src/domain/command.ts";
import { entryHash, genesisHash, type LedgerEntry } from "../../src/domain/entry.ts";
import {
  type Balances,
  buckets,
  noUnits,
  type Operation,
  totalOf,
} from "../../src/domain/stock.ts";
import type { BuyerId, SaleId } from "../../src/domain/values.ts";
import type { HotStock, Observation } from "../../src/hot-stock/hot-stock.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { PureLedger } from "./pure-ledger.ts";

export type OwnedEntry = LedgerEntry & {
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
};

/** Both stores at one moment, as far as the promises speak of them. */
export type World = {
  readonly rows: readonly SkuRow[];
  /** Of all SKUs; of each in version order. */
  readonly entries: readonly OwnedEntry[];
  /** Of the lanes whose hot stock is open, taken before the rows. */
  readonly hot: readonly Observation[];
  readonly limits: ReadonlyMap<SaleId, number | null>;
};

/**
 * All invariants: buckets conserve and none is negative; the chain holds; invariant I; each order
 * is settled once; each buyer is within the limit at every version. Written from the promises
 * and not from the rules: it shares no arithmetic with them.
 */
export function expectCoherent(world: World): void {
  expect(faultsOf(world)).toEqual([]);
}

/** What does not hold, in words. */
export function faultsOf(world: World): string[] {
  const skus = new Map(world.rows.map((row) => [row.sku, row]));
  const logs = new Map(world.rows.map((row): [string, OwnedEntry[]] => [row.sku, []]));
  for (const entry of world.entries) logs.get(entry.sku)?.push(entry);
  const faults = [...skus.values()].flatMap((row) => bucketFaults(row, logs.get(row.sku) ?? []));
  for (const observation of world.hot) {
    for (const seen of observation.skus) {
      const log = logs.get(seen.sku);
      if (log === undefined) faults.push(`hot stock has ${seen.sku}, the ledger has not`);
      else faults.push(...equationFaults(seen, log));
    }
  }
  for (const log of logs.values()) faults.push(...orderFaults(log), ...limitFaults(world, log));
  return faults;
}

const from: Readonly<Record<Operation, readonly [string, string] | null>> = {
  restock: ["supply", "available"],
  withdraw: ["available", "supply"],
  adjust_up: ["supply", "available"],
  adjust_down: ["available", "supply"],
  reserve: ["available", "reserved"],
  reject: null,
  confirm: ["reserved", "sold"],
  revive: ["available", "sold"],
  cancel: ["reserved", "available"],
  expire: ["reserved", "available"],
  refund: ["sold", "available"],
  refund_lost: ["sold", "lost"],
  freeze: ["available", "frozen"],
  unfreeze: ["frozen", "available"],
  count_found: ["frozen", "available"],
  count_lost: ["frozen", "lost"],
  count_surplus: ["supply", "available"],
};

function bucketFaults(row: SkuRow, log: readonly OwnedEntry[]): string[] {
  const faults: string[] = [];
  const sums: Record<string, number> = { ...noUnits, supply: 0 };
  let previous: { version: number; hash: string } = { version: 0, hash: genesisHash };
  for (const entry of log) {
    const where = `${row.sku}@${entry.version} ${entry.operation}`;
    const path = from[entry.operation];
    if (path !== null) {
      sums[path[0]] = (sums[path[0]] ?? 0) - entry.quantity;
      sums[path[1]] = (sums[path[1]] ?? 0) + entry.quantity;
    }
    if (entry.version !== previous.version + 1) faults.push(`${where}: a gap before it`);
    if (entry.previousHash !== previous.hash) faults.push(`${where}: not chained`);
    if (entry.hash !== entryHash(entry)) faults.push(`${where}: its hash is of something else`);
    faults.push(...differences(where, sums, entry.after));
    previous = entry;
  }
  if (row.version !== previous.version) faults.push(`${row.sku}: at ${row.version}, not its log's`);
  if (totalOf(row.balances) + (sums["supply"] ?? 0) !== 0) faults.push(`${row.sku}: units made up`);
  return [...faults, ...differences(row.sku, sums, row.balances)];
}

function differences(
  where: string,
  sums: Readonly<Record<string, number>>,
  found: Balances,
): string[] {
  return buckets.flatMap((bucket) => {
    const units = found[bucket];
    if (units < 0) return [`${where}: ${bucket} is ${units}`];
    return units === sums[bucket] ? [] : [`${where}: ${bucket} is ${units}, not ${sums[bucket]}`];
  });
}

/** Invariant I: hot available = the ledger's at the hot version, less what is in flight. */
function equationFaults(seen: Observation["skus"][number], log: readonly OwnedEntry[]): string[] {
  const { sku, version, available, inFlight, hash } = seen;
  const at = version === 0 ? null : log[version - 1];
  if (at === undefined) return [`${sku}: hot stock is at ${version}, the ledger is not`];
  const expected = at?.after.available ?? 0;
  const faults: string[] = [];
  if (available + inFlight !== expected) {
    faults.push(`${sku}@${version}: hot ${available} + ${inFlight} in flight, not ${expected}`);
  }
  if (hash !== (at?.hash ?? genesisHash)) faults.push(`${sku}@${version}: another hash`);
  return faults;
}

/** An order is decided once in a SKU, leaves once, and gives back no more than was sold. */
function orderFaults(log: readonly OwnedEntry[]): string[] {
  const faults: string[] = [];
  const orders = new Map<string, { begun: number; held: number; sold: number }>();
  for (const { reservationId: id, operation, operationId, quantity } of log) {
    if (id === null) continue;
    const order = orders.get(id) ?? { begun: 0, held: 0, sold: 0 };
    orders.set(id, order);
    const path = from[operation];
    if (operation === "reserve" || (operation === "reject" && operationId === "")) order.begun += 1;
    if (path?.[1] === "reserved") order.held += quantity;
    if (path?.[0] === "reserved") order.held -= quantity;
    if (path?.[1] === "sold") order.sold += quantity;
    if (path?.[0] === "sold") order.sold -= quantity;
    if (order.begun !== 1) faults.push(`order ${id}: decided ${order.begun} times`);
    if (order.held < 0 || order.sold < 0) faults.push(`order ${id}: settled twice`);
  }
  return faults;
}

function limitFaults({ limits }: World, log: readonly OwnedEntry[]): string[] {
  const faults: string[] = [];
  const units = new Map<string, number>();
  for (const { sku, version, saleId, buyerId, operation, quantity } of log) {
    const limit = saleId === null ? null : (limits.get(saleId) ?? null);
    const path = from[operation];
    if (limit === null || buyerId === null || path === null) continue;
    const owned = (place: string): number => (place === "reserved" || place === "sold" ? 1 : 0);
    const key = `${saleId} ${buyerId}`;
    const now = (units.get(key) ?? 0) + quantity * (owned(path[1]) - owned(path[0]));
    units.set(key, now);
    if (now > limit) faults.push(`${sku}@${version}: ${buyerId} has ${now}, the limit is ${limit}`);
  }
  return faults;
}

/** The world of a process: its stores, whatever adapters they are. */
export async function worldOf(parts: {
  readonly ledger: Ledger;
  readonly hot: HotStock;
  readonly lanes: number;
}): Promise<World> {
  const { ledger, hot, lanes } = parts;
  const observed: Observation[] = [];
  for (let lane = 0; lane < lanes; lane += 1) observed.push(await hot.observe(lane, null));
  const rows = await ledger.levelPage(null, 10_000);
  const query = { after: 0, limit: 100_000, from: null, to: null };
  const entries: OwnedEntry[] = [];
  for (const { sku } of rows) entries.push(...(await ledger.entries(sku, query)));
  const sales = await ledger.sales({ after: null, limit: 10_000 });
  return {
    rows,
    entries,
    hot: observed.filter(({ open }) => open),
    limits: new Map(sales.map(({ saleId, limitPerBuyer }) => [saleId, limitPerBuyer])),
  };
}

/** The world of a hot stock beside the rules alone. */
export function worldBeside(ledger: PureLedger, hot: readonly Observation[]): World {
  const { book, log } = ledger;
  return {
    rows: [...book.skus.values()],
    entries: log.map((entry) => {
      const order = book.orders.get(entry.reservationId ?? "");
      return { ...entry, saleId: order?.saleId ?? null, buyerId: order?.buyerId ?? null };
    }),
    hot: hot.filter(({ open }) => open),
    limits: new Map([...book.sales.values()].map((sale) => [sale.saleId, sale.limitPerBuyer])),
  };
}
