import type { Epoch, Lane } from "../domain/values.ts";
import type { Parts } from "../engine/parts.ts";
import type { Fence, OverdueTicket } from "../hot-stock/hot-stock.ts";

/** A ticket that was sent again this often and is still undecided is given up, by a void. */
const resendsMax = 3;

/**
 * A marker has come out of the lane: a ticket that left the outbox before it and is still
 * undecided was lost by the broker, and is sent again. Age alone is never a reason: a backlog
 * is not a loss. What the ledger has decided is dropped instead.
 */
export async function resendLost(
  parts: Parts,
  marker: { readonly lane: Lane; readonly epoch: Epoch; readonly seq: number },
): Promise<void> {
  const { hot, ledger, projector, fences } = parts;
  const fence = await fences.since(marker.lane, marker.epoch);
  // Numbers of another epoch mean nothing in this one.
  if (fence === null || fence.epoch !== marker.epoch) return;
  const reply = await hot.overdue(fence, marker.seq);
  if (reply.closed || reply.value.length === 0) return;
  const settled = await ledger.settled(
    marker.lane,
    reply.value.map(({ ticket }) => ticket.id),
  );
  if (settled.length > 0) await projector.project([], settled);
  const decided = new Set(settled.map(({ id }) => id));
  const lost = reply.value.filter(({ ticket }) => !decided.has(ticket.id));
  await sendAgain(parts, fence, marker.seq, lost);
}

async function sendAgain(
  parts: Parts,
  fence: Fence,
  seq: number,
  lost: readonly OverdueTicket[],
): Promise<void> {
  const { hot, ledger, events, outboxBell } = parts;
  const again = lost.filter(({ resends }) => resends < resendsMax).map(({ ticket }) => ticket.id);
  const reply = await hot.resend(fence, seq, again);
  const resent = reply.closed ? [] : reply.value;
  if (resent.length > 0) {
    events.resent(fence.lane, resent);
    await ledger.repaired(fence.lane, resent.length);
  }
  for (const { ticket, resends } of lost) {
    if (resends < resendsMax) continue;
    const reason = `sent ${resendsMax + 1} times and never decided`;
    await hot.enqueue(fence, { kind: "void", id: ticket.id, ticket, reason });
  }
  outboxBell.ring();
}
