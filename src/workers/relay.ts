import { sealEnvelope } from "../domain/message.ts";
import type { LaneItem } from "../domain/ticket.ts";
import type { Lane } from "../domain/values.ts";
import type { Parts } from "../engine/parts.ts";
import type { OutboxHead } from "../hot-stock/hot-stock.ts";
import type { LeasedWorker } from "./leased.ts";

/** Items read at once. */
const headMax = 500;
/** Cart lines in one envelope: bounds its bytes. */
const envelopeLinesMax = 2_000;
const idleMs = 50;

/**
 * Outbox → bus: many tickets in one signed envelope, stamped with the epoch at sending, deleted
 * from the outbox after the broker's confirm. A death in between tells them twice, harmlessly.
 */
export class Relay implements LeasedWorker {
  readonly name: string;
  readonly #parts: Parts;
  readonly #lane: Lane;

  constructor(parts: Parts, lane: Lane) {
    this.name = `relay ${lane}`;
    this.#parts = parts;
    this.#lane = lane;
  }

  async step(): Promise<number> {
    const { hot, bus, clock, messageKeys } = this.#parts;
    const head = await hot.outbox(this.#lane, headMax);
    if (head.epoch === null || head.items.length === 0) return 0;
    const fence = { lane: this.#lane, epoch: head.epoch, incarnation: head.incarnation };
    for (const part of envelopes(head.items)) {
      const items = part.map(({ item }) => item);
      const { lane, epoch } = fence;
      const envelope = { lane, epoch, sentAt: clock.now(), items };
      await bus.publish(lane, sealEnvelope(envelope, messageKeys));
      const reply = await hot.forward(
        fence,
        part.map(({ seq }) => seq),
      );
      // A rebuild has begun meanwhile: what was sent is sent again with its epoch.
      if (reply.closed) return head.items.length;
    }
    return head.items.length;
  }

  idle(signal: AbortSignal): Promise<void> {
    return this.#parts.outboxBell.wait(this.#parts.clock, idleMs, signal);
  }
}

function envelopes(items: OutboxHead["items"]): OutboxHead["items"][number][][] {
  const parts: OutboxHead["items"][number][][] = [];
  let lines = 0;
  for (const each of items) {
    const weight = weightOf(each.item);
    const last = parts.at(-1);
    if (last === undefined || lines + weight > envelopeLinesMax) {
      parts.push([each]);
      lines = weight;
    } else {
      last.push(each);
      lines += weight;
    }
  }
  return parts;
}

function weightOf(item: LaneItem): number {
  const ticket = item.kind === "ticket" || item.kind === "void" ? item.ticket : null;
  return Math.max(1, ticket?.lines.length ?? 0);
}
