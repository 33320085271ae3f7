import type { OperationRecord, SkuRow } from "../domain/command.ts";
import { isOverdue } from "../domain/decide-settlement.ts";
import type { Line, Order, Payment, ReservationState } from "../domain/reservation.ts";
import { type Balances, totalOf } from "../domain/stock.ts";
import type { AdmittedTicket } from "../domain/ticket.ts";
import {
  type Instant,
  operationId,
  quantity,
  type ReservationId,
  skuId,
} from "../domain/values.ts";
import type { OrderView } from "../ledger/ledger.ts";
import type { HotLevelView, LevelView, RefundView, ReservationView } from "./engine.ts";

/** What a caller is shown of an order that the ledger has decided. */
export function viewOf(view: OrderView): ReservationView {
  const { order, payments, operations, readAt } = view;
  return {
    id: order.id,
    saleId: order.saleId,
    buyerId: order.buyerId,
    state: stateAt(order, readAt),
    lines: order.lines.map(({ sku, quantity: units }) => ({ sku, quantity: units })),
    createdAt: order.admittedAt ?? order.decidedAt,
    decidedAt: order.decidedAt,
    expiresAt: order.expiresAt,
    endedAt: order.endedAt,
    paymentId: order.paymentId,
    revived: order.revived,
    refunds: operations.flatMap(refundOf),
    refundDue: payments.filter((payment) => payment.state === "due"),
    payments,
    code: order.code,
    reason: order.reason,
  };
}

/** The order just decided: nothing was refunded yet. */
export function freshView(order: Order, payments: readonly Payment[]): ReservationView {
  return viewOf({ order, payments, operations: [], readAt: order.decidedAt });
}

/** The deadline rules: an overdue hold is expired for everyone who looks. */
function stateAt(order: Order, now: Instant): ReservationState {
  return order.state === "reserved" && isOverdue(order, now) ? "expired" : order.state;
}

export function pendingView(id: ReservationId, held: AdmittedTicket | null): ReservationView {
  const ticket = held?.ticket.kind === "reserve" ? held.ticket : null;
  return {
    id,
    saleId: ticket?.saleId ?? null,
    buyerId: ticket?.buyerId ?? null,
    state: "pending",
    lines: ticket?.lines ?? [],
    createdAt: held?.admittedAt ?? null,
    decidedAt: null,
    expiresAt: null,
    endedAt: null,
    paymentId: null,
    revived: false,
    refunds: [],
    refundDue: [],
    payments: [],
    code: null,
    reason: null,
  };
}

function refundOf(record: OperationRecord): RefundView[] {
  const units = record.operation === "refund";
  if (record.code !== null || (!units && record.operation !== "settle-payment")) return [];
  const { lines, restock, paymentId } = record.content;
  return [
    {
      refundId: record.operationId,
      at: record.at,
      lines: Array.isArray(lines) ? lines.map(lineOf) : [],
      restock: restock === true,
      paymentId: units ? null : operationId(paymentId),
      reason: record.reason,
    },
  ];
}

function lineOf(value: { readonly sku?: unknown; readonly quantity?: unknown }): Line {
  return { sku: skuId(value.sku), quantity: quantity(value.quantity) };
}

export type Proof = {
  readonly hot: HotLevelView | null;
  readonly drift: number;
  readonly behind: number;
  readonly oldestTicketSeconds: number;
};

export const unproved: Proof = { hot: null, drift: 0, behind: 0, oldestTicketSeconds: 0 };

export function levelView(row: SkuRow, proof: Proof): LevelView {
  return {
    sku: row.sku,
    lane: row.lane,
    status: row.status,
    statusReason: row.statusReason,
    saleId: row.saleId,
    version: row.version,
    hash: row.hash,
    balances: row.balances,
    total: totalOf(row.balances),
    ...proof,
  };
}

export function levelAt(
  row: SkuRow,
  at: { readonly version: number; readonly hash: string; readonly balances: Balances },
): LevelView {
  return levelView({ ...row, ...at }, unproved);
}
