import type { Rejection } from "./rejection.ts";
import type { Asked } from "./request-origin.ts";
import type {
  BuyerId,
  Instant,
  OperationId,
  Quantity,
  ReservationId,
  SaleId,
  SkuId,
} from "./values.ts";

/**
 * The state machine of a reservation. `pending` is never written to the ledger: it is what a
 * buyer is told while the ledger has not decided. An ended state never changes, except that a
 * payment after the end may revive an `expired` one.
 */
export const transitions = {
  pending: ["reserved", "rejected", "cancelled", "void"],
  reserved: ["confirmed", "cancelled", "expired"],
  confirmed: ["refunded"],
  rejected: [],
  cancelled: [],
  expired: ["confirmed"],
  void: [],
  refunded: [],
} as const satisfies Record<string, readonly string[]>;

export type ReservationState = keyof typeof transitions;
/** The states that the ledger knows. */
export type DecidedState = Exclude<ReservationState, "pending">;

export function isReservationState(text: string): text is ReservationState {
  return Object.hasOwn(transitions, text);
}

export function isDecidedState(text: string): text is DecidedState {
  return text !== "pending" && isReservationState(text);
}

export function mayBecome(from: ReservationState, to: ReservationState): boolean {
  const next: readonly string[] = transitions[from];
  return next.includes(to);
}

/** The units of one SKU in a cart. */
export type Line = { readonly sku: SkuId; readonly quantity: Quantity };

export type OrderLine = Line & {
  /** Units given back so far: on sale again, or written off. */
  readonly restocked: number;
  readonly writtenOff: number;
  /** The SKU's version at which the ledger decided this line; 0 when no entry was made. */
  readonly decidedVersion: number;
};

export type Payment = {
  readonly paymentId: OperationId;
  /** `taken` pays the order; `due` must go back to the buyer; `refunded` has gone back. */
  readonly state: "taken" | "due" | "refunded";
  /** Why it did not pay the order; the answer to its repeat, for ever. */
  readonly code: Extract<Rejection, "REFUND_DUE" | "ALREADY_PAID"> | null;
  readonly paidAt: Instant | null;
  readonly recordedAt: Instant;
  readonly refundId: OperationId | null;
};

/** A reservation as the ledger knows it; its origin is the call that reserved. */
export type Order = Asked & {
  readonly id: ReservationId;
  /** Null for an id that was voided or cancelled before its ticket was seen. */
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
  readonly idempotencyKey: OperationId | null;
  readonly fingerprint: string | null;
  readonly state: DecidedState;
  /** Why it was rejected or ended. */
  readonly code: Rejection | null;
  readonly reason: string | null;
  readonly lines: readonly OrderLine[];
  readonly admittedAt: Instant | null;
  readonly sentAt: Instant | null;
  readonly attempt: number;
  readonly decidedAt: Instant;
  readonly expiresAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly paymentId: OperationId | null;
  readonly revived: boolean;
};

/** The same SKU on two lines is one line with the sum; in SKU order, as rows are locked. */
export function sumLines(lines: readonly Line[], asQuantity: (n: number) => Quantity): Line[] {
  const sums = new Map<SkuId, number>();
  for (const { sku, quantity } of lines) sums.set(sku, (sums.get(sku) ?? 0) + quantity);
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([sku, sum]) => ({ sku, quantity: asQuantity(sum) }));
}
