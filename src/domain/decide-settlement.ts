import type { Book } from "./book.ts";
import { type CommandResult, type Subject, scopeOfOrder } from "./command.ts";
import { answerOf } from "./decide-ticket.ts";
import { tombstone } from "./decide-void.ts";
import { acceptedResult, type CommandOf, rejectedResult } from "./decision.ts";
import type { DecidedState, Order, Payment } from "./reservation.ts";
import type { Operation } from "./stock.ts";
import type { Instant, OperationId, ReservationId } from "./values.ts";

/**
 * What becomes of a hold. Who won a race (pay against expire) is decided here, under the lock of
 * the rows and by the ledger's clock: the deadline rules, the expirer only writes it down.
 */
export function decideConfirm(book: Book, command: CommandOf<"confirm">): CommandResult {
  const found = book.orders.get(command.id);
  if (found === undefined) return { status: "unknown" };
  const known = book.paymentsOf(found.id).find((p) => p.paymentId === command.paymentId);
  if (known !== undefined) return repeatPayment(book, found, known);
  const broken = brokenLine(book, found);
  if (broken !== null) return broken;
  const order = writeDownExpiry(book, found);
  if (order.state === "expired") return { status: "late", order };
  if (order.state !== "reserved") return paymentDue(book, order, command);

  settleLines(book, order, {
    operation: "confirm",
    operationId: command.paymentId,
    actor: command.actor,
    reason: "",
  });
  noteTakenPayment(book, command);
  const confirmed = book.setOrder({ ...order, state: "confirmed", paymentId: command.paymentId });
  return acceptedResult(subjectOf(book, confirmed));
}

/** Hot stock had no units for a late payment: it is due back, once however often it is told. */
export function decideRefuseLate(book: Book, command: CommandOf<"refuse-late">): CommandResult {
  const order = book.orders.get(command.id);
  if (order === undefined) return { status: "unknown" };
  const known = book.paymentsOf(order.id).find((p) => p.paymentId === command.paymentId);
  if (known !== undefined) return repeatPayment(book, order, known);
  if (order.state === "reserved") {
    const detail = "the reservation is still held: confirm it";
    return rejectedResult("WRONG_STATE", detail, subjectOf(book, order));
  }
  return paymentDue(book, order, command);
}

export function decideCancel(book: Book, command: CommandOf<"cancel">): CommandResult {
  const { stamp } = command;
  if (stamp !== null && stamp.epoch < book.lane(stamp.lane).met) return { status: "stale" };
  const found = book.orders.get(command.id);
  if (found === undefined) {
    if (stamp === null) return { status: "unknown" };
    // It overtook its ticket, or there never was one: a late ticket finds the end of its id.
    const order = tombstone(book, command.id, "cancelled", command.reason);
    const { lane } = stamp;
    book.settled.push({ lane, id: order.id, answer: answerOf(order), versions: new Map() });
    return acceptedResult({ order });
  }
  if (found.state === "cancelled") return acceptedResult(subjectOf(book, found), true);
  const broken = brokenLine(book, found);
  if (broken !== null) return broken;
  const order = writeDownExpiry(book, found);
  if (order.state !== "reserved") return wrongState(book, order);

  settleLines(book, order, {
    operation: "cancel",
    operationId: "",
    actor: command.actor,
    reason: command.reason,
  });
  return acceptedResult(subjectOf(book, end(book, order, "cancelled", command.reason)));
}

export function decideExpire(book: Book, command: CommandOf<"expire">): CommandResult {
  const found = book.orders.get(command.id);
  if (found === undefined) return { status: "unknown" };
  if (found.state !== "reserved" || !isOverdue(found, book.now)) {
    return acceptedResult(subjectOf(book, found), true);
  }
  const broken = brokenLine(book, found);
  if (broken !== null) return broken;
  return acceptedResult(subjectOf(book, writeDownExpiry(book, found)));
}

export function decideExtend(book: Book, command: CommandOf<"extend">): CommandResult {
  const order = book.orders.get(command.id);
  if (order === undefined) return { status: "unknown" };
  const scope = scopeOfOrder(order.id);
  const fingerprint = `extend ${command.seconds}`;
  const known = book.operation(scope, command.operationId);
  if (known !== undefined) {
    if (known.fingerprint !== fingerprint) return keyReused(command.operationId);
    return acceptedResult(subjectOf(book, order), true);
  }
  if (order.state !== "reserved" || isOverdue(order, book.now) || order.expiresAt === null) {
    return wrongState(book, order);
  }
  book.record({
    scope,
    operationId: command.operationId,
    operation: "extend",
    fingerprint,
    code: null,
    detail: "",
    versions: new Map(),
    actor: command.actor,
    reason: "",
    content: { seconds: command.seconds },
  });
  const expiresAt = order.expiresAt + command.seconds * 1000;
  return acceptedResult(subjectOf(book, book.setOrder({ ...order, expiresAt })));
}

export function isOverdue(order: Order, now: Instant): boolean {
  return order.expiresAt !== null && now >= order.expiresAt;
}

export function subjectOf(book: Book, order: Order): Subject {
  return { order, payments: book.paymentsOf(order.id) };
}

export function wrongState(book: Book, order: Order): CommandResult {
  const state = order.state === "reserved" ? "expired" : order.state;
  return rejectedResult("WRONG_STATE", `the reservation is ${state}`, subjectOf(book, order));
}

export function keyReused(id: string): CommandResult {
  return rejectedResult("KEY_REUSED", `id ${id} was told with other content`, {});
}

/** A line whose SKU is not in the ledger, or holds less than it should: damage, not a refusal. */
export function brokenLine(book: Book, order: Order): CommandResult | null {
  const from = order.state === "reserved" ? "reserved" : null;
  for (const line of order.lines) {
    const row = book.skus.get(line.sku);
    const held = row === undefined || from === null ? 0 : row.balances[from];
    if (row === undefined) {
      const reason = `order ${order.id}: SKU ${line.sku} is not in the ledger`;
      return { status: "broken", sku: line.sku, reason };
    }
    if (from !== null && held < line.quantity) {
      const reason = `order ${order.id} holds ${line.quantity}, the SKU has ${held} ${from}`;
      return { status: "broken", sku: line.sku, reason };
    }
  }
  return null;
}

type PaymentTold = {
  readonly id: ReservationId;
  readonly paymentId: OperationId;
  readonly paidAt: Instant | null;
};

export function noteTakenPayment(book: Book, told: PaymentTold): void {
  notePayment(book, told, { state: "taken", code: null });
}

export function noteDuePayment(
  book: Book,
  told: PaymentTold & { readonly code: Payment["code"] },
): void {
  notePayment(book, told, { state: "due", code: told.code });
}

function notePayment(
  book: Book,
  { id, paymentId, paidAt }: PaymentTold,
  outcome: Pick<Payment, "state" | "code">,
): void {
  const recordedAt = book.now;
  book.setPayment(id, { paymentId, ...outcome, paidAt, recordedAt, refundId: null });
}

function paymentDue(book: Book, order: Order, told: PaymentTold): CommandResult {
  const paidByOther = order.state === "confirmed";
  const code = paidByOther ? "ALREADY_PAID" : "REFUND_DUE";
  noteDuePayment(book, { ...told, code });
  const detail = paidByOther
    ? `paid by ${order.paymentId}; payment ${told.paymentId} is due back`
    : `the reservation is ${order.state}; payment ${told.paymentId} is due back`;
  return rejectedResult(code, detail, subjectOf(book, order));
}

function repeatPayment(book: Book, order: Order, known: Payment): CommandResult {
  if (known.code === null) return acceptedResult(subjectOf(book, order), true);
  const detail = `payment ${known.paymentId} is ${known.state}`;
  return rejectedResult(known.code, detail, subjectOf(book, order), true);
}

function writeDownExpiry(book: Book, order: Order): Order {
  if (order.state !== "reserved" || !isOverdue(order, book.now)) return order;
  settleLines(book, order, { operation: "expire", operationId: "", actor: "expirer", reason: "" });
  return end(book, order, "expired", "not paid in time");
}

function end(book: Book, order: Order, state: DecidedState, reason: string): Order {
  return book.setOrder({ ...order, state, reason, endedAt: book.now });
}

function settleLines(
  book: Book,
  order: Order,
  act: { operation: Operation; operationId: string; actor: string; reason: string },
): void {
  for (const { sku, quantity } of order.lines) book.append({ ...act, sku, quantity, order });
}
