import { describe, expect, it } from "vitest";
import { Book } from "./book.ts";
import type { Command, CommandResult } from "./command.ts";
import { decide } from "./decide.ts";
import { reviveTicketId } from "./ticket.ts";
import {
  buyerId,
  epoch,
  operationId,
  quantity,
  reservationId,
  type SaleId,
  saleId,
  skuId,
} from "./values.ts";

const sku = skuId("shoe");
const sale: SaleId = saleId("sale");
const order = reservationId("0.order");
const stamp = { lane: 0, epoch: epoch(1) };
const lines = [{ sku, quantity: quantity(1) }];
const buyer = buyerId("ada");

/** A sale with stock, and one hold whose deadline is its beginning. */
function overdueHold(): Book {
  const book = new Book(1_000);
  book.setLane({ lane: 0, epoch: epoch(1), met: epoch(1), incarnation: "hot" });
  const opening = { opensAt: null, closesAt: null, holdMs: 0, limitPerBuyer: null } as const;
  const created = { kind: "create-sale", saleId: sale, title: "", lane: 0, actor: "op" } as const;
  const items = [{ sku, stock: 5 }];
  decide(book, { ...created, ...opening, items, fingerprint: "" });
  const ticket = { kind: "reserve", id: order, fingerprint: "shoe*1", lines } as const;
  const key = { saleId: sale, buyerId: buyer, idempotencyKey: operationId("key") };
  const sent = { admittedAt: 1, sentAt: 1, attempt: 1 };
  decide(book, { kind: "ticket", stamp, ticket: { ...ticket, ...key }, ...sent });
  return book;
}

function revive(payment: string): Command {
  const paymentId = operationId(payment);
  const ticket = {
    kind: "revive",
    id: reviveTicketId(order, payment),
    fingerprint: payment,
    lines,
    reservationId: order,
    saleId: sale,
    buyerId: buyer,
    paymentId,
    paidAt: null,
  } as const;
  return { kind: "ticket", stamp, ticket, admittedAt: 1, sentAt: 1, attempt: 1 };
}

function confirm(payment: string): Command {
  const paymentId = operationId(payment);
  return { kind: "confirm", id: order, paymentId, paidAt: null, actor: "shop" };
}

function codeOf(result: CommandResult): string {
  return result.status === "rejected" ? result.code : result.status;
}

describe("a payment that is told again while its ticket is on the way", () => {
  it("keeps the answer that it was given first", () => {
    const book = overdueHold();
    const told = [confirm("p1"), revive("p2"), confirm("p1"), revive("p1"), confirm("p1")];

    const codes = told.map((command) => codeOf(decide(book, command)));

    expect(codes).toEqual(["late", "accepted", "ALREADY_PAID", "ALREADY_PAID", "ALREADY_PAID"]);
    expect(book.paymentsOf(order).map(({ state }) => state)).toEqual(["taken", "due"]);
  });
});
