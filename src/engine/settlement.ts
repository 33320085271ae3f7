import type { Command, CommandResult } from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import { accepted, type Outcome, type Refused, refused, replayed } from "../domain/outcome.ts";
import { type Asked, originOf } from "../domain/request-origin.ts";
import type { Order } from "../domain/reservation.ts";
import { type LaneItem, type ReviveTicket, reviveTicketId } from "../domain/ticket.ts";
import { type Instant, type Lane, type OperationId, quantity } from "../domain/values.ts";
import { decidedTicket } from "./decided-ticket.ts";
import type { Expectation } from "./decisions.ts";
import type { Acting, Actor, RefundRequest, ReservationView, Settlement, Wait } from "./engine.ts";
import { decidedView, type Genuine, genuine, lookUp } from "./lookup.ts";
import type { Parts } from "./parts.ts";
import { pendingView } from "./views.ts";

type Paid = { readonly paymentId: OperationId; readonly paidAt: Instant | null };
type Told = Paid & Asked;

export function makeSettlement(parts: Parts): Settlement {
  return {
    confirm: (id, payment, acting) =>
      withGenuine(parts, id, (f) => confirm(parts, f, payment, acting)),
    cancel: (id, context) => withGenuine(parts, id, (found) => cancel(parts, found, context)),
    extend: (id, extension, acting) =>
      withGenuine(parts, id, (found) =>
        settle(parts, found, { kind: "extend", id: found.id, ...extension, ...actorOf(acting) }),
      ),
    refund: (id, refund, acting) =>
      withGenuine(parts, id, (found) => settle(parts, found, refundCommand(found, refund, acting))),
  };
}

/** Without the reason, which the command has no room for. */
function actorOf(acting: Acting): Actor {
  return { actor: acting.actor, ...originOf(acting) };
}

async function withGenuine(
  parts: Parts,
  text: string,
  act: (found: Genuine) => Promise<Outcome<ReservationView>>,
): Promise<Outcome<ReservationView>> {
  const found = genuine(parts, text);
  if (found === null) return refused("RESERVATION_NOT_FOUND", "no such reservation");
  return act(found);
}

async function settle(
  parts: Parts,
  found: Genuine,
  command: Command,
): Promise<Outcome<ReservationView>> {
  return outcomeOf(parts, found, await parts.line.one(command));
}

async function confirm(
  parts: Parts,
  found: Genuine,
  payment: Paid,
  acting: Acting,
): Promise<Outcome<ReservationView>> {
  const told = { id: found.id, ...payment, ...actorOf(acting) };
  const result = await parts.line.one({ kind: "confirm", ...told });
  if (result.status !== "late") return outcomeOf(parts, found, result);
  const revived = await revive(parts, found, result.order, { ...payment, ...originOf(acting) });
  if (revived !== "refused") return revived;
  return settle(parts, found, { kind: "refuse-late", ...told });
}

/**
 * A payment after the end of the hold takes from available, so it goes the buyers' way. Hot
 * stock's "no" makes it due back; no answer, or a closed one, makes it "ask again".
 */
async function revive(
  parts: Parts,
  found: Genuine,
  order: Order,
  payment: Told,
): Promise<Outcome<ReservationView> | "refused"> {
  const ticket = reviveTicket(order, payment);
  if (ticket === null) return "refused";
  const outcome = await decidedTicket(parts, found.lane, ticket);
  switch (outcome.kind) {
    case "decided":
      return outcomeOf(parts, found, outcome.result);
    case "refused":
      return outcome.code === "SALE_PAUSED" ? stockClosed("a SKU of it is stopped") : "refused";
    case "busy":
      return refused("BUSY", "too many tickets are in flight; try again");
    case "missing":
    case "closed":
      return stockClosed("hot stock is being rebuilt");
    case "undecided": {
      const told = { id: found.id, ...payment, actor: "payment" };
      const again = await parts.line.one({ kind: "confirm", ...told });
      if (again.status !== "late") return outcomeOf(parts, found, again);
      return refused("BUSY", "the late payment is not decided yet; tell it again");
    }
  }
}

function reviveTicket(order: Order, payment: Told): ReviveTicket | null {
  const { id, saleId, buyerId } = order;
  if (saleId === null || buyerId === null) return null;
  return {
    kind: "revive",
    id: reviveTicketId(id, payment.paymentId),
    fingerprint: payment.paymentId,
    lines: order.lines.map(({ sku, quantity: units }) => ({ sku, quantity: quantity(units) })),
    reservationId: id,
    saleId,
    buyerId,
    ...payment,
  };
}

/** One that the ledger has not decided is cancelled behind its ticket, through the lane. */
async function cancel(
  parts: Parts,
  found: Genuine,
  context: Acting & Wait,
): Promise<Outcome<ReservationView>> {
  const { actor, reason } = context;
  const act = { kind: "cancel", id: found.id, actor, reason, ...originOf(context) } as const;
  const result = await parts.line.one({ ...act, stamp: null });
  if (result.status !== "unknown") return outcomeOf(parts, found, result);
  const deadline = parts.clock.mono() + context.waitMs;
  const expect = (): Expectation =>
    parts.decisions.expect(found.id, deadline - parts.clock.mono(), context.signal);
  let told = expect();
  try {
    if (!(await enqueueCancel(parts, found.lane, act))) {
      return stockClosed("hot stock is being rebuilt");
    }
    for (;;) {
      const heard = await told.result;
      // The ticket's decision comes first; what comes while it is read must not be missed.
      told = expect();
      const view = await decidedView(parts, found.id);
      if (view !== null && view.state !== "reserved") return cancelled(view);
      // Woken because another process has decided the ticket: the cancellation is still to come.
      const isOver = context.signal?.aborted === true || parts.clock.mono() >= deadline;
      if (heard === null && isOver) return accepted(view ?? pendingView(found.id, null));
    }
  } finally {
    told.forget();
  }
}

type CancelItem = Extract<LaneItem, { kind: "cancel" }>;

async function enqueueCancel(parts: Parts, lane: Lane, item: CancelItem): Promise<boolean> {
  const fence = parts.fences.get(lane);
  if (fence === null) return false;
  const reply = await parts.hot.enqueue(fence, item);
  if (reply.closed) await parts.fences.closed(lane, reply.why);
  else parts.outboxBell.ring();
  return !reply.closed;
}

function cancelled(view: ReservationView): Outcome<ReservationView> {
  if (view.state === "cancelled") return accepted(view);
  const facts = { state: view.state, reservation: view };
  return refused("WRONG_STATE", `the reservation is ${view.state}`, facts);
}

function refundCommand(found: Genuine, refund: RefundRequest, acting: Acting): Command {
  const { id } = found;
  const { refundId } = refund;
  if (refund.kind === "payment") {
    return { kind: "settle-payment", id, refundId, paymentId: refund.paymentId, ...acting };
  }
  const { lines, restock } = refund;
  return { kind: "refund", id, refundId, lines, restock, ...acting };
}

async function outcomeOf(
  parts: Parts,
  found: Genuine,
  result: CommandResult,
): Promise<Outcome<ReservationView>> {
  switch (result.status) {
    case "accepted": {
      const view = (await decidedView(parts, found.id)) ?? pendingView(found.id, null);
      return result.replayed ? replayed(view) : accepted(view);
    }
    case "rejected": {
      const view = await decidedView(parts, found.id);
      const facts = view === null ? {} : { state: view.state, reservation: view };
      return { ...refused(result.code, result.detail, facts), replayed: result.replayed };
    }
    case "unknown":
      return notDecided(await lookUp(parts, found, { waitMs: 0 }));
    case "broken":
      throw new Fault("LEDGER_UNAVAILABLE", `a person must look at it: ${result.reason}`);
    case "late":
    case "stale":
    case "poison":
      return stockClosed("not decided; ask again");
  }
}

function notDecided(view: ReservationView): Outcome<ReservationView> {
  if (view.state === "void") return refused("VOID", "the reservation is void", { state: "void" });
  const facts = { state: view.state, retryable: true };
  return refused("WRONG_STATE", "the reservation is still pending; ask again", facts);
}

function stockClosed(detail: string): Refused {
  return refused("STOCK_CLOSED", detail);
}
