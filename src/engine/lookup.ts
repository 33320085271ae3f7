import { Fault } from "../domain/fault.ts";
import { laneOfReservation } from "../domain/reservation-id.ts";
import { type Lane, type ReservationId, reservationId } from "../domain/values.ts";
import type { ReservationView, Wait } from "./engine.ts";
import type { Parts } from "./parts.ts";
import { pendingView, viewOf } from "./views.ts";

export type Genuine = { readonly id: ReservationId; readonly lane: Lane };

/** An id that this system made; null for a forged one, without touching a store. */
export function genuine(parts: Parts, text: string): Genuine | null {
  const lane = laneOfReservation(parts.idSecret, text);
  return lane === null || lane >= parts.lanes ? null : { id: reservationId(text), lane };
}

export async function decidedView(
  { ledger }: Parts,
  id: ReservationId,
): Promise<ReservationView | null> {
  const found = await ledger.order(id);
  return found === null ? null : viewOf(found);
}

/**
 * The reservation as it is: decided by the ledger, or on its way, or known to nobody. The last
 * is voided through the lane: the first decision under an id stands, so a late message cannot
 * bring it back. An unanswered or closed hot stock proves nothing and voids nothing.
 */
export async function lookUp(parts: Parts, found: Genuine, wait: Wait): Promise<ReservationView> {
  const decided = await decidedView(parts, found.id);
  if (decided !== null) return decided;
  const told = parts.decisions.expect(found.id, wait.waitMs, wait.signal);
  try {
    const hot = await hotView(parts, found);
    const seen = hot === "decided" ? pendingView(found.id, null) : hot;
    if (hot !== "decided") await told.result;
    return (await decidedView(parts, found.id)) ?? seen;
  } finally {
    told.forget();
  }
}

async function hotView(parts: Parts, { id, lane }: Genuine): Promise<ReservationView | "decided"> {
  try {
    const found = await parts.hot.lookup(lane, id);
    switch (found.kind) {
      case "decided":
        return "decided";
      case "pending":
        return pendingView(id, found.ticket);
      case "unknown":
        await voidThroughLane(parts, { id, lane });
        return pendingView(id, null);
      case "closed":
        return pendingView(id, null);
    }
  } catch (error) {
    if (error instanceof Fault) return pendingView(id, null);
    throw error;
  }
}

async function voidThroughLane(parts: Parts, { id, lane }: Genuine): Promise<void> {
  const fence = await parts.fences.known(lane);
  if (fence === null) return;
  const reason = "its ticket was lost before the ledger saw it";
  const reply = await parts.hot.enqueue(fence, { kind: "void", id, ticket: null, reason });
  if (reply.closed) await parts.fences.closed(lane, reply.why);
  else parts.outboxBell.ring();
}
