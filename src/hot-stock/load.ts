import type { Snapshot } from "../domain/snapshot.ts";
import type { Instant, SkuId } from "../domain/values.ts";
import type { LoadReply } from "./hot-stock.ts";
import {
  addUnits,
  append,
  type HeldTicket,
  type HotSku,
  hold,
  hotPolicy,
  type LaneState,
  overlayTotal,
  remember,
  skuAt,
} from "./lane-state.ts";

/**
 * The end of a rebuild: what the ledger said after the barrier, with the undecided tickets that
 * hot stock still has on top. Then the lane is open.
 */
export function loadLane(state: LaneState, snapshot: Snapshot, now: Instant): LoadReply {
  const wentBack = loadLevels(state, snapshot);
  state.policies.clear();
  for (const policy of snapshot.policies) state.policies.set(policy.saleId, hotPolicy(policy));
  for (const { sku: id, buyerId, units } of snapshot.buyers) {
    const sku = state.skus.get(id);
    if (sku !== undefined) addUnits(sku, sku.saleId, buyerId, units);
  }
  state.answers.clear();
  state.answersBySale.clear();
  state.tombstones.clear();
  for (const answer of snapshot.answers) remember(state, answer);
  const held = state.tickets.size;
  const kept = keepUndecided(state, snapshot, now);
  // One that left the outbox before the barrier is decided, or lost: it may be asked for again.
  for (const [id, seq] of state.voids) if (!state.outbox.has(seq)) state.voids.delete(id);
  state.rebuilding = false;
  return { kept, dropped: held - kept, ledgerWentBack: wentBack };
}

function loadLevels(state: LaneState, snapshot: Snapshot): LoadReply["ledgerWentBack"] {
  const wentBack: { sku: SkuId; hotVersion: number }[] = [];
  const before = new Map(state.skus);
  state.skus.clear();
  for (const level of snapshot.levels) {
    const known = before.get(level.sku);
    state.registered.add(level.sku);
    const ahead = known !== undefined && known.version > level.version;
    const other = known?.version === level.version && known.hash !== level.hash;
    if (known !== undefined && (ahead || other)) {
      // Never repaired: it keeps its version, closed, until a person has looked.
      state.skus.set(level.sku, stoppedAt(known));
      wentBack.push({ sku: level.sku, hotVersion: known.version });
    } else {
      state.skus.set(level.sku, skuAt(level));
    }
  }
  return wentBack;
}

/** Nothing in flight: the tickets that stay are held again by whoever keeps them. */
function stoppedAt(known: HotSku): HotSku {
  known.available += overlayTotal(known);
  known.overlay.clear();
  known.buyers.clear();
  known.stopped = true;
  return known;
}

/** Overlay and outbox together, or neither. */
function keepUndecided(state: LaneState, snapshot: Snapshot, now: Instant): number {
  let kept = 0;
  for (const [id, held] of state.tickets) {
    if (snapshot.decided.has(id) || !isWhole(state, held)) {
      state.tickets.delete(id);
      continue;
    }
    hold(state, held.ticket);
    kept += 1;
    if (state.outbox.has(held.seq)) continue;
    const { ticket, admittedAt } = held;
    held.seq = append(state, { kind: "ticket", ticket, admittedAt }, now);
  }
  for (const [seq, { item }] of state.outbox) {
    if (item.kind === "ticket" && !state.tickets.has(item.ticket.id)) state.outbox.delete(seq);
  }
  return kept;
}

function isWhole(state: LaneState, { ticket }: HeldTicket): boolean {
  return ticket.lines.every((line) => state.skus.has(line.sku));
}
