import type { Book } from "./book.ts";
import { type CommandResult, scopeOfPayment, scopeOfSku } from "./command.ts";
import { noteDuePayment } from "./decide-settlement.ts";
import { answerOf, knownPayment, repeatOperation, repeatOrder } from "./decide-ticket.ts";
import { type CommandOf, rejectedResult } from "./decision.ts";
import type { Order } from "./reservation.ts";
import type { ReviveTicket, TakeTicket } from "./ticket.ts";
import { reservationId } from "./values.ts";

/** Nobody knows the id: the first decision under it stands, so a late message is dropped. */
export function decideVoid(book: Book, command: CommandOf<"void">): CommandResult {
  const { stamp, ticket } = command;
  if (stamp.epoch < book.lane(stamp.lane).met) return { status: "stale" };
  if (ticket !== null && ticket.kind !== "reserve") return giveUp(book, ticket, command);
  const known = book.orders.get(command.id);
  if (known !== undefined) return repeatOrder(book, known, stamp.lane);
  const order = tombstone(book, reservationId(command.id), "void", command.reason);
  book.settled.push({
    lane: stamp.lane,
    id: order.id,
    answer: answerOf(order),
    versions: new Map(),
  });
  return rejectedResult("VOID", command.reason, { order });
}

/** An operator's or a payment's ticket that can never be decided ends as a refusal. */
function giveUp(
  book: Book,
  ticket: ReviveTicket | TakeTicket,
  command: CommandOf<"void">,
): CommandResult {
  const revive = ticket.kind === "revive";
  const scope = revive ? scopeOfPayment(ticket.reservationId) : scopeOfSku(ticket.sku);
  const operationId = revive ? ticket.paymentId : ticket.operationId;
  const { lane } = command.stamp;
  const known = book.operation(scope, operationId);
  if (known !== undefined) return repeatOperation(book, known, ticket, lane);
  const paid = revive ? knownPayment(book, ticket) : undefined;
  const operation = book.record({
    scope,
    operationId,
    operation: revive ? "revive" : ticket.operation,
    fingerprint: ticket.fingerprint,
    code: revive ? (paid?.code ?? "REFUND_DUE") : "VOID",
    detail: command.reason,
    versions: new Map(),
    actor: revive ? "payment" : ticket.actor,
    reason: command.reason,
    content: { lines: ticket.lines },
  });
  const order = revive ? book.orders.get(ticket.reservationId) : undefined;
  if (revive && order !== undefined && paid === undefined) {
    noteDuePayment(book, {
      id: order.id,
      paymentId: ticket.paymentId,
      paidAt: ticket.paidAt,
      code: "REFUND_DUE",
    });
  }
  book.settled.push({ lane, id: ticket.id, answer: null, versions: new Map() });
  return rejectedResult(operation.code ?? "VOID", command.reason, { operation });
}

/** An order that ends before its ticket was seen: no units ever moved. */
export function tombstone(
  book: Book,
  id: Order["id"],
  state: "void" | "cancelled",
  reason: string,
): Order {
  return book.setOrder({
    id,
    saleId: null,
    buyerId: null,
    idempotencyKey: null,
    fingerprint: null,
    state,
    code: state === "void" ? "VOID" : null,
    reason,
    lines: [],
    admittedAt: null,
    sentAt: null,
    attempt: 0,
    decidedAt: book.now,
    expiresAt: null,
    endedAt: book.now,
    paymentId: null,
    revived: false,
  });
}
