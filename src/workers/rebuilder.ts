import { Fault } from "../domain/fault.ts";
import type { Lease } from "../domain/lease.ts";
import type { Epoch, Lane } from "../domain/values.ts";
import type { Fences } from "../engine/fences.ts";
import type { Parts } from "../engine/parts.ts";
import type { Fence, LoadReply, Observation } from "../hot-stock/hot-stock.ts";
import type { LaneState } from "../ledger/ledger.ts";
import type { LeasedWorker } from "./leased.ts";

const idleMs = 200;
const waitMs = 5;
/** A barrier that has not come out of its lane by then is put in again. */
const barrierPatienceMs = 3_000;

type Underway = {
  readonly epoch: Epoch;
  readonly cause: string;
  /** Hot stock was open, or is known to have lost something. */
  readonly repair: boolean;
  startedAt: number;
  toldAt: number;
};

/**
 * Any doubt about hot stock ends here: the next epoch, a closed lane, the barrier behind what
 * the outbox holds, and, once a writer has met it, a load from one snapshot of the ledger. Each
 * step looks at where the rebuild stands, so any process may carry on with what another began. Its
 * epoch is the fence: see docs/decisions/0013-leases.md.
 */
export class Rebuilder implements LeasedWorker {
  readonly name = "rebuilder";
  readonly #parts: Parts;
  readonly #underway = new Map<Lane, Underway>();
  readonly #seenOpen = new Set<Lane>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async step(lease: Lease): Promise<number> {
    let worked = 0;
    let trouble: Fault | null = null;
    for (const row of await this.#parts.ledger.lanes()) {
      try {
        worked += await this.#stepLane(row, lease);
      } catch (error) {
        // Each lane may live on a server of its own: one that is away holds up no other.
        if (!(error instanceof Fault)) throw error;
        trouble ??= error;
      }
    }
    if (trouble !== null && worked === 0) throw trouble;
    return worked;
  }

  idle(signal: AbortSignal): Promise<void> {
    const { clock, fences } = this.#parts;
    return fences.doubts.wait(clock, this.#underway.size > 0 ? waitMs : idleMs, signal);
  }

  async #stepLane(row: LaneState, lease: Lease): Promise<number> {
    const { hot, fences } = this.#parts;
    const seen = await hot.observe(row.lane, []);
    const registered = row.incarnation === seen.incarnation && row.epoch === seen.epoch;
    if (registered && seen.open && doubtOf(row, fences) === null) {
      this.#underway.delete(row.lane);
      this.#seenOpen.add(row.lane);
      if (fences.get(row.lane)?.epoch !== row.epoch) await fences.refresh();
      return 0;
    }
    if (registered && !seen.open) return this.#carryOn(row, seen, lease);
    await this.#begin(row, seen, lease);
    return 1;
  }

  async #begin(row: LaneState, seen: Observation, lease: Lease): Promise<void> {
    const { ledger, hot, fences, clock, outboxBell } = this.#parts;
    const { lane } = row;
    const doubt = doubtOf(row, fences);
    const cause = doubt ?? causeOf(row, seen);
    const repair = doubt !== null || seen.open || isGone(row, seen);
    const { incarnation } = seen;
    const epoch = await ledger.nextEpoch(row, { incarnation, lease });
    // Another process has begun one since our look.
    if (epoch === null) return;
    fences.settle(lane);
    const reply = await hot.beginRebuild({ lane, epoch, incarnation });
    // Overtaken by another rebuild, or by a failover: the next step sees where it stands.
    if (reply.closed) return;
    const now = clock.mono();
    this.#underway.set(lane, { epoch, cause, repair, startedAt: now, toldAt: now });
    outboxBell.ring();
  }

  async #carryOn(row: LaneState, seen: Observation, lease: Lease): Promise<number> {
    const { hot, fences, clock, outboxBell } = this.#parts;
    const fence = { lane: row.lane, epoch: row.epoch, incarnation: seen.incarnation };
    const now = clock.mono();
    let underway = this.#underway.get(row.lane);
    if (underway?.epoch !== row.epoch) {
      const times = { startedAt: now, toldAt: now };
      underway = { epoch: row.epoch, cause: "taken over", repair: false, ...times };
      this.#underway.set(row.lane, underway);
      // What was in doubt before the barrier is mended behind it, whoever began.
      fences.settle(row.lane);
    }
    if (row.met >= row.epoch) {
      await this.#load(fence, underway, lease);
      return 1;
    }
    if (now - underway.toldAt >= barrierPatienceMs) {
      // The broker may have lost it; one more is harmless.
      await hot.beginRebuild(fence);
      underway.toldAt = now;
      outboxBell.ring();
    }
    return 0;
  }

  async #load(fence: Fence, underway: Underway, lease: Lease): Promise<void> {
    const { hot, ledger, fences, clock, gate, events } = this.#parts;
    const held = await hot.heldTickets(fence);
    if (held.closed) return;
    const snapshot = await ledger.snapshot(fence.lane, held.value);
    const reply = await hot.load(fence, snapshot);
    if (reply.closed) return;
    this.#underway.delete(fence.lane);
    // What was in doubt before the load is not any more.
    fences.settle(fence.lane);
    await fences.refresh();
    gate.openAll();
    const repair = this.#seenOpen.has(fence.lane) || underway.repair;
    if (repair) await ledger.repaired(fence.lane, 1);
    const ms = clock.mono() - underway.startedAt;
    events.rebuilt(fence.lane, { ms, cause: underway.cause, repair });
    if (repair) await this.#audit(fence, underway, reply.value);
    await this.#stopThoseThatWentBack(reply.value, lease);
  }

  async #audit(fence: Fence, underway: Underway, reply: LoadReply): Promise<void> {
    await this.#parts.ledger.audit({
      actor: "rebuilder",
      action: "hot-stock.rebuild",
      subject: `lane:${fence.lane}`,
      reason: underway.cause,
      before: null,
      after: { epoch: fence.epoch, kept: reply.kept, dropped: reply.dropped },
    });
  }

  /** The ledger is behind what it once said: never repaired, a person is called. */
  async #stopThoseThatWentBack(reply: LoadReply, lease: Lease): Promise<void> {
    const { line, events } = this.#parts;
    for (const { sku, hotVersion } of reply.ledgerWentBack) {
      const reason = `the ledger went back: hot stock has version ${hotVersion}`;
      const stop = { kind: "sku-status", sku, to: "stopped", operationId: null } as const;
      await line.one({ ...stop, actor: "rebuilder", reason, lease });
      events.skuStopped(sku, reason);
    }
  }
}

/** Somebody's anywhere, or one of this process that has not been told yet. */
function doubtOf(row: LaneState, fences: Fences): string | null {
  return row.doubt ?? fences.cause(row.lane);
}

/** The lane had its epoch, or its barrier could not have been met; and has it no more. */
function isGone(row: LaneState, seen: Observation): boolean {
  const sameServer = row.incarnation === seen.incarnation;
  return seen.epoch === null && sameServer && row.met >= row.epoch;
}

function causeOf(row: LaneState, seen: Observation): string {
  if (row.incarnation === null) return "start: the lane was never loaded";
  if (row.incarnation !== seen.incarnation) {
    return seen.epoch === null ? "start: another, empty hot stock" : "another incarnation";
  }
  return seen.epoch === null ? "its keys are gone" : `epoch ${seen.epoch}, not ${row.epoch}`;
}
