import type { Line, ReservationState } from "../../src/domain/reservation.ts";
import type { Sale } from "../../src/domain/sale.ts";
import { noUnits } from "../../src/domain/stock.ts";
import {
  buyerId,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../../src/domain/values.ts";
import type {
  Buyers,
  Engine,
  LevelView,
  Merchandising,
  Oversight,
  ReservationView,
  SaleView,
  Settlement,
} from "../../src/engine/engine.ts";
import type { DeadLetter, EntryRow } from "../../src/ledger/ledger.ts";

export type EngineScript = {
  readonly buyers?: Partial<Buyers>;
  readonly settlement?: Partial<Settlement>;
  readonly merchandising?: Partial<Merchandising>;
  readonly oversight?: Partial<Oversight>;
};

/** An engine of which a test says only what is asked of it; any other call fails the test. */
export function fakeEngine(script: EngineScript): Engine {
  return {
    buyers: { ...unscriptedBuyers, ...script.buyers },
    settlement: { ...unscriptedSettlement, ...script.settlement },
    merchandising: { ...unscriptedMerchandising, ...script.merchandising },
    oversight: { ...unscriptedOversight, ...script.oversight },
  };
}

function unscripted(name: string): () => never {
  return () => {
    throw new Error(`the test has not scripted ${name}`);
  };
}

const unscriptedBuyers: Buyers = {
  reserve: unscripted("reserve"),
  reservation: unscripted("reservation"),
  watch: unscripted("watch"),
  timeline: unscripted("timeline"),
};

const unscriptedSettlement: Settlement = {
  confirm: unscripted("confirm"),
  cancel: unscripted("cancel"),
  extend: unscripted("extend"),
  refund: unscripted("refund"),
};

const unscriptedMerchandising: Merchandising = {
  createSale: unscripted("createSale"),
  moveSale: unscripted("moveSale"),
  sale: unscripted("sale"),
  sales: unscripted("sales"),
  changeStock: unscripted("changeStock"),
  stopSku: unscripted("stopSku"),
  resumeSku: unscripted("resumeSku"),
};

const unscriptedOversight: Oversight = {
  level: unscripted("level"),
  levelAsOf: unscripted("levelAsOf"),
  levels: unscripted("levels"),
  entries: unscripted("entries"),
  reconciliation: unscripted("reconciliation"),
  repair: unscripted("repair"),
  verify: unscripted("verify"),
  deadLetters: unscripted("deadLetters"),
  deadLetter: unscripted("deadLetter"),
  replayDeadLetter: unscripted("replayDeadLetter"),
  discardDeadLetter: unscripted("discardDeadLetter"),
  auditLog: unscripted("auditLog"),
  search: unscripted("search"),
  counts: unscripted("counts"),
  lanes: unscripted("lanes"),
  givenUp: unscripted("givenUp"),
  health: unscripted("health"),
};

export const someTime = Date.UTC(2026, 10, 11);

export function someReservation(
  state: ReservationState,
  more: Partial<ReservationView> = {},
): ReservationView {
  const lines: Line[] = [{ sku: skuId("sku-1"), quantity: quantity(2) }];
  const isPending = state === "pending";
  return {
    id: reservationId("0.abc.def"),
    saleId: saleId("sale-1"),
    buyerId: buyerId("ann"),
    state,
    lines,
    createdAt: someTime,
    decidedAt: isPending ? null : someTime + 5,
    expiresAt: isPending ? null : someTime + 60_005,
    endedAt: null,
    paymentId: null,
    revived: false,
    refunds: [],
    refundDue: [],
    payments: [],
    code: null,
    reason: null,
    ...more,
  };
}

export function someLevel(sku = "sku-1", more: Partial<LevelView> = {}): LevelView {
  return {
    sku: skuId(sku),
    lane: 0,
    status: "normal",
    statusReason: null,
    saleId: saleId("sale-1"),
    version: 7,
    hash: "f".repeat(64),
    balances: { ...noUnits, available: 8, reserved: 2 },
    total: 10,
    hot: { version: 7, available: 8, inFlight: 0 },
    drift: 0,
    behind: 0,
    oldestTicketSeconds: 0,
    ...more,
  };
}

export function someSale(more: Partial<Sale> = {}): SaleView {
  const sale: Sale = {
    saleId: saleId("sale-1"),
    title: "双十一",
    fingerprint: "f",
    revision: 1,
    state: "open",
    opensAt: null,
    closesAt: null,
    holdMs: 60_000,
    limitPerBuyer: 2,
    skus: [skuId("sku-1")],
    lane: 0,
    stocked: new Map([[skuId("sku-1"), 10]]),
    createdAt: someTime,
    closedAt: null,
    ...more,
  };
  return { sale, levels: [someLevel()] };
}

export function someEntry(version: number, more: Partial<EntryRow> = {}): EntryRow {
  return {
    sku: skuId("sku-1"),
    version,
    operation: "restock",
    operationId: operationId(`op-${version}`),
    reservationId: null,
    saleId: null,
    buyerId: null,
    quantity: 1,
    after: { ...noUnits, available: version },
    actor: "local",
    reason: "delivery",
    at: someTime + version,
    previousHash: "a".repeat(64),
    hash: "b".repeat(64),
    publication: "pending",
    ...more,
  };
}

/** Hostile bytes, which nobody could read. */
export const someLetter: DeadLetter = {
  id: 4,
  lane: 0,
  reason: "bad signature",
  body: Buffer.from("\u0000<img onerror=x>"),
  kind: null,
  itemId: "0.abc.def",
  sku: null,
  tries: 3,
  state: "open",
  createdAt: someTime,
  settledAt: null,
  settledBy: null,
  settledReason: null,
};
