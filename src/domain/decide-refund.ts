import type { Book } from "./book.ts";
import { type CommandResult, type OperationRecord, scopeOfOrder } from "./command.ts";
import { brokenLine, keyReused, subjectOf, wrongState } from "./decide-settlement.ts";
import { acceptedResult, type CommandOf, rejectedResult } from "./decision.ts";
import { type Line, type Order, type OrderLine, sumLines } from "./reservation.ts";
import { quantity } from "./values.ts";

type RefundCommand = CommandOf<"refund">;

/** In part or whole, never more than is still sold: what earlier refunds took is subtracted. */
export function decideRefund(book: Book, command: RefundCommand): CommandResult {
  const order = book.orders.get(command.id);
  if (order === undefined) return { status: "unknown" };
  const known = book.operation(scopeOfOrder(order.id), command.refundId);
  const fingerprint = fingerprintOf(command);
  if (known !== undefined) return repeatRefund(book, order, known, fingerprint);
  if (order.state !== "confirmed") return wrongState(book, order);
  const lines = command.lines === null ? stillSold(order) : sumLines(command.lines, quantity);
  const refusal = refundRefusal(order, lines);
  if (refusal !== null) return rejectedResult("NOT_ENOUGH", refusal, subjectOf(book, order));
  const broken = brokenLine(book, order);
  if (broken !== null) return broken;

  const operation = command.restock ? "refund" : "refund_lost";
  for (const { sku, quantity: units } of lines) {
    if (!book.canMove(sku, operation, units)) {
      return { status: "broken", sku, reason: `SKU ${sku} has fewer sold units than its orders` };
    }
  }
  for (const { sku, quantity: units } of lines) {
    book.append({
      sku,
      operation,
      operationId: command.refundId,
      quantity: units,
      order,
      actor: command.actor,
      reason: command.reason,
    });
  }
  const refunded = giveBack(book, order, lines, command.restock);
  const record = recordRefund(book, command, lines, fingerprint);
  return acceptedResult({ ...subjectOf(book, refunded), operation: record });
}

/** A payment that was due back has gone back. */
export function decideSettlePayment(
  book: Book,
  command: CommandOf<"settle-payment">,
): CommandResult {
  const order = book.orders.get(command.id);
  if (order === undefined) return { status: "unknown" };
  const scope = scopeOfOrder(order.id);
  const known = book.operation(scope, command.refundId);
  const fingerprint = `payment ${command.paymentId}`;
  if (known !== undefined) return repeatRefund(book, order, known, fingerprint);
  const payment = book.paymentsOf(order.id).find((p) => p.paymentId === command.paymentId);
  if (payment?.state !== "due") {
    const detail = `payment ${command.paymentId} is ${payment?.state ?? "not known"}, not due back`;
    return rejectedResult("WRONG_STATE", detail, subjectOf(book, order));
  }

  book.setPayment(order.id, { ...payment, state: "refunded", refundId: command.refundId });
  const operation = book.record({
    scope,
    operationId: command.refundId,
    operation: "settle-payment",
    fingerprint,
    code: null,
    detail: "",
    versions: new Map(),
    actor: command.actor,
    reason: command.reason,
    content: { paymentId: command.paymentId },
  });
  return acceptedResult({ ...subjectOf(book, order), operation });
}

function repeatRefund(
  book: Book,
  order: Order,
  known: OperationRecord,
  fingerprint: string,
): CommandResult {
  if (known.fingerprint !== fingerprint) {
    return keyReused(known.operationId);
  }
  return acceptedResult({ ...subjectOf(book, order), operation: known }, true);
}

function stillSold(order: Order): Line[] {
  return order.lines.flatMap((line) => {
    const left = soldUnits(line);
    return left > 0 ? [{ sku: line.sku, quantity: quantity(left) }] : [];
  });
}

function soldUnits(line: OrderLine): number {
  return line.quantity - line.restocked - line.writtenOff;
}

function refundRefusal(order: Order, lines: readonly Line[]): string | null {
  if (lines.length === 0) return "nothing is left to refund";
  for (const { sku, quantity: units } of lines) {
    const line = order.lines.find((each) => each.sku === sku);
    const left = line === undefined ? 0 : soldUnits(line);
    if (units > left) return `SKU ${sku}: ${units} asked, ${left} still sold in this order`;
  }
  return null;
}

function giveBack(book: Book, order: Order, lines: readonly Line[], restock: boolean): Order {
  const back = new Map(lines.map((line) => [line.sku, line.quantity]));
  const after = order.lines.map((line) => {
    const units = back.get(line.sku) ?? 0;
    return restock
      ? { ...line, restocked: line.restocked + units }
      : { ...line, writtenOff: line.writtenOff + units };
  });
  const whole = after.every((line) => soldUnits(line) === 0);
  return book.setOrder({
    ...order,
    lines: after,
    state: whole ? "refunded" : order.state,
    endedAt: whole ? book.now : order.endedAt,
  });
}

function recordRefund(
  book: Book,
  command: RefundCommand,
  lines: readonly Line[],
  fingerprint: string,
): OperationRecord {
  return book.record({
    scope: scopeOfOrder(command.id),
    operationId: command.refundId,
    operation: "refund",
    fingerprint,
    code: null,
    detail: "",
    versions: new Map(),
    actor: command.actor,
    reason: command.reason,
    content: { lines, restock: command.restock },
  });
}

function fingerprintOf({ lines, restock }: RefundCommand): string {
  const sorted = lines === null ? null : sumLines(lines, quantity);
  return `refund ${JSON.stringify({ lines: sorted, restock })}`;
}
