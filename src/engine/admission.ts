import { Fault } from "../domain/fault.ts";
import { invariant } from "../domain/invariant.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { Lane, SkuId } from "../domain/values.ts";
import type { Events } from "../events.ts";
import type {
  Admission,
  ClosedReason,
  Fence,
  HotStock,
  KnownIds,
  Left,
  Reply,
} from "../hot-stock/hot-stock.ts";
import type { Bell } from "./bell.ts";
import type { Fences } from "./fences.ts";
import type { SoldOutGate } from "./gate.ts";

/** Tickets per call: the most that keeps a script's time short. */
const batchMax = 100;
/** Calls under way for a lane: one is being spelled, or read, while the store has another. */
const callsMax = 3;
/** Tickets that may wait for a call; past it a caller is told to come back. */
const waitingMax = 20_000;
/** Once more under the fence that the ledger has registered meanwhile. */
const attemptsMax = 2;

export type AdmissionReply =
  | Admission
  | { readonly kind: "closed"; readonly why: ClosedReason | "unknown lane" };

type Waiting = {
  readonly ticket: Ticket;
  readonly resolve: (reply: AdmissionReply) => void;
  readonly reject: (error: unknown) => void;
};

const unknownLane = { closed: true, why: "unknown lane" } as const;
type Asked = Reply<readonly Admission[]> | typeof unknownLane;

type Queue = { readonly waiting: Waiting[]; busy: boolean };

/** What is done with those who wait, a batch at a time, lane by lane. */
type Turns = {
  readonly queues: Map<Lane, Queue>;
  readonly batchMax: number;
  readonly act: (lane: Lane, batch: readonly Waiting[]) => Promise<void>;
};

/**
 * Requests that arrive together are admitted together, a batch per lane and call: the next batch
 * fills while the last is under way, and only a full one is sent behind it. A lone request waits
 * for nobody but one turn of the event loop, in which all that the sockets hold comes along.
 */
export class Admissions {
  readonly #hot: HotStock;
  readonly #fences: Fences;
  readonly #gate: SoldOutGate;
  readonly #events: Events;
  readonly #outboxBell: Bell;
  readonly #turn: () => Promise<void>;
  readonly #open: Turns = {
    queues: new Map(),
    batchMax,
    act: (lane, batch) => this.#admitBatch(lane, batch),
  };
  readonly #gated: Turns = {
    queues: new Map(),
    batchMax: waitingMax,
    act: (lane, batch) => this.#askGates(lane, batch),
  };

  constructor(parts: {
    hot: HotStock;
    fences: Fences;
    gate: SoldOutGate;
    events: Events;
    outboxBell: Bell;
    turn: () => Promise<void>;
  }) {
    this.#hot = parts.hot;
    this.#fences = parts.fences;
    this.#gate = parts.gate;
    this.#events = parts.events;
    this.#outboxBell = parts.outboxBell;
    this.#turn = parts.turn;
  }

  admit(lane: Lane, ticket: Ticket): Promise<AdmissionReply> {
    const gated = this.#gateBefore(lane, ticket) !== null;
    return new Promise((resolve, reject) => {
      const waiting = { ticket, resolve, reject };
      this.#enter(gated ? this.#gated : this.#open, lane, waiting);
    });
  }

  #gateBefore(lane: Lane, ticket: Ticket): SkuId | null {
    const fence = this.#fences.get(lane);
    if (fence === null || ticket.kind !== "reserve") return null;
    return this.#gate.stopping(ticket, fence.epoch);
  }

  #enter(turns: Turns, lane: Lane, waiting: Waiting): void {
    const queue = turns.queues.get(lane) ?? { waiting: [], busy: false };
    turns.queues.set(lane, queue);
    if (queue.waiting.length >= waitingMax) {
      waiting.resolve({ kind: "busy" });
      return;
    }
    queue.waiting.push(waiting);
    if (!queue.busy) void this.#work(turns, lane, queue);
  }

  async #work(turns: Turns, lane: Lane, queue: Queue): Promise<void> {
    queue.busy = true;
    await this.#turn();
    const { waiting } = queue;
    const underWay = new Set<Promise<void>>();
    while (waiting.length + underWay.size > 0) {
      const isFull = waiting.length >= turns.batchMax && underWay.size < callsMax;
      if (waiting.length === 0 || (underWay.size > 0 && !isFull)) {
        await Promise.race(underWay);
        continue;
      }
      const acted = this.#act(turns, lane, waiting.splice(0, turns.batchMax)).then(() => {
        underWay.delete(acted);
      });
      underWay.add(acted);
    }
    queue.busy = false;
  }

  async #act(turns: Turns, lane: Lane, batch: readonly Waiting[]): Promise<void> {
    try {
      await turns.act(lane, batch);
    } catch (error) {
      this.#events.unknownOutcome("admit");
      for (const { reject } of batch) reject(error);
    }
  }

  /** Refuses together what stands at a gate, if hot stock says so still; the rest goes in. */
  async #askGates(lane: Lane, batch: readonly Waiting[]): Promise<void> {
    const fence = this.#fences.get(lane);
    const skus = new Set(batch.flatMap(({ ticket }) => this.#gateBefore(lane, ticket) ?? []));
    const asks = fence !== null && skus.size > 0;
    const reply = asks ? await this.#hot.leftOf(fence, [...skus]) : null;
    const left = new Map(
      reply === null || reply.closed ? [] : reply.value.map((each) => [each.sku, each]),
    );
    let refused = 0;
    for (const waiting of batch) {
      const sku = this.#refusedAt(lane, waiting.ticket, left);
      if (sku === null) {
        this.#enter(this.#open, lane, waiting);
        continue;
      }
      refused += 1;
      waiting.resolve({ kind: "refused", code: "SOLD_OUT", sku });
    }
    if (refused > 0) this.#events.refused("SOLD_OUT", refused);
  }

  #refusedAt(lane: Lane, ticket: Ticket, left: ReadonlyMap<SkuId, Left>): SkuId | null {
    const sku = this.#gateBefore(lane, ticket);
    const found = sku === null ? undefined : left.get(sku);
    if (found === undefined || ticket.kind !== "reserve") return null;
    return this.#gate.holds(ticket.saleId, found) ? sku : null;
  }

  async #admitBatch(lane: Lane, batch: readonly Waiting[]): Promise<void> {
    const tickets = batch.map(({ ticket }) => ticket);
    const reply = await this.#askHot(lane, tickets);
    if (reply.closed) {
      for (const { resolve } of batch) resolve({ kind: "closed", why: reply.why });
      return;
    }
    this.#outboxBell.ring();
    this.#count(reply.value);
    this.#openGates(tickets, reply.value);
    await this.#closeGates(lane, tickets, reply.value);
    for (const [index, { resolve }] of batch.entries()) {
      const admission = reply.value[index];
      invariant(admission !== undefined, "every ticket of a batch has its admission");
      resolve(admission);
    }
  }

  /** A lane that another process has rebuilt meanwhile is closed to the old fence only. */
  async #askHot(lane: Lane, tickets: readonly Ticket[]): Promise<Asked> {
    for (let attempt = 1; ; attempt += 1) {
      const fence = this.#fences.get(lane);
      const reply = fence === null ? unknownLane : await this.#hot.admit(fence, tickets);
      if (!reply.closed) return reply;
      if (reply.why === "unknown lane") await this.#fences.refresh();
      else await this.#fences.closed(lane, reply.why);
      const next = this.#fences.get(lane);
      if (next === null || next.epoch === fence?.epoch || attempt === attemptsMax) return reply;
    }
  }

  #count(admissions: readonly Admission[]): void {
    let admitted = 0;
    let replayed = 0;
    for (const admission of admissions) {
      if (admission.kind === "admitted") admitted += 1;
      if (admission.kind === "replayed") replayed += 1;
      if (admission.kind === "refused") this.#events.refused(admission.code, 1);
      if (admission.kind === "busy") this.#events.refused("BUSY", 1);
    }
    if (admitted > 0) this.#events.admitted(admitted);
    if (replayed > 0) this.#events.replayed(replayed);
  }

  /** There is something again, and ids that the gate does not know. */
  #openGates(tickets: readonly Ticket[], admissions: readonly Admission[]): void {
    for (const [index, admission] of admissions.entries()) {
      if (admission.kind !== "admitted") continue;
      for (const { sku } of tickets[index]?.lines ?? []) this.#gate.open(sku);
    }
  }

  /** Hot stock has nothing left of a SKU: from now on this process says so by itself. */
  async #closeGates(
    lane: Lane,
    tickets: readonly Ticket[],
    admissions: readonly Admission[],
  ): Promise<void> {
    const soldOut = new Map<SkuId, Ticket>();
    for (const [index, admission] of admissions.entries()) {
      const ticket = tickets[index];
      if (admission.kind !== "refused" || admission.code !== "SOLD_OUT") continue;
      if (admission.sku !== null && ticket?.kind === "reserve") soldOut.set(admission.sku, ticket);
    }
    for (const [sku, ticket] of soldOut) {
      if (ticket.kind !== "reserve" || this.#gate.isClosed(ticket.saleId, sku)) continue;
      const fence = this.#fences.get(lane);
      if (fence === null) continue;
      const known = await this.#knownIds(fence, sku);
      if (known === null || known.available > 0) continue;
      this.#gate.close(ticket.saleId, sku, { epoch: fence.epoch, ...known });
    }
  }

  async #knownIds(fence: Fence, sku: SkuId): Promise<KnownIds | null> {
    try {
      const reply = await this.#hot.knownIds(fence, sku);
      return reply.closed ? null : reply.value;
    } catch (error) {
      // The gate is a convenience: without the ids it stays open.
      if (error instanceof Fault) return null;
      throw error;
    }
  }
}
