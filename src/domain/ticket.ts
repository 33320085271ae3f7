import type { Asked, RequestOrigin } from "./request-origin.ts";
import type { Line } from "./reservation.ts";
import type {
  BuyerId,
  Epoch,
  Instant,
  OperationId,
  ReservationId,
  SaleId,
  SkuId,
} from "./values.ts";

/**
 * A ticket is an admission that the ledger has not decided yet. Whatever takes from `available`
 * is a ticket first, so hot stock deducts before the ledger decides and no ticket is robbed.
 */
export type Ticket = ReserveTicket | ReviveTicket | TakeTicket;

type TicketCommon = Asked & {
  /** The identity: the same id with another fingerprint is a conflict. */
  readonly id: string;
  readonly fingerprint: string;
  /** What it holds of `available`, one line a SKU, in SKU order. */
  readonly lines: readonly Line[];
};

/** A buyer's reservation. */
export type ReserveTicket = TicketCommon & {
  readonly kind: "reserve";
  readonly id: ReservationId;
  readonly saleId: SaleId;
  readonly buyerId: BuyerId;
  readonly idempotencyKey: OperationId;
};

/** A payment that came after the hold had ended: taken again if units are free. */
export type ReviveTicket = TicketCommon & {
  readonly kind: "revive";
  readonly reservationId: ReservationId;
  readonly saleId: SaleId;
  readonly buyerId: BuyerId;
  readonly paymentId: OperationId;
  readonly paidAt: Instant | null;
};

/** An operator takes units out of `available`. */
export type TakeTicket = TicketCommon & {
  readonly kind: "take";
  readonly operation: "withdraw" | "freeze" | "adjust_down";
  readonly sku: SkuId;
  readonly operationId: OperationId;
  readonly actor: string;
  readonly reason: string;
  /** Decided only at this version of the SKU; null: at any. */
  readonly ifVersion: number | null;
};

/** A ticket as hot stock keeps it. */
export type AdmittedTicket = { readonly ticket: Ticket; readonly admittedAt: Instant };

/**
 * What travels outbox and lane, in order.
 *
 * - `ticket`: to be decided.
 * - `void`: nobody knows this id; the first decision under an id stands.
 * - `cancel`: a cancellation of a pending ticket, behind the ticket.
 * - `marker`: everything that left the outbox before it has come out of the lane.
 * - `barrier`: from here on a ticket stamped with an older epoch decides nothing.
 */
export type LaneItem =
  | { readonly kind: "ticket"; readonly ticket: Ticket; readonly admittedAt: Instant }
  | {
      readonly kind: "void";
      readonly id: string;
      /** What is given up, if still known: an operator's or a payment's ticket has no order. */
      readonly ticket: Ticket | null;
      readonly reason: string;
    }
  | {
      readonly kind: "cancel";
      readonly id: ReservationId;
      readonly actor: string;
      readonly reason: string;
      readonly origin?: RequestOrigin;
    }
  | { readonly kind: "marker"; readonly seq: number }
  | { readonly kind: "barrier"; readonly epoch: Epoch };

export function reviveTicketId(id: string, paymentId: string): string {
  return `revive:${id}:${paymentId}`;
}

export function takeTicketId(sku: string, operationId: string): string {
  return `take:${sku}:${operationId}`;
}
