import type { Snapshot } from "../domain/snapshot.ts";
import type { Instant, SkuId } from "../domain/values.ts";
import type { LoadReply } from "./hot-stock.ts";
import {
  addUnits,
  append,
  type HeldTicket,
  hold,
  hotPolicy,
  type LaneState,
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
  for (const answer of snapshot.answers) remember(state, answer);
  const held = [...state.tickets.values()];
  const kept = keepUndecided(state, snapshot, now);
  state.rebuilding = false;
  return { kept, dropped: held.length - kept, ledgerWentBack: wentBack };
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
      // Never repaired: it stays as it is, closed, until a person has looked.
      known.stopped = true;
      state.skus.set(level.sku, known);
      wentBack.push({ sku: level.sku, hotVersion: known.version });
    } else {
      state.skus.set(level.sku, skuAt(level));
    }
  }
  return wentBack;
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
