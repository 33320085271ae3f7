import type { Lease } from "./lease.ts";
import type { Rejection } from "./rejection.ts";
import type { Asked, RequestOrigin } from "./request-origin.ts";
import type { Line, Order, Payment } from "./reservation.ts";
import type { Sale, SaleState } from "./sale.ts";
import type { Balances } from "./stock.ts";
import type { Ticket } from "./ticket.ts";
import type { Epoch, Instant, Lane, OperationId, ReservationId, SaleId, SkuId } from "./values.ts";

/** What came out of a lane carries the lane and the epoch it was stamped with at sending. */
export type Stamp = { readonly lane: Lane; readonly epoch: Epoch };

/** Everything that the ledger decides. One transaction decides many. */
export type Command = Asked & Question;

type Question =
  | {
      readonly kind: "ticket";
      readonly stamp: Stamp;
      readonly ticket: Ticket;
      readonly admittedAt: Instant;
      readonly sentAt: Instant;
      readonly attempt: number;
    }
  | {
      readonly kind: "void";
      readonly stamp: Stamp;
      readonly id: string;
      readonly ticket: Ticket | null;
      readonly reason: string;
    }
  | { readonly kind: "barrier"; readonly lane: Lane; readonly epoch: Epoch }
  | {
      readonly kind: "cancel";
      readonly id: ReservationId;
      /** Set when it came through the lane, behind any ticket of the id. */
      readonly stamp: Stamp | null;
      readonly actor: string;
      readonly reason: string;
    }
  | {
      readonly kind: "confirm";
      readonly id: ReservationId;
      readonly paymentId: OperationId;
      readonly paidAt: Instant | null;
      readonly actor: string;
    }
  /** Hot stock had nothing for a late payment: it is due back. */
  | {
      readonly kind: "refuse-late";
      readonly id: ReservationId;
      readonly paymentId: OperationId;
      readonly paidAt: Instant | null;
      readonly actor: string;
    }
  | {
      readonly kind: "expire";
      readonly id: ReservationId;
      /** Of the one who sweeps; without one it is asked for by hand. */
      readonly lease?: Lease;
    }
  | {
      readonly kind: "extend";
      readonly id: ReservationId;
      readonly operationId: OperationId;
      readonly seconds: number;
      readonly actor: string;
    }
  | {
      readonly kind: "refund";
      readonly id: ReservationId;
      readonly refundId: OperationId;
      /** Null: all that is still sold. */
      readonly lines: readonly Line[] | null;
      readonly restock: boolean;
      readonly actor: string;
      readonly reason: string;
    }
  /** A payment that was due back has gone back. */
  | {
      readonly kind: "settle-payment";
      readonly id: ReservationId;
      readonly refundId: OperationId;
      readonly paymentId: OperationId;
      readonly actor: string;
      readonly reason: string;
    }
  | {
      readonly kind: "give";
      readonly operation: "restock" | "unfreeze" | "adjust_up";
      readonly sku: SkuId;
      /** 0: nothing moves, and the operation is remembered. */
      readonly quantity: number;
      readonly operationId: OperationId;
      readonly fingerprint: string;
      readonly ifVersion: number | null;
      readonly actor: string;
      readonly reason: string;
    }
  | {
      readonly kind: "count";
      readonly sku: SkuId;
      readonly found: number;
      /** Decided only at this version; null, or left out: at any. */
      readonly ifVersion?: number | null;
      readonly operationId: OperationId;
      readonly actor: string;
      readonly reason: string;
    }
  | {
      readonly kind: "create-sale";
      readonly saleId: SaleId;
      readonly title: string;
      readonly opensAt: Instant | null;
      readonly closesAt: Instant | null;
      readonly holdMs: number;
      readonly limitPerBuyer: number | null;
      readonly items: readonly { readonly sku: SkuId; readonly stock: number }[];
      /** The lane of a sale whose SKUs are all new. */
      readonly lane: Lane;
      readonly fingerprint: string;
      readonly actor: string;
    }
  | {
      readonly kind: "sale-state";
      readonly saleId: SaleId;
      readonly to: Exclude<SaleState, "draft">;
      readonly operationId: OperationId | null;
      /** Decided only at this revision of the sale; null, or left out: at any. */
      readonly ifRevision?: number | null;
      readonly actor: string;
      /** Left out: none was told. */
      readonly reason?: string;
    }
  | {
      readonly kind: "sku-status";
      readonly sku: SkuId;
      readonly to: SkuStatus;
      /** Null: the engine stops a SKU whose proof is broken. */
      readonly operationId: OperationId | null;
      readonly ifVersion?: number | null;
      readonly actor: string;
      readonly reason: string;
      /** Of the one who repairs. */
      readonly lease?: Lease;
    };

export type SkuStatus = "normal" | "stopped";

/** A SKU's row: balances, version and hash after its last entry. */
export type SkuRow = {
  readonly sku: SkuId;
  readonly lane: Lane;
  readonly saleId: SaleId | null;
  readonly status: SkuStatus;
  readonly statusReason: string | null;
  readonly statusRevision: number;
  readonly balances: Balances;
  readonly version: number;
  readonly hash: string;
};

export type LaneRow = {
  readonly lane: Lane;
  readonly epoch: Epoch;
  /** The highest barrier that has come out of the lane. */
  readonly met: Epoch;
  /** The hot stock that `epoch` was given out for; null before the first. */
  readonly incarnation: string | null;
};

/** The decision under an operation id, kept for ever. */
export type OperationRecord = {
  readonly scope: string;
  readonly operationId: OperationId;
  readonly operation: string;
  readonly fingerprint: string;
  readonly code: Rejection | null;
  readonly detail: string;
  /** Version of each SKU that the decision's entry made. */
  readonly versions: ReadonlyMap<SkuId, number>;
  readonly at: Instant;
  readonly actor: string;
  readonly reason: string;
  /** What else a reader wants: the lines of a refund, the seconds of an extension. */
  readonly content: Readonly<Record<string, unknown>>;
};

/** Which call changed what. A reservation's own call stands on its order. */
export type RequestRecord = {
  readonly origin: RequestOrigin;
  /** What it changed, as operations name it. */
  readonly scope: string;
  readonly operation: string;
  /** Of the payment, refund or operation; empty where the call named none. */
  readonly operationId: string;
  readonly at: Instant;
};

export type AuditRecord = {
  readonly at: Instant;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly before: unknown;
  readonly after: unknown;
};

export type Subject = {
  readonly order?: Order;
  readonly payments?: readonly Payment[];
  readonly level?: SkuRow;
  readonly sale?: Sale;
  readonly operation?: OperationRecord;
};

export type CommandResult =
  | { readonly status: "accepted"; readonly replayed: boolean; readonly subject: Subject }
  | {
      readonly status: "rejected";
      readonly replayed: boolean;
      readonly code: Rejection;
      readonly detail: string;
      readonly subject: Subject;
    }
  /** The ledger has no such order: it is pending, lost, or never was. */
  | { readonly status: "unknown" }
  /** A payment after the end of the hold: it goes as a ticket. */
  | { readonly status: "late"; readonly order: Order }
  /** Of an epoch that a barrier has closed, or under a lease that is another's: decides nothing. */
  | { readonly status: "stale" }
  /** Its content can never be decided: a try, then the dead letters. */
  | { readonly status: "poison"; readonly reason: string }
  /** The ledger itself is damaged here: nothing was changed, a person looks. */
  | { readonly status: "broken"; readonly sku: SkuId | null; readonly reason: string };

export const scopeOfSku = (sku: SkuId): string => `sku:${sku}`;
export const scopeOfSale = (saleId: SaleId): string => `sale:${saleId}`;
export const scopeOfOrder = (id: ReservationId): string => `order:${id}`;
/** Payment ids come from elsewhere than refund and operation ids: they must not meet. */
export const scopeOfPayment = (id: ReservationId): string => `payment:${id}`;
