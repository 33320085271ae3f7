import type { Book } from "./book.ts";
import {
  type CommandResult,
  type OperationRecord,
  type SkuRow,
  scopeOfPayment,
  scopeOfSku,
} from "./command.ts";
import { keyReused, noteDuePayment, noteTakenPayment } from "./decide-settlement.ts";
import { acceptedResult, type CommandOf, rejectedResult } from "./decision.ts";
import type { Answer } from "./entry.ts";
import type { Rejection } from "./rejection.ts";
import { originOf } from "./request-origin.ts";
import type { Order, Payment } from "./reservation.ts";
import type { ReserveTicket, ReviveTicket, TakeTicket, Ticket } from "./ticket.ts";
import type { BuyerId, Lane, SaleId, SkuId } from "./values.ts";

type TicketCommand = CommandOf<"ticket">;

/** A ticket comes out of the lane: decided once, under the lock of its SKUs' rows. */
export function decideTicket(book: Book, command: TicketCommand): CommandResult {
  const { ticket, stamp } = command;
  if (stamp.epoch < book.lane(stamp.lane).met) return { status: "stale" };
  const { kind } = ticket;
  switch (kind) {
    case "reserve":
      return decideReserve(book, ticket, command);
    case "revive":
      return decideRevive(book, ticket, command);
    case "take":
      return decideTake(book, ticket, command);
  }
}

function decideReserve(book: Book, ticket: ReserveTicket, command: TicketCommand): CommandResult {
  const known = book.orders.get(ticket.id);
  if (known !== undefined) return repeatOrder(book, known, command.stamp.lane);
  const sale = book.sales.get(ticket.saleId);
  if (sale === undefined) return poison(`sale ${ticket.saleId} is not in the ledger`);
  const rows = rowsOf(book, ticket);
  if (typeof rows === "string") return poison(rows);

  const refusal = buyerRefusal(book, ticket, rows, sale.limitPerBuyer);
  const order = book.setOrder({
    id: ticket.id,
    saleId: ticket.saleId,
    buyerId: ticket.buyerId,
    idempotencyKey: ticket.idempotencyKey,
    fingerprint: ticket.fingerprint,
    state: refusal === null ? "reserved" : "rejected",
    code: refusal?.code ?? null,
    reason: refusal?.detail ?? null,
    lines: rows.map(({ row, line }) => ({
      sku: line.sku,
      quantity: line.quantity,
      restocked: 0,
      writtenOff: 0,
      decidedVersion: row.version + 1,
    })),
    admittedAt: command.admittedAt,
    sentAt: command.sentAt,
    attempt: command.attempt,
    decidedAt: book.now,
    expiresAt: refusal === null ? book.now + sale.holdMs : null,
    endedAt: refusal === null ? null : book.now,
    paymentId: null,
    revived: false,
    ...originOf(ticket),
  });
  for (const { sku, quantity } of ticket.lines) {
    const operation = refusal === null ? "reserve" : "reject";
    const reason = refusal?.code ?? "";
    book.append({
      sku,
      operation,
      operationId: "",
      quantity,
      order,
      actor: `buyer:${ticket.buyerId}`,
      reason,
    });
  }
  if (refusal !== null) return rejectedResult(refusal.code, refusal.detail, { order });
  return acceptedResult({ order });
}

/** The first decision under an id stands; hot stock drops what it still holds for the repeat. */
export function repeatOrder(book: Book, order: Order, lane: Lane): CommandResult {
  book.settled.push({
    lane,
    id: order.id,
    answer: answerOf(order),
    versions: decidedVersions(order),
  });
  const subject = { order, payments: book.paymentsOf(order.id) };
  if (order.code !== null && order.state === "rejected") {
    return rejectedResult(order.code, order.reason ?? "", subject, true);
  }
  return acceptedResult(subject, true);
}

function decideRevive(book: Book, ticket: ReviveTicket, command: TicketCommand): CommandResult {
  const scope = scopeOfPayment(ticket.reservationId);
  const known = book.operation(scope, ticket.paymentId);
  const order = book.orders.get(ticket.reservationId);
  if (order === undefined) return poison(`order ${ticket.reservationId} is not in the ledger`);
  if (known !== undefined) return repeatOperation(book, known, ticket, command.stamp.lane);
  const rows = rowsOf(book, ticket);
  if (typeof rows === "string") return poison(rows);

  const limit = book.sales.get(ticket.saleId)?.limitPerBuyer ?? null;
  const refusal = reviveRefusal(book, order, ticket) ?? buyerRefusal(book, ticket, rows, limit);
  const dueCode = refusal?.code === "ALREADY_PAID" ? "ALREADY_PAID" : "REFUND_DUE";
  const record = recordTicket(book, rows, {
    scope,
    operationId: ticket.paymentId,
    operation: "revive",
    fingerprint: ticket.fingerprint,
    code: refusal === null ? null : dueCode,
    detail: refusal?.detail ?? "",
    actor: "payment",
    reason: refusal?.code ?? "paid after the hold had ended",
  });
  const next = refusal === null ? revived(book, order, ticket) : order;
  for (const { sku, quantity } of ticket.lines) {
    book.append({
      sku,
      operation: refusal === null ? "revive" : "reject",
      operationId: ticket.paymentId,
      quantity,
      order: next,
      actor: record.actor,
      reason: record.reason,
    });
  }
  const paid = { id: order.id, paymentId: ticket.paymentId, paidAt: ticket.paidAt };
  if (refusal === null) noteTakenPayment(book, paid);
  else if (knownPayment(book, ticket) === undefined) {
    noteDuePayment(book, { ...paid, code: dueCode });
  }
  return reviveResult(book, next, record);
}

function revived(book: Book, order: Order, ticket: ReviveTicket): Order {
  return book.setOrder({
    ...order,
    state: "confirmed",
    paymentId: ticket.paymentId,
    revived: true,
    endedAt: null,
  });
}

function reviveRefusal(book: Book, order: Order, ticket: ReviveTicket): Refusal | null {
  const known = knownPayment(book, ticket);
  if (known !== undefined) {
    // It was told again, and decided, while its ticket was on the way: that answer stands.
    const detail = `payment ${ticket.paymentId} is decided already`;
    return { code: known.code ?? "REFUND_DUE", detail };
  }
  if (order.state === "expired") return null;
  if (order.state === "confirmed") {
    return { code: "ALREADY_PAID", detail: `paid by ${order.paymentId}` };
  }
  return { code: "WRONG_STATE", detail: `the reservation is ${order.state}` };
}

export function knownPayment(book: Book, ticket: ReviveTicket): Payment | undefined {
  const known = book.paymentsOf(ticket.reservationId);
  return known.find(({ paymentId }) => paymentId === ticket.paymentId);
}

function reviveResult(book: Book, order: Order, record: OperationRecord): CommandResult {
  const subject = { order, payments: book.paymentsOf(order.id), operation: record };
  if (record.code !== null) return rejectedResult(record.code, record.detail, subject);
  return acceptedResult(subject);
}

function decideTake(book: Book, ticket: TakeTicket, command: TicketCommand): CommandResult {
  const scope = scopeOfSku(ticket.sku);
  const known = book.operation(scope, ticket.operationId);
  if (known !== undefined) return repeatOperation(book, known, ticket, command.stamp.lane);
  const rows = rowsOf(book, ticket);
  if (typeof rows === "string") return poison(rows);
  const [first] = rows;
  if (first === undefined) return poison("a taking without a line");

  const refusal = takeRefusal(first.row, ticket, first.line.quantity);
  const record = recordTicket(book, rows, {
    scope,
    operationId: ticket.operationId,
    operation: ticket.operation,
    fingerprint: ticket.fingerprint,
    code: refusal?.code ?? null,
    detail: refusal?.detail ?? "",
    actor: ticket.actor,
    reason: ticket.reason,
  });
  book.append({
    sku: ticket.sku,
    operation: refusal === null ? ticket.operation : "reject",
    operationId: ticket.operationId,
    quantity: first.line.quantity,
    order: null,
    actor: ticket.actor,
    reason: refusal?.code ?? ticket.reason,
  });
  const level = book.skus.get(ticket.sku) ?? first.row;
  book.audit({
    actor: ticket.actor,
    action: `stock.${ticket.operation}`,
    subject: scope,
    reason: ticket.reason,
    before: { ...first.row.balances, version: first.row.version },
    after: { ...level.balances, version: level.version, refused: refusal?.code ?? null },
  });
  const subject = { level, operation: record };
  if (refusal !== null) return rejectedResult(refusal.code, refusal.detail, subject);
  return acceptedResult(subject);
}

function takeRefusal(row: SkuRow, ticket: TakeTicket, quantity: number): Refusal | null {
  if (ticket.ifVersion !== null && ticket.ifVersion !== row.version) {
    return {
      code: "VERSION_MOVED",
      detail: `decided on version ${ticket.ifVersion}, the SKU is at ${row.version}`,
    };
  }
  const { available } = row.balances;
  if (available >= quantity) return null;
  return { code: "NOT_ENOUGH", detail: `${quantity} asked, ${available} available` };
}

/** Told again with other content it is a conflict; hot stock drops what it holds either way. */
export function repeatOperation(
  book: Book,
  record: OperationRecord,
  ticket: Pick<Ticket, "id" | "fingerprint">,
  lane: Lane,
): CommandResult {
  book.settled.push({ lane, id: ticket.id, answer: null, versions: record.versions });
  if (record.fingerprint !== ticket.fingerprint) return keyReused(record.operationId);
  const subject = { operation: record };
  if (record.code !== null) return rejectedResult(record.code, record.detail, subject, true);
  return acceptedResult(subject, true);
}

/** An operation of a ticket remembers the version of each SKU that decided it. */
function recordTicket(
  book: Book,
  rows: readonly TicketRow[],
  record: Omit<OperationRecord, "at" | "versions" | "content">,
): OperationRecord {
  const versions = new Map(rows.map(({ row }) => [row.sku, row.version + 1]));
  const lines = rows.map(({ line }) => line);
  return book.record({ ...record, versions, content: { lines } });
}

type Answered = Pick<Order, "id" | "fingerprint" | "state" | "saleId"> & {
  readonly lines: readonly { readonly sku: SkuId }[];
};

/** What a repeat of the order's id is answered with, whatever became of it later. */
export function answerOf(order: Answered): Answer {
  const state = order.state;
  const first = state === "rejected" || state === "void" ? state : "reserved";
  return {
    id: order.id,
    fingerprint: order.fingerprint,
    state: order.saleId === null && state === "cancelled" ? "cancelled" : first,
    saleId: order.saleId,
    skus: order.lines.map((line) => line.sku),
  };
}

export function decidedVersions(order: Order): ReadonlyMap<SkuId, number> {
  return new Map(order.lines.map((line) => [line.sku, line.decidedVersion]));
}

type Refusal = { readonly code: Rejection; readonly detail: string };
type TicketRow = { readonly row: SkuRow; readonly line: Ticket["lines"][number] };

function rowsOf(book: Book, ticket: Ticket): readonly TicketRow[] | string {
  const rows: TicketRow[] = [];
  for (const line of ticket.lines) {
    const row = book.skus.get(line.sku);
    if (row === undefined) return `SKU ${line.sku} is not in the ledger`;
    rows.push({ row, line });
  }
  return rows;
}

function stopRefusal(rows: readonly TicketRow[]): Refusal | null {
  const stopped = rows.find(({ row }) => row.status === "stopped");
  if (stopped === undefined) return null;
  return { code: "SALE_PAUSED", detail: `SKU ${stopped.row.sku} is stopped` };
}

/**
 * The second look: a wrong hot number causes a late "no", never an oversell. The order of these
 * lines is the precedence of `rejections`.
 */
function buyerRefusal(
  book: Book,
  ticket: ReserveTicket | ReviveTicket,
  rows: readonly TicketRow[],
  limit: number | null,
): Refusal | null {
  return (
    stopRefusal(rows) ??
    soldOutRefusal(rows, () => 1) ??
    limitRefusal(book, ticket, limit) ??
    soldOutRefusal(rows, ({ line }) => line.quantity)
  );
}

function soldOutRefusal(
  rows: readonly TicketRow[],
  needed: (row: TicketRow) => number,
): Refusal | null {
  const short = rows.find((each) => each.row.balances.available < needed(each));
  if (short === undefined) return null;
  const { row, line } = short;
  const detail = `SKU ${row.sku}: ${line.quantity} asked, ${row.balances.available} left`;
  return { code: "SOLD_OUT", detail };
}

function limitRefusal(
  book: Book,
  ticket: { saleId: SaleId; buyerId: BuyerId; lines: Ticket["lines"] },
  limit: number | null,
): Refusal | null {
  if (limit === null) return null;
  for (const { sku, quantity } of ticket.lines) {
    const held = book.unitsOf(ticket.saleId, sku, ticket.buyerId);
    if (held + quantity > limit) {
      const detail = `SKU ${sku}: limit ${limit} a buyer, ${held} held, ${quantity} asked`;
      return { code: "LIMIT_EXCEEDED", detail };
    }
  }
  return null;
}

function poison(reason: string): CommandResult {
  return { status: "poison", reason };
}
