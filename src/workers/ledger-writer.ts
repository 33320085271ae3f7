import type { Delivery } from "../bus/bus.ts";
import type { Command, CommandResult } from "../domain/command.ts";
import { type Envelope, MessageError, openEnvelope, sealEnvelope } from "../domain/message.ts";
import type { LaneItem } from "../domain/ticket.ts";
import type { Lane } from "../domain/values.ts";
import { commandOf } from "../engine/lane-commands.ts";
import type { Parts } from "../engine/parts.ts";
import { resendLost } from "./marker.ts";
import type { Worker } from "./worker.ts";

/** Envelopes taken at once. */
const receiveMax = 20;
const receiveWaitMs = 100;
/** Quick tries of an item whose content cannot be decided. */
const triesMax = 3;

type Told = { readonly item: LaneItem; readonly envelope: Envelope; readonly attempt: number };

/**
 * Bus → ledger. Takes what its lane holds, decides it in order, projects, and acknowledges last:
 * a death anywhere brings the messages again, and the ledger's unique keys make them once. What
 * can never be decided goes to the dead letters and does not block the lane; an outage of the
 * ledger is no try, it only waits.
 */
export class LedgerWriter implements Worker {
  readonly name: string;
  readonly #parts: Parts;
  readonly #lane: Lane;

  constructor(parts: Parts, lane: Lane) {
    this.name = `ledger-writer ${lane}`;
    this.#parts = parts;
    this.#lane = lane;
  }

  async step(signal: AbortSignal): Promise<number> {
    const { bus } = this.#parts;
    const options = { max: receiveMax, waitMs: receiveWaitMs, signal };
    const deliveries = await bus.receive(this.#lane, options);
    if (deliveries.length === 0) return 0;
    try {
      const heard = await this.#decide(await this.#open(deliveries));
      if (heard) await bus.acknowledge(this.#lane, deliveries);
      else await bus.release(this.#lane, deliveries);
    } catch (error) {
      await bus.release(this.#lane, deliveries);
      throw error;
    }
    return deliveries.length;
  }

  idle(): Promise<void> {
    return Promise.resolve();
  }

  async #open(deliveries: readonly Delivery[]): Promise<Told[]> {
    const told: Told[] = [];
    for (const delivery of deliveries) {
      const envelope = await this.#read(delivery);
      if (envelope === null) continue;
      const { attempt } = delivery;
      told.push(...envelope.items.map((item) => ({ item, envelope, attempt })));
    }
    return told;
  }

  async #read({ body, attempt }: Delivery): Promise<Envelope | null> {
    const { messageKeys, ledger, events } = this.#parts;
    try {
      const envelope = openEnvelope(body, messageKeys);
      if (envelope.lane === this.#lane) return envelope;
      throw new MessageError(`of lane ${envelope.lane}, found in lane ${this.#lane}`);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      const unread = { kind: null, itemId: null, sku: null };
      const { message: reason } = error;
      const lane = this.#lane;
      await ledger.addDeadLetter({ lane, reason, body, tries: attempt, ...unread });
      events.deadLettered(lane, reason);
      return null;
    }
  }

  /** In order; a marker speaks of everything before it, so that is decided and projected first. */
  async #decide(told: readonly Told[]): Promise<boolean> {
    let heard = true;
    let batch: Told[] = [];
    for (const each of told) {
      if (each.item.kind !== "marker") {
        batch.push(each);
        continue;
      }
      heard = (await this.#run(batch)) && heard;
      batch = [];
      const { lane, epoch } = each.envelope;
      if (heard) await resendLost(this.#parts, { lane, epoch, seq: each.item.seq });
    }
    return (await this.#run(batch)) && heard;
  }

  /** False when hot stock has not heard: the messages come again, and it is told again. */
  async #run(batch: readonly Told[]): Promise<boolean> {
    const commands = batch.map((each) => commandOf(each.item, each.envelope, each.attempt));
    const told = batch.filter((_, index) => commands[index] !== null);
    const asked = commands.filter((command) => command !== null);
    if (asked.length === 0) return true;
    const { results, projected } = await this.#parts.line.run(asked);
    for (const [index, result] of results.entries()) {
      const each = told[index];
      const command = asked[index];
      if (each === undefined || command === undefined) continue;
      if (isUndecidable(result)) await this.#tryAgain(each, command);
    }
    return projected !== "later";
  }

  async #tryAgain(told: Told, command: Command): Promise<void> {
    let result: CommandResult = { status: "poison", reason: "" };
    for (let attempt = 2; attempt <= triesMax; attempt += 1) {
      result = await this.#parts.line.one(command);
      if (!isUndecidable(result)) return;
    }
    const { ledger, events, messageKeys, line } = this.#parts;
    const reason = "reason" in result ? result.reason : result.status;
    const { item, envelope } = told;
    const lane = this.#lane;
    await ledger.addDeadLetter({
      lane,
      reason,
      body: sealEnvelope({ ...envelope, items: [item] }, messageKeys),
      kind: item.kind,
      itemId: idOf(item),
      sku: item.kind === "ticket" ? (item.ticket.lines[0]?.sku ?? null) : null,
      tries: triesMax,
    });
    events.deadLettered(lane, reason);
    if (result.status !== "broken" || result.sku === null) return;
    const stop = { kind: "sku-status", sku: result.sku, to: "stopped", operationId: null } as const;
    await line.one({ ...stop, actor: "ledger-writer", reason });
    events.skuStopped(result.sku, reason);
  }
}

function isUndecidable(result: CommandResult): boolean {
  return result.status === "poison" || result.status === "broken";
}

function idOf(item: LaneItem): string | null {
  switch (item.kind) {
    case "ticket":
      return item.ticket.id;
    case "void":
    case "cancel":
      return item.id;
    case "marker":
    case "barrier":
      return null;
  }
}
