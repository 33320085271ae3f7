import { type Line, sumLines } from "../../src/domain/reservation.ts";
import {
  type ReserveTicket,
  type ReviveTicket,
  reviveTicketId,
  type TakeTicket,
  takeTicketId,
} from "../../src/domain/ticket.ts";
import {
  buyerId,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../../src/domain/values.ts";

/** Tickets with everything that a test does not care about. */
export type Cart = Readonly<Record<string, number>>;

export function linesOf(cart: Cart): readonly Line[] {
  const lines = Object.entries(cart).map(([sku, units]) => ({
    sku: skuId(sku),
    quantity: quantity(units),
  }));
  return sumLines(lines, quantity);
}

export function reserveTicket(
  id: string,
  cart: Cart = { A: 1 },
  more: { buyer?: string; sale?: string } = {},
): ReserveTicket {
  return {
    kind: "reserve",
    id: reservationId(id),
    fingerprint: JSON.stringify(linesOf(cart)),
    lines: linesOf(cart),
    saleId: saleId(more.sale ?? "s"),
    buyerId: buyerId(more.buyer ?? "ann"),
    idempotencyKey: operationId(`key-${id}`),
  };
}

export function reviveTicket(
  id: string,
  payment: string,
  cart: Cart = { A: 1 },
  buyer = "ann",
): ReviveTicket {
  return {
    kind: "revive",
    id: reviveTicketId(id, payment),
    fingerprint: payment,
    lines: linesOf(cart),
    reservationId: reservationId(id),
    saleId: saleId("s"),
    buyerId: buyerId(buyer),
    paymentId: operationId(payment),
    paidAt: null,
  };
}

export function takeTicket(
  operation: TakeTicket["operation"],
  id: string,
  units: number,
  more: { sku?: string; ifVersion?: number } = {},
): TakeTicket {
  const sku = skuId(more.sku ?? "A");
  return {
    kind: "take",
    id: takeTicketId(sku, id),
    fingerprint: `${operation} ${units}`,
    lines: [{ sku, quantity: quantity(units) }],
    operation,
    sku,
    operationId: operationId(id),
    actor: "op",
    reason: "because",
    ifVersion: more.ifVersion ?? null,
  };
}
