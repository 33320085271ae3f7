import type { AuditRecord, SkuRow } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Rejection } from "../domain/rejection.ts";
import type { Asked, RequestOrigin } from "../domain/request-origin.ts";
import type { Line, Payment, ReservationState } from "../domain/reservation.ts";
import type { Sale, SaleState } from "../domain/sale.ts";
import type { Balances } from "../domain/stock.ts";
import type {
  BuyerId,
  Instant,
  Lane,
  OperationId,
  Quantity,
  ReservationId,
  SaleId,
  SkuId,
} from "../domain/values.ts";
import type {
  AuditQuery,
  DeadLetter,
  DeadLetterQuery,
  EntryQuery,
  EntryRow,
  LedgerCounts,
  Page,
  SearchHit,
  Verification,
} from "../ledger/ledger.ts";

/**
 * What callers may ask for. Refusals come back as values (`Outcome`); a store that is away, or
 * whose answer is unknown, is a thrown `Fault`: ask again with the same id.
 */
export interface Engine {
  readonly buyers: Buyers;
  readonly settlement: Settlement;
  readonly merchandising: Merchandising;
  readonly oversight: Oversight;
}

/** Buyers and those who look at a reservation. */
export interface Buyers {
  /**
   * Admits, then waits up to `waitMs` for the ledger's decision. A value is `pending` (202),
   * or as the ledger decided it; a decided refusal is `ok: false` with `facts.reservation`.
   */
  reserve(request: ReserveRequest, wait: Wait): Promise<Outcome<ReservationView>>;
  /**
   * Null: not an id of ours, or forged (no store was touched). A genuine id that nobody knows
   * is pending, and decided `void` soon.
   */
  reservation(id: string, wait: Wait): Promise<ReservationView | null>;
  /** Every state from now on, the present one first; ends at an ended state or the signal. */
  watch(id: string, signal: AbortSignal): AsyncIterable<ReservationView>;
  timeline(id: string): Promise<readonly TimelineStep[] | null>;
}

export type Wait = { readonly waitMs: number; readonly signal?: AbortSignal };

export type ReserveRequest = Asked & {
  readonly saleId: SaleId;
  readonly buyerId: BuyerId;
  readonly idempotencyKey: OperationId;
  readonly lines: readonly Line[];
};

export type ReservationView = {
  readonly id: ReservationId;
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
  readonly state: ReservationState;
  readonly lines: readonly Line[];
  readonly createdAt: Instant | null;
  readonly decidedAt: Instant | null;
  readonly expiresAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly paymentId: OperationId | null;
  readonly revived: boolean;
  readonly refunds: readonly RefundView[];
  /** Payments that must go back to the buyer. */
  readonly refundDue: readonly Payment[];
  readonly payments: readonly Payment[];
  readonly code: Rejection | null;
  readonly reason: string | null;
};

export type RefundView = {
  readonly refundId: OperationId;
  readonly at: Instant;
  readonly lines: readonly Line[];
  readonly restock: boolean;
  /** Set when it settled a payment that was due back. */
  readonly paymentId: OperationId | null;
  readonly reason: string;
};

export type TimelineStep = {
  readonly step: string;
  readonly store: "hot" | "bus" | "ledger";
  readonly at: Instant;
  readonly actor: string;
  readonly attempt: number | null;
  readonly sku: SkuId | null;
  readonly quantity: number | null;
  readonly version: number | null;
  readonly hash: string | null;
  readonly detail: string;
  /** The call that made it; null: the engine did it by itself, or nobody knows any more. */
  readonly origin: RequestOrigin | null;
};

/** The order system and its payment callbacks. `id` may be anything: not ours is 404. */
export interface Settlement {
  confirm(
    id: string,
    payment: { readonly paymentId: OperationId; readonly paidAt: Instant | null },
    context: Acting,
  ): Promise<Outcome<ReservationView>>;
  /** A pending one is decided behind its ticket, waiting up to `waitMs`; then still `pending`. */
  cancel(id: string, context: Acting & Wait): Promise<Outcome<ReservationView>>;
  extend(
    id: string,
    extension: { readonly operationId: OperationId; readonly seconds: number },
    context: Acting,
  ): Promise<Outcome<ReservationView>>;
  refund(id: string, refund: RefundRequest, context: Acting): Promise<Outcome<ReservationView>>;
}

/** Who acts, and by which call. */
export type Actor = Asked & { readonly actor: string };
export type Acting = Actor & { readonly reason: string };

export type RefundRequest =
  | {
      readonly kind: "units";
      readonly refundId: OperationId;
      /** Null: all that is still sold. */
      readonly lines: readonly Line[] | null;
      readonly restock: boolean;
    }
  | { readonly kind: "payment"; readonly refundId: OperationId; readonly paymentId: OperationId };

/** Operators. */
export interface Merchandising {
  createSale(request: CreateSaleRequest, by: Actor): Promise<Outcome<SaleView>>;
  moveSale(saleId: SaleId, move: SaleMove, by: Actor): Promise<Outcome<SaleView>>;
  sale(saleId: SaleId): Promise<SaleView | null>;
  sales(page: Page): Promise<readonly SaleView[]>;
  changeStock(change: StockChange, context: Acting): Promise<Outcome<StockChanged>>;
  stopSku(sku: SkuId, operationId: OperationId, context: ActingIf): Promise<Outcome<LevelView>>;
  resumeSku(sku: SkuId, operationId: OperationId, context: ActingIf): Promise<Outcome<LevelView>>;
}

export type SaleMove = {
  readonly to: Exclude<SaleState, "draft">;
  readonly operationId: OperationId | null;
  /** Only while the sale is at this revision; null, or left out: in any case. */
  readonly ifRevision?: number | null;
  /** For the audit log. */
  readonly reason?: string;
};

/** Only while the SKU is at this version; null, or left out: in any case. */
export type ActingIf = Acting & { readonly ifVersion?: number | null };

export type CreateSaleRequest = {
  readonly saleId: SaleId;
  readonly title: string;
  readonly opensAt: Instant | null;
  readonly closesAt: Instant | null;
  readonly holdSeconds: number;
  readonly limitPerBuyer: number | null;
  readonly items: readonly { readonly sku: SkuId; readonly stock: number }[];
};

export type SaleView = { readonly sale: Sale; readonly levels: readonly LevelView[] };

export type StockChange = {
  readonly sku: SkuId;
  readonly operationId: OperationId;
  /** Only while the SKU is at this version; null, or left out: in any case. */
  readonly ifVersion?: number | null;
} & (
  | {
      readonly kind: "restock" | "withdraw" | "freeze" | "unfreeze";
      readonly quantity: Quantity;
    }
  /** Not 0. */
  | { readonly kind: "adjust"; readonly delta: number }
  | { readonly kind: "set-total"; readonly total: number; readonly ifVersion: number }
  /** Of the frozen units; 0 or more. */
  | { readonly kind: "count"; readonly found: number }
);

export type StockChanged = { readonly level: LevelView; readonly entries: readonly EntryRow[] };

/** A SKU in both stores. */
export type LevelView = {
  readonly sku: SkuId;
  readonly lane: Lane;
  readonly status: SkuRow["status"];
  readonly statusReason: string | null;
  readonly saleId: SaleId | null;
  readonly version: number;
  readonly hash: string;
  readonly balances: Balances;
  readonly total: number;
  /** Null while hot stock is closed. */
  readonly hot: HotLevelView | null;
  readonly drift: number;
  readonly behind: number;
  /** 0: nothing is in flight. */
  readonly oldestTicketSeconds: number;
};

export type HotLevelView = {
  readonly version: number;
  readonly available: number;
  readonly inFlight: number;
};

/** Those who prove, repair and look. */
export interface Oversight {
  level(sku: SkuId): Promise<LevelView | null>;
  /** Ledger's balances as of a version or a time; null: no such SKU or version. */
  levelAsOf(
    sku: SkuId,
    asOf: { readonly version: number } | { readonly at: Instant },
  ): Promise<LevelView | null>;
  levels(page: Page): Promise<readonly LevelView[]>;
  entries(sku: SkuId, query: EntryQuery): Promise<readonly EntryRow[]>;
  reconciliation(): Promise<Reconciliation>;
  repair(request: { dryRun: boolean; sku: SkuId | null }, context: Acting): Promise<RepairReport>;
  verify(sku: SkuId | null): Promise<Verification>;
  deadLetters(query: DeadLetterQuery): Promise<readonly DeadLetter[]>;
  deadLetter(id: number): Promise<DeadLetter | null>;
  replayDeadLetter(id: number, context: Acting): Promise<DeadLetterOutcome>;
  discardDeadLetter(id: number, context: Acting): Promise<DeadLetterOutcome>;
  auditLog(query: AuditQuery): Promise<readonly (AuditRecord & { readonly id: number })[]>;
  /** `looked`: where, so that a miss says where it looked. */
  search(text: string): Promise<{
    readonly hits: readonly SearchHit[];
    readonly looked: readonly string[];
  }>;
  counts(): Promise<LedgerCounts>;
  /** How much stands in each lane, between admission and decision. */
  lanes(): Promise<readonly LaneFlow[]>;
  /** Messages that the broker itself has set aside; null while it cannot be asked. */
  givenUp(): Promise<number | null>;
  health(): Promise<Health>;
}

export type LaneFlow = {
  readonly lane: number;
  readonly open: boolean;
  /** Admitted and not yet decided. */
  readonly tickets: number;
  readonly outboxLength: number;
  readonly outboxOldestSeconds: number;
  /** Messages that the writer has not acknowledged; null when the broker cannot tell. */
  readonly lag: number | null;
};

export type Reconciliation = {
  readonly at: Instant;
  readonly skus: number;
  /** Σ of absolute differences in units, at the hot versions. */
  readonly drift: number;
  /** Σ of versions not yet projected. */
  readonly behind: number;
  readonly inFlight: number;
  /** Tickets sent again and rebuilds for a cause, since the ledger was made. */
  readonly repairs: number;
  /** Lanes whose hot stock is closed. */
  readonly closed: number;
  readonly stopped: number;
  readonly items: readonly ReconciledSku[];
};

export type ReconciledSku = {
  readonly sku: SkuId;
  readonly version: number;
  readonly hotVersion: number;
  readonly behind: number;
  readonly hotAvailable: number;
  readonly inFlight: number;
  readonly ledgerAvailable: number;
  readonly drift: number;
  readonly oldestTicketSeconds: number;
  /** Hot stock is at a version of the ledger's, with its hash: it can be caught up. */
  readonly fits: boolean;
  readonly status:
    | "ok"
    | "behind"
    | "drift"
    | "forked"
    /** Hot stock has stopped it by itself, and it fits the ledger all the same. */
    | "halted"
    /** The ledger's row is not what its last entry left behind. */
    | "damaged"
    | "ahead"
    | "missing"
    | "closed"
    | "stopped";
};

export type RepairReport = {
  readonly dryRun: boolean;
  readonly actions: readonly RepairAction[];
};

export type RepairAction = {
  readonly action: "rebuild" | "stop" | "none";
  readonly subject: string;
  readonly reason: string;
  readonly done: boolean;
  /** What a person could type to look at it. */
  readonly look: string;
};

export type DeadLetterOutcome = {
  readonly id: number;
  readonly outcome: "replayed" | "discarded" | "stale" | "already-settled" | "not-found" | "failed";
  readonly detail: string;
};

export type Health = {
  readonly ready: boolean;
  readonly parts: readonly {
    readonly name: "ledger" | "hot" | "bus";
    readonly ok: boolean;
    readonly ms: number;
    readonly detail: string;
  }[];
};
