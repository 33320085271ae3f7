import type { CommandResult } from "../domain/command.ts";
import type { ReviveTicket, TakeTicket } from "../domain/ticket.ts";
import type { Lane } from "../domain/values.ts";
import type { AdmissionReply } from "./admission.ts";
import type { Parts } from "./parts.ts";

/** How long an operator's or a payment's ticket is waited for before it is "ask again". */
const ticketWaitMs = 10_000;

export type TicketOutcome =
  | Exclude<AdmissionReply, { kind: "admitted" | "replayed" }>
  | { readonly kind: "decided"; readonly result: CommandResult }
  | { readonly kind: "undecided" };

/** Admits a ticket that is not a buyer's request, and waits for what the ledger makes of it. */
export async function decidedTicket(
  parts: Parts,
  lane: Lane,
  ticket: ReviveTicket | TakeTicket,
): Promise<TicketOutcome> {
  const told = parts.decisions.expect(ticket.id, ticketWaitMs);
  try {
    const admission = await parts.admissions.admit(lane, ticket);
    if (admission.kind !== "admitted" && admission.kind !== "replayed") return admission;
    const result = await told.result;
    return result === null ? { kind: "undecided" } : { kind: "decided", result };
  } finally {
    told.forget();
  }
}
