import type { Clock, Random } from "../clock.ts";
import type { SalePolicy } from "../domain/sale.ts";
import type { HotLevel, HotStatus, Snapshot } from "../domain/snapshot.ts";
import type { LaneItem, Ticket } from "../domain/ticket.ts";
import type { Lane, SaleId, SkuId } from "../domain/values.ts";
import { admitTicket } from "./admit.ts";
import type {
  Admission,
  Fence,
  HotLookup,
  HotStock,
  KnownIds,
  Left,
  LoadReply,
  Observation,
  ObservedSku,
  OutboxHead,
  OverdueTicket,
  Projection,
  ProjectReply,
  Reply,
} from "./hot-stock.ts";
import {
  append,
  emptyLane,
  type HotSku,
  hotPolicy,
  type LaneState,
  overlayTotal,
  skuAt,
} from "./lane-state.ts";
import { loadLane } from "./load.ts";
import { projectAll } from "./project.ts";

export type MemoryHotStockOptions = {
  readonly clock: Pick<Clock, "now">;
  readonly random: Pick<Random, "bytes">;
  /** Tickets in flight per lane; past it a new one is told that the lane is busy. */
  readonly ticketsMax?: number;
};

/**
 * The embedded default, and the reference model for every other hot stock. It lives and dies
 * with the process: each life is another incarnation, and the ledger fills it anew.
 */
export class MemoryHotStock implements HotStock {
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Pick<Random, "bytes">;
  readonly #ticketsMax: number;
  #incarnation: string;
  #lanes = new Map<Lane, LaneState>();

  constructor(options: MemoryHotStockOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#ticketsMax = options.ticketsMax ?? 100_000;
    this.#incarnation = this.#newName();
  }

  /** All lanes live in this process. */
  incarnation(_lane: Lane): Promise<string> {
    return Promise.resolve(this.#incarnation);
  }

  admit(fence: Fence, tickets: readonly Ticket[]): Promise<Reply<readonly Admission[]>> {
    return this.#whenOpen(fence, (state) => {
      const at = { now: this.#clock.now(), ticketsMax: this.#ticketsMax };
      return tickets.map((ticket) => admitTicket(state, ticket, at));
    });
  }

  enqueue(fence: Fence, item: LaneItem): Promise<Reply<"queued" | "known">> {
    return this.#whenOpen(fence, (state) => {
      if (item.kind !== "void") {
        append(state, item, this.#clock.now());
        return "queued";
      }
      if (state.answers.has(item.id)) return "known";
      if (item.ticket === null && state.tickets.has(item.id)) return "known";
      if (!state.voids.has(item.id)) {
        state.voids.set(item.id, append(state, item, this.#clock.now()));
      }
      return "queued";
    });
  }

  mark(fence: Fence): Promise<Reply<number>> {
    return this.#whenOpen(fence, (state) => {
      const seq = state.nextSeq;
      return append(state, { kind: "marker", seq }, this.#clock.now());
    });
  }

  outbox(lane: Lane, limit: number): Promise<OutboxHead> {
    const state = this.#lanes.get(lane);
    const items: OutboxHead["items"][number][] = [];
    let oldestAt: number | null = null;
    for (const [seq, { item, at }] of state?.outbox ?? []) {
      oldestAt ??= at;
      if (items.length === limit) break;
      items.push({ seq, item });
    }
    return Promise.resolve({
      incarnation: this.#incarnation,
      epoch: state?.epoch ?? null,
      items,
      length: state?.outbox.size ?? 0,
      oldestAt,
    });
  }

  forward(fence: Fence, seqs: readonly number[]): Promise<Reply<null>> {
    return this.#whenFenced(fence, (state) => {
      for (const seq of seqs) state.outbox.delete(seq);
      return null;
    });
  }

  project(fence: Fence, projection: Projection): Promise<Reply<ProjectReply>> {
    return this.#whenOpen(fence, (state) => projectAll(state, projection));
  }

  setPolicy(fence: Fence, policy: SalePolicy): Promise<Reply<null>> {
    return this.#whenOpen(fence, (state) => {
      const known = state.policies.get(policy.saleId);
      if (known !== undefined && known.revision >= policy.revision) return null;
      state.policies.set(policy.saleId, hotPolicy(policy));
      if (policy.state !== "closed") this.#moveSkus(state, policy);
      return null;
    });
  }

  setStatus(fence: Fence, status: HotStatus): Promise<Reply<null>> {
    return this.#whenOpen(fence, (state) => {
      const sku = state.skus.get(status.sku);
      if (sku === undefined || sku.statusRevision >= status.revision) return null;
      sku.stopped = status.stopped;
      sku.statusRevision = status.revision;
      return null;
    });
  }

  adopt(fence: Fence, level: HotLevel): Promise<Reply<"adopted" | "known" | "lost">> {
    return this.#whenOpen(fence, (state) => {
      const isKnown = state.skus.has(level.sku);
      if (!isKnown && state.registered.has(level.sku)) return "lost";
      state.registered.add(level.sku);
      if (isKnown) return "known";
      state.skus.set(level.sku, skuAt(level));
      return "adopted";
    });
  }

  forgetSale(fence: Fence, saleId: SaleId): Promise<Reply<null>> {
    return this.#whenOpen(fence, (state) => {
      const running = (state.policies.get(saleId)?.state ?? "closed") !== "closed";
      if (running || inFlight(state, saleId)) return null;
      state.policies.delete(saleId);
      for (const id of state.answersBySale.get(saleId) ?? []) {
        for (const sku of state.answers.get(id)?.skus ?? []) {
          state.skus.get(sku)?.answered.delete(id);
        }
        state.answers.delete(id);
      }
      state.answersBySale.delete(saleId);
      for (const sku of state.skus.values()) if (sku.saleId === saleId) leaveSale(sku);
      return null;
    });
  }

  forgetSku(fence: Fence, sku: SkuId): Promise<Reply<null>> {
    return this.#whenFenced(fence, (state) => {
      state.skus.delete(sku);
      return null;
    });
  }

  beginRebuild(fence: Fence): Promise<Reply<null>> {
    if (fence.incarnation !== this.#incarnation) return closed("incarnation");
    const state = this.#lanes.get(fence.lane) ?? emptyLane(fence.epoch);
    if (state.epoch > fence.epoch) return closed("epoch");
    if (state.epoch === fence.epoch && !state.rebuilding) return closed("open");
    this.#lanes.set(fence.lane, state);
    state.epoch = fence.epoch;
    state.rebuilding = true;
    append(state, { kind: "barrier", epoch: fence.epoch }, this.#clock.now());
    return Promise.resolve({ closed: false, value: null });
  }

  heldTickets(fence: Fence): Promise<Reply<readonly string[]>> {
    return this.#whenFenced(fence, (state) => [...state.tickets.keys()]);
  }

  load(fence: Fence, snapshot: Snapshot): Promise<Reply<LoadReply>> {
    const state = this.#fenced(fence);
    if (typeof state === "string") return closed(state);
    if (!state.rebuilding) return closed("open");
    const value = loadLane(state, snapshot, this.#clock.now());
    return Promise.resolve({ closed: false, value });
  }

  observe(lane: Lane, skus: readonly SkuId[] | null): Promise<Observation> {
    const state = this.#lanes.get(lane);
    const wanted = state === undefined ? [] : (skus ?? [...state.skus.keys()]);
    const [oldest] = state?.outbox.values() ?? [];
    return Promise.resolve({
      lane,
      incarnation: this.#incarnation,
      epoch: state?.epoch ?? null,
      open: state !== undefined && !state.rebuilding,
      at: this.#clock.now(),
      outboxLength: state?.outbox.size ?? 0,
      outboxOldestAt: oldest?.at ?? null,
      tickets: state?.tickets.size ?? 0,
      voids: state?.voids.size ?? 0,
      skus: wanted.flatMap((id) => {
        const sku = state?.skus.get(id);
        return state === undefined || sku === undefined ? [] : [observed(state, id, sku)];
      }),
      policies: [...(state?.policies.values() ?? [])].map(({ saleId, revision }) => ({
        saleId,
        revision,
      })),
    });
  }

  overdue(fence: Fence, marker: number): Promise<Reply<readonly OverdueTicket[]>> {
    return this.#whenOpen(fence, (state) => {
      for (const [id, seq] of state.voids) {
        if (seq < marker && !state.outbox.has(seq)) state.voids.delete(id);
      }
      return [...state.tickets.values()]
        .filter(({ seq }) => seq < marker && !state.outbox.has(seq))
        .map(({ ticket, admittedAt, resends }) => ({ ticket, admittedAt, resends }));
    });
  }

  resend(fence: Fence, marker: number, ids: readonly string[]): Promise<Reply<readonly string[]>> {
    return this.#whenOpen(fence, (state) =>
      ids.filter((id) => {
        const held = state.tickets.get(id);
        if (held === undefined || held.seq >= marker || state.outbox.has(held.seq)) return false;
        const { ticket, admittedAt } = held;
        held.seq = append(state, { kind: "ticket", ticket, admittedAt }, this.#clock.now());
        held.resends += 1;
        return true;
      }),
    );
  }

  lookup(lane: Lane, id: string): Promise<HotLookup> {
    const state = this.#lanes.get(lane);
    if (state === undefined || state.rebuilding) return Promise.resolve({ kind: "closed" });
    const answer = state.answers.get(id);
    if (answer !== undefined) return Promise.resolve({ kind: "decided", answer });
    const held = state.tickets.get(id);
    if (held === undefined) return Promise.resolve({ kind: "unknown" });
    const { ticket, admittedAt } = held;
    return Promise.resolve({ kind: "pending", ticket: { ticket, admittedAt } });
  }

  knownIds(fence: Fence, sku: SkuId): Promise<Reply<KnownIds>> {
    return this.#whenOpen(fence, (state) => {
      const hot = state.skus.get(sku);
      if (hot === undefined) return { available: 0, idsSeen: 0, ids: [] };
      const { sku: _, ...left } = leftOf(state, sku, hot);
      return { ...left, ids: [...hot.overlay.keys(), ...hot.answered, ...state.tombstones] };
    });
  }

  leftOf(fence: Fence, skus: readonly SkuId[]): Promise<Reply<readonly Left[]>> {
    return this.#whenOpen(fence, (state) =>
      skus.flatMap((sku) => {
        const hot = state.skus.get(sku);
        return hot === undefined ? [] : [leftOf(state, sku, hot)];
      }),
    );
  }

  close(): Promise<void> {
    this.#lanes.clear();
    return Promise.resolve();
  }

  // What can befall a server: for tests and the simulator. ----------------------------------

  /** Everything, as a copy that a later life can be started from. */
  copy(): ReadonlyMap<Lane, LaneState> {
    return structuredClone(this.#lanes);
  }

  /** The server comes back, under another name, with what was saved of it. */
  restart(saved: ReadonlyMap<Lane, LaneState> = new Map()): void {
    this.#incarnation = this.#newName();
    this.#lanes = structuredClone(new Map(saved));
  }

  /** All keys are gone; the server is the same. */
  flush(): void {
    this.#lanes.clear();
  }

  /** Somebody edits the keys by hand. */
  tamper(lane: Lane, edit: (state: LaneState) => void): void {
    const state = this.#lanes.get(lane);
    if (state !== undefined) edit(state);
  }

  // ------------------------------------------------------------------------------------------

  #moveSkus(state: LaneState, policy: SalePolicy): void {
    for (const id of policy.skus) {
      const sku = state.skus.get(id);
      if (sku === undefined || sku.saleId === policy.saleId) continue;
      sku.saleId = policy.saleId;
      sku.buyers.clear();
    }
  }

  #whenOpen<T>(fence: Fence, act: (state: LaneState) => T): Promise<Reply<T>> {
    const state = this.#fenced(fence);
    if (typeof state === "string") return closed(state);
    if (state.rebuilding) return closed("rebuilding");
    return Promise.resolve({ closed: false, value: act(state) });
  }

  #whenFenced<T>(fence: Fence, act: (state: LaneState) => T): Promise<Reply<T>> {
    const state = this.#fenced(fence);
    if (typeof state === "string") return closed(state);
    return Promise.resolve({ closed: false, value: act(state) });
  }

  #fenced(fence: Fence): LaneState | "incarnation" | "epoch" {
    if (fence.incarnation !== this.#incarnation) return "incarnation";
    const state = this.#lanes.get(fence.lane);
    return state === undefined || state.epoch !== fence.epoch ? "epoch" : state;
  }

  #newName(): string {
    return `memory-${this.#random.bytes(8).toString("hex")}`;
  }
}

function closed(why: "incarnation" | "epoch" | "rebuilding" | "open"): Promise<{
  closed: true;
  why: typeof why;
}> {
  return Promise.resolve({ closed: true, why });
}

function inFlight(state: LaneState, saleId: SaleId): boolean {
  for (const { ticket } of state.tickets.values()) {
    if (ticket.kind !== "take" && ticket.saleId === saleId) return true;
  }
  return false;
}

/** Its buyers' units limit nobody any more, and would stay for as long as the SKU. */
function leaveSale(sku: HotSku): void {
  sku.saleId = null;
  sku.buyers.clear();
}

function leftOf(state: LaneState, sku: SkuId, { available, admissions }: HotSku): Left {
  return { sku, available, idsSeen: admissions + state.tombstones.size };
}

function observed(state: LaneState, id: SkuId, sku: HotSku): ObservedSku {
  const [oldest] = sku.overlay.keys();
  const ticket = oldest === undefined ? undefined : state.tickets.get(oldest);
  return {
    sku: id,
    version: sku.version,
    hash: sku.hash,
    available: sku.available,
    inFlight: overlayTotal(sku),
    oldestTicketAt: ticket?.admittedAt ?? null,
    stopped: sku.stopped,
    statusRevision: sku.statusRevision,
    saleId: sku.saleId,
  };
}
