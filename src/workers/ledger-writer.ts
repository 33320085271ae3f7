import type { Delivery } from "../bus/bus.ts";
import type { Command, CommandResult } from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import { type Envelope, MessageError, openEnvelope, sealEnvelope } from "../domain/message.ts";
import type { LaneItem } from "../domain/ticket.ts";
import type { Lane } from "../domain/values.ts";
import { commandOf } from "../engine/lane-commands.ts";
import type { Parts } from "../engine/parts.ts";
import type { NewDeadLetter } from "../ledger/ledger.ts";
import { resendLost } from "./marker.ts";
import type { Worker } from "./worker.ts";

/** Envelopes taken at once. */
const receiveMax = 20;
const receiveWaitMs = 100;
/** Quick tries of an item whose content cannot be decided. */
const triesMax = 3;

type Told = { readonly item: LaneItem; readonly envelope: Envelope; readonly attempt: number };

/** What came of one receive; the dead letters are written once hot stock has heard the rest. */
type Taken = { readonly told: readonly Told[]; readonly letters: NewDeadLetter[] };

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
      await this.#settle(this.#open(deliveries));
      await bus.acknowledge(this.#lane, deliveries);
    } catch (error) {
      await bus.release(this.#lane, deliveries);
      throw error;
    }
    return deliveries.length;
  }

  idle(): Promise<void> {
    return Promise.resolve();
  }

  #open(deliveries: readonly Delivery[]): Taken {
    const told: Told[] = [];
    const letters: NewDeadLetter[] = [];
    for (const { body, attempt } of deliveries) {
      try {
        const envelope = this.#read(body);
        for (const item of envelope.items) told.push({ item, envelope, attempt });
      } catch (error) {
        if (!(error instanceof MessageError)) throw error;
        const unread = { kind: null, itemId: null, sku: null };
        letters.push({ lane: this.#lane, reason: error.message, body, tries: attempt, ...unread });
      }
    }
    return { told, letters };
  }

  #read(body: Buffer): Envelope {
    const envelope = openEnvelope(body, this.#parts.messageKeys);
    if (envelope.lane === this.#lane) return envelope;
    throw new MessageError(`of lane ${envelope.lane}, found in lane ${this.#lane}`);
  }

  /** In order; a marker speaks of everything before it, so that is decided and projected first. */
  async #settle({ told, letters }: Taken): Promise<void> {
    let batch: Told[] = [];
    for (const each of told) {
      if (each.item.kind !== "marker") {
        batch.push(each);
        continue;
      }
      await this.#run(batch, letters);
      batch = [];
      const { lane, epoch } = each.envelope;
      await resendLost(this.#parts, { lane, epoch, seq: each.item.seq });
    }
    await this.#run(batch, letters);
    const { ledger, events } = this.#parts;
    for (const letter of letters) {
      await ledger.addDeadLetter(letter);
      events.deadLettered(letter.lane, letter.reason);
    }
  }

  /** Throws when hot stock has not heard: the messages come again, and it is told again. */
  async #run(batch: readonly Told[], letters: NewDeadLetter[]): Promise<void> {
    const told: Told[] = [];
    const asked: Command[] = [];
    for (const each of batch) {
      const command = commandOf(each.item, each.envelope, each.attempt);
      if (command === null) continue;
      told.push(each);
      asked.push(command);
    }
    if (asked.length === 0) return;
    const { results, projected } = await this.#parts.line.run(asked);
    for (const [index, result] of results.entries()) {
      const each = told[index];
      const command = asked[index];
      if (each === undefined || command === undefined || !isUndecidable(result)) continue;
      const last = await this.#tryAgain(command);
      if (isUndecidable(last)) letters.push(await this.#giveUp(each, last));
    }
    if (projected === "later") {
      throw new Fault("HOT_UNAVAILABLE", `lane ${this.#lane}: hot stock has not heard`);
    }
  }

  async #tryAgain(command: Command): Promise<CommandResult> {
    let result: CommandResult = { status: "poison", reason: "" };
    for (let attempt = 2; attempt <= triesMax && isUndecidable(result); attempt += 1) {
      result = await this.#parts.line.one(command);
    }
    return result;
  }

  async #giveUp({ item, envelope }: Told, result: CommandResult): Promise<NewDeadLetter> {
    const { events, messageKeys, line } = this.#parts;
    const reason = "reason" in result ? result.reason : result.status;
    if (result.status === "broken" && result.sku !== null) {
      const { sku } = result;
      const stop = { kind: "sku-status", sku, to: "stopped", operationId: null } as const;
      await line.one({ ...stop, actor: "ledger-writer", reason });
      events.skuStopped(sku, reason);
    }
    return {
      lane: this.#lane,
      reason,
      body: sealEnvelope({ ...envelope, items: [item] }, messageKeys),
      kind: item.kind,
      itemId: idOf(item),
      sku: item.kind === "ticket" ? (item.ticket.lines[0]?.sku ?? null) : null,
      tries: triesMax,
    };
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
