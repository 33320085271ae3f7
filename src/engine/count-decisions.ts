import type { Command, CommandResult } from "../domain/command.ts";
import type { Instant } from "../domain/values.ts";
import type { Events } from "../events.ts";

/** Success is counted here, at the ledger's decision, and nowhere else. */
export function countDecisions(
  events: Events,
  commands: readonly Command[],
  results: readonly CommandResult[],
  now: Instant,
): void {
  let reserved = 0;
  let confirmed = 0;
  let cancelled = 0;
  let refunded = 0;
  for (const [index, command] of commands.entries()) {
    const result = results[index];
    if (result === undefined) continue;
    if (result.status === "rejected" && !result.replayed) {
      if (command.kind === "void") events.voided(1);
      else if (command.kind === "ticket") events.rejected(result.code, 1);
    }
    if (result.status !== "accepted" || result.replayed) continue;
    if (command.kind === "ticket" && command.ticket.kind === "reserve") reserved += 1;
    if (command.kind === "confirm") confirmed += 1;
    if (command.kind === "ticket" && command.ticket.kind === "revive") confirmed += 1;
    if (command.kind === "cancel") cancelled += 1;
    if (command.kind === "refund") refunded += 1;
    if (command.kind === "expire") {
      const expiresAt = result.subject.order?.expiresAt ?? now;
      events.expired(1, Math.max(0, now - expiresAt));
    }
  }
  if (reserved > 0) events.committed(reserved);
  if (confirmed > 0) events.confirmed(confirmed);
  if (cancelled > 0) events.cancelled(cancelled);
  if (refunded > 0) events.refunded(refunded);
}
