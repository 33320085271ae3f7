import { expect } from "vitest";
import type { LedgerEntry } from "../../src/domain/entry.ts";
import type { ReservationState } from "../../src/domain/reservation.ts";
import { availableDelta, buckets, moves } from "../../src/domain/stock.ts";
import type { ReservationId, SkuId } from "../../src/domain/values.ts";
import type { LevelView } from "../../src/engine/engine.ts";
import type { EntryRow } from "../../src/ledger/ledger.ts";
import type { Shop } from "./shop.ts";

/** Available, reserved, sold, lost, total: as the ledger has them, and hot stock agrees. */
export type Levels = Readonly<Record<"A" | "R" | "S" | "L" | "T", number>>;

/** What is not named is 0. */
export function units(some: Partial<Levels> & { readonly T: number }): Levels {
  return { A: 0, R: 0, S: 0, L: 0, ...some };
}

export type RestOptions = {
  /** Repairs that the case called for by damaging hot stock or losing messages. */
  readonly repairs?: number;
  /** Admitted orders and late payments that the ledger refused, where hot stock was wrong. */
  readonly lateRefusals?: number;
  /** Orders that ended as void, where their message was lost or never understood. */
  readonly voids?: number;
  /** Alarms, dead letters, stopped SKUs: what an operator was called for. */
  readonly calls?: number;
  /** SKUs that were stopped, by the case or for its damage. */
  readonly stopped?: readonly string[];
  /** False where the case damaged the ledger by hand. */
  readonly proven?: boolean;
};

/** Virtual time in which the continuous check runs at least twice: it must find nothing to do. */
const checkedMs = 1_100;

/** What must hold at the end of every case, whatever happened in it. */
export async function expectAtRest(
  shop: Shop,
  expected: Readonly<Record<string, Levels>>,
  options: RestOptions,
): Promise<void> {
  const { repairs = 0, stopped = [], proven = true, calls = 0, voids = 0 } = options;
  await shop.settle();
  const levels = await shop.first.engine.oversight.levels({ after: null, limit: 10_000 });
  const found = Object.fromEntries(levels.map((level) => [level.sku, coherent(level)]));
  expect(found).toMatchObject(expected);
  await shop.passes(checkedMs);
  const { oversight } = shop.first.engine;
  const report = await oversight.reconciliation();
  const quiet = { drift: 0, behind: 0, inFlight: 0, closed: 0, stopped: stopped.length };
  expect(report).toMatchObject(quiet);
  expect(await repairsOf(shop)).toBe(repairs);
  expect(callsOf(shop)).toHaveLength(calls);
  for (const { sku, status } of report.items) {
    expect([sku, status]).toEqual([sku, stopped.includes(sku) ? "stopped" : "ok"]);
  }
  if (!proven) return;
  expect(await oversight.verify(null)).toMatchObject({ ok: true, firstBroken: null });
  const skus = report.items.map(({ sku }) => sku);
  expect(await shop.ledger.bucketDamage(skus)).toEqual([]);
  const entries: EntryRow[] = [];
  for (const { sku, total } of levels) {
    const own = await entriesOf(shop, sku);
    expect(suppliedBy(own)).toBe(total);
    entries.push(...own);
  }
  const refused = entries.filter(({ operation }) => operation === "reject");
  expect(refused).toHaveLength(options.lateRefusals ?? 0);
  expect((await shop.ledger.counts()).orders.void ?? 0).toBe(voids);
  await expectOneMovementAStep(shop, entries);
}

/** By all processes that ever ran. */
async function repairsOf({ ledger }: Shop): Promise<number> {
  const lanes = await ledger.lanes();
  return lanes.reduce((sum, { repairs }) => sum + repairs, 0);
}

/** What an operator was called for; a failed step is tried again and calls nobody. */
function callsOf({ noted }: Shop): readonly string[] {
  return noted.filter((line) => !line.startsWith("failed"));
}

export async function levelsOf({ first }: Shop, sku: SkuId): Promise<Levels> {
  const level = await first.engine.oversight.level(sku);
  if (level === null) throw new Error(`SKU ${sku} is not in the ledger`);
  return coherent(level);
}

/** Integers of at least zero that add up, and hot stock says the same. */
function coherent(level: LevelView): Levels {
  const { available, reserved, sold, frozen, lost } = level.balances;
  for (const bucket of buckets) {
    expect(Number.isSafeInteger(level.balances[bucket])).toBe(true);
    expect(level.balances[bucket]).toBeGreaterThanOrEqual(0);
  }
  expect(available + reserved + sold + frozen + lost).toBe(level.total);
  expect(level.hot).toEqual({ version: level.version, available, inFlight: 0 });
  expect([level.drift, level.behind]).toEqual([0, 0]);
  return { A: available, R: reserved, S: sold, L: lost, T: level.total };
}

/** What came in from supply less what went back. */
function suppliedBy(entries: readonly EntryRow[]): number {
  let sum = 0;
  for (const { operation, quantity } of entries) {
    const { from, to } = moves[operation];
    if (from === "supply" || to === "supply") sum += availableDelta(operation, quantity);
  }
  return sum;
}

async function entriesOf({ ledger }: Shop, sku: SkuId): Promise<readonly EntryRow[]> {
  return ledger.entries(sku, { after: 0, limit: 100_000, from: null, to: null });
}

/** The steps that lead to a state; refunds come on top, each once. */
const stepsTo: Readonly<Record<ReservationState, readonly string[]>> = {
  pending: [],
  void: [],
  rejected: ["reject"],
  reserved: ["reserve"],
  cancelled: ["reserve", "cancel"],
  expired: ["reserve", "expire"],
  confirmed: ["reserve", "confirm"],
  refunded: ["reserve", "confirm"],
};

async function expectOneMovementAStep(shop: Shop, entries: readonly EntryRow[]): Promise<void> {
  const byOrder = new Map<ReservationId, LedgerEntry[]>();
  for (const entry of entries) {
    const { reservationId: id } = entry;
    if (id !== null) byOrder.set(id, [...(byOrder.get(id) ?? []), entry]);
  }
  for (const [id, own] of byOrder) {
    const found = await shop.ledger.order(id);
    if (found === null) throw new Error(`order ${id} has entries and no row`);
    const { state, revived, lines } = found.order;
    const steps = revived ? ["reserve", "expire", "revive"] : stepsTo[state];
    for (const { sku, quantity, restocked, writtenOff } of lines) {
      const mine = own.filter((entry) => entry.sku === sku);
      const refunds = mine.filter(({ operation }) => operation.startsWith("refund"));
      const back = refunds.reduce((sum, entry) => sum + entry.quantity, 0);
      expect(back).toBe(restocked + writtenOff);
      expect(new Set(refunds.map((entry) => entry.operationId)).size).toBe(refunds.length);
      const others = mine.filter((entry) => !refunds.includes(entry) && !isLateNo(entry));
      expect(others.map(({ operation }) => operation)).toEqual(steps);
      expect(others.every((entry) => entry.quantity === quantity)).toBe(true);
    }
  }
}

/** A late payment that the ledger refused: it moved nothing. */
function isLateNo({ operation, operationId }: LedgerEntry): boolean {
  return operation === "reject" && operationId !== "";
}
