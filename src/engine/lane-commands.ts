import type { Command } from "../domain/command.ts";
import type { Envelope } from "../domain/message.ts";
import type { LaneItem } from "../domain/ticket.ts";

/** What an item of a lane asks the ledger to decide; a marker asks nothing. */
export function commandOf(item: LaneItem, envelope: Envelope, attempt: number): Command | null {
  const stamp = { lane: envelope.lane, epoch: envelope.epoch };
  switch (item.kind) {
    case "ticket": {
      const { ticket, admittedAt } = item;
      return { kind: "ticket", stamp, ticket, admittedAt, sentAt: envelope.sentAt, attempt };
    }
    case "void":
      return { kind: "void", stamp, id: item.id, ticket: item.ticket, reason: item.reason };
    case "cancel":
      return { ...item, stamp };
    case "barrier":
      return { kind: "barrier", lane: envelope.lane, epoch: item.epoch };
    case "marker":
      return null;
  }
}

export function commandsOf(envelope: Envelope, attempt: number): Command[] {
  return envelope.items.flatMap((item) => commandOf(item, envelope, attempt) ?? []);
}
