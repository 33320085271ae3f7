import type { Command, CommandResult } from "../../src/domain/command.ts";
import {
  epoch,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../../src/domain/values.ts";
import type { PureLedger } from "./pure-ledger.ts";
import { type Cart, linesOf, reserveTicket } from "./tickets.ts";

/** Commands about the order `r1` and the SKU `A`, with what a test does not care about. */
export const id = reservationId("r1");
export const inLane = { lane: 0, epoch: epoch(1) };
const acting = { actor: "op", reason: "because" };

export const commands = {
  reserve: (cart?: Cart, buyer?: string): Command => ({
    kind: "ticket",
    stamp: inLane,
    ticket: reserveTicket("r1", cart, buyer === undefined ? {} : { buyer }),
    admittedAt: 1,
    sentAt: 2,
    attempt: 1,
  }),
  confirm: (payment = "p1"): Command => ({
    kind: "confirm",
    id,
    paymentId: operationId(payment),
    paidAt: 5,
    actor: "shop",
  }),
  refuseLate: (payment = "p1"): Command => ({
    kind: "refuse-late",
    id,
    paymentId: operationId(payment),
    paidAt: 5,
    actor: "shop",
  }),
  cancel: (stamped = false): Command => ({
    kind: "cancel",
    id,
    stamp: stamped ? inLane : null,
    ...acting,
  }),
  expire: (): Command => ({ kind: "expire", id }),
  extend: (operation = "x1", seconds = 30): Command => ({
    kind: "extend",
    id,
    operationId: operationId(operation),
    seconds,
    actor: "op",
  }),
  refund: (refund = "f1", cart: Cart | null = null, restock = true): Command => ({
    kind: "refund",
    id,
    refundId: operationId(refund),
    lines: cart === null ? null : linesOf(cart),
    restock,
    ...acting,
  }),
  settle: (refund = "f9", payment = "p2"): Command => ({
    kind: "settle-payment",
    id,
    refundId: operationId(refund),
    paymentId: operationId(payment),
    ...acting,
  }),
  void: (): Command => ({ kind: "void", stamp: inLane, id, ticket: null, reason: "lost" }),
  give: (
    operation: "restock" | "unfreeze" | "adjust_up",
    operationName: string,
    units: number,
    ifVersion: number | null = null,
  ): Command => ({
    kind: "give",
    operation,
    sku: skuId("A"),
    quantity: quantity(units),
    operationId: operationId(operationName),
    fingerprint: `${operation} ${units}`,
    ifVersion,
    ...acting,
  }),
  count: (operationName: string, found: number): Command => ({
    kind: "count",
    sku: skuId("A"),
    found,
    operationId: operationId(operationName),
    ...acting,
  }),
  saleTo: (to: "open" | "paused" | "closed", operation: string | null = null): Command => ({
    kind: "sale-state",
    saleId: saleId("s"),
    to,
    operationId: operation === null ? null : operationId(operation),
    actor: "op",
  }),
  skuTo: (to: "normal" | "stopped", operation: string | null = null): Command => ({
    kind: "sku-status",
    sku: skuId("A"),
    to,
    operationId: operation === null ? null : operationId(operation),
    ...acting,
  }),
} satisfies Readonly<Record<string, (...args: never[]) => Command>>;

/** A result in two words: what, and whether it was told before. */
export function wordOf(result: CommandResult): string {
  const what = result.status === "rejected" ? result.code : result.status;
  return "replayed" in result && result.replayed ? `${what} again` : what;
}

/** Does the ledger remember anything of the last command? Its audit and outcome apart. */
export function changedSomething({ book }: PureLedger): boolean {
  const { audits: _, ...changes } = book.changes;
  const counts = Object.values(changes).map((each) => ("size" in each ? each.size : each.length));
  return counts.some((count) => count > 0);
}
