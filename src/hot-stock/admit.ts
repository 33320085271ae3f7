import { unreachable } from "../domain/invariant.ts";
import type { Rejection } from "../domain/rejection.ts";
import { windowRefusal } from "../domain/sale.ts";
import type { ReserveTicket, ReviveTicket, TakeTicket, Ticket } from "../domain/ticket.ts";
import type { Instant, SkuId } from "../domain/values.ts";
import type { Admission } from "./hot-stock.ts";
import { append, type HotSku, hold, type LaneState } from "./lane-state.ts";

/** The deciding store's clock, and how many tickets the lane may hold in flight. */
export type AdmitAt = { readonly now: Instant; readonly ticketsMax: number };

/** Replay, then refusals in order of precedence, then the writes, which may not refuse. */
export function admitTicket(state: LaneState, ticket: Ticket, at: AdmitAt): Admission {
  const { now, ticketsMax } = at;
  const refusal = replay(state, ticket) ?? refuse(state, ticket, now);
  if (refusal !== null) return refusal;
  if (state.tickets.size >= ticketsMax) return { kind: "busy" };

  // Nothing below may refuse.
  hold(state, ticket);
  const seq = append(state, { kind: "ticket", ticket, admittedAt: now }, now);
  state.tickets.set(ticket.id, { ticket, admittedAt: now, seq, resends: 0 });
  return { kind: "admitted", admittedAt: now };
}

function replay(state: LaneState, ticket: Ticket): Admission | null {
  const answer = state.answers.get(ticket.id);
  if (answer !== undefined) {
    if (answer.fingerprint !== null && answer.fingerprint !== ticket.fingerprint) {
      return refused("KEY_REUSED");
    }
    return { kind: "replayed", state: answer.state };
  }
  const held = state.tickets.get(ticket.id);
  if (held === undefined) return null;
  if (held.ticket.fingerprint !== ticket.fingerprint) return refused("KEY_REUSED");
  return { kind: "replayed", state: "pending" };
}

function refuse(state: LaneState, ticket: Ticket, now: Instant): Admission | null {
  switch (ticket.kind) {
    case "reserve":
      return refuseReserve(state, ticket, now);
    case "revive":
      return missingSku(state, ticket) ?? refuseUnits(state, ticket);
    case "take":
      return missingSku(state, ticket) ?? refuseTaking(state, ticket);
    default:
      return unreachable(ticket);
  }
}

function refuseReserve(state: LaneState, ticket: ReserveTicket, now: Instant): Admission | null {
  const policy = state.policies.get(ticket.saleId);
  if (policy === undefined) return { kind: "missing", what: "sale", sku: null };
  const stranger = ticket.lines.find((line) => !policy.skus.has(line.sku));
  if (stranger !== undefined) return refused("SKU_NOT_FOUND", stranger.sku);
  const missing = missingSku(state, ticket);
  if (missing !== null) return missing;
  const code = windowRefusal(policy, now);
  return code === null ? refuseUnits(state, ticket) : refused(code);
}

function refuseUnits(state: LaneState, ticket: ReserveTicket | ReviveTicket): Admission | null {
  const { lines } = ticket;
  const left = (sku: SkuId): number => state.skus.get(sku)?.available ?? 0;
  const stopped = lines.find(({ sku }) => state.skus.get(sku)?.stopped === true);
  if (stopped !== undefined) return refused("SALE_PAUSED", stopped.sku);
  const empty = lines.find(({ sku }) => left(sku) <= 0);
  if (empty !== undefined) return refused("SOLD_OUT", empty.sku);
  const limit = state.policies.get(ticket.saleId)?.limitPerBuyer ?? null;
  const over =
    limit === null
      ? undefined
      : lines.find(({ sku, quantity }) => {
          return overLimit(state.skus.get(sku), ticket, quantity, limit);
        });
  if (over !== undefined) return refused("LIMIT_EXCEEDED", over.sku);
  const short = lines.find(({ sku, quantity }) => left(sku) < quantity);
  return short === undefined ? null : refused("SOLD_OUT", short.sku);
}

function overLimit(
  hot: HotSku | undefined,
  ticket: ReserveTicket | ReviveTicket,
  quantity: number,
  limit: number,
): boolean {
  if (hot === undefined || hot.saleId !== ticket.saleId) return false;
  return (hot.buyers.get(ticket.buyerId) ?? 0) + quantity > limit;
}

function refuseTaking(state: LaneState, ticket: TakeTicket): Admission | null {
  const short = ticket.lines.find(
    ({ sku, quantity }) => (state.skus.get(sku)?.available ?? 0) < quantity,
  );
  return short === undefined ? null : refused("NOT_ENOUGH", short.sku);
}

/** A missing key is never "not found": what exists is known from the ledger. */
function missingSku(state: LaneState, ticket: Ticket): Admission | null {
  const line = ticket.lines.find(({ sku }) => !state.skus.has(sku));
  return line === undefined ? null : { kind: "missing", what: "sku", sku: line.sku };
}

function refused(code: Rejection, sku: SkuId | null = null): Admission {
  return { kind: "refused", code, sku };
}
