import type { ProjectedEntry, Settled } from "../domain/entry.ts";
import type { SkuId } from "../domain/values.ts";
import type { Projection, ProjectReply } from "./hot-stock.ts";
import { addUnits, advance, type HotSku, type LaneState, letGo, remember } from "./lane-state.ts";

/** The ledger's news, in version order, each once. */
export function projectAll(state: LaneState, projection: Projection): ProjectReply {
  const found = new Findings();
  for (const entry of projection.entries) projectEntry(state, entry, found);
  for (const settled of projection.settled) dropSettled(state, settled, found);
  return found.reply();
}

class Findings {
  readonly gaps = new Map<SkuId, number>();
  readonly forks = new Map<SkuId, number>();
  readonly missing = new Set<SkuId>();
  readonly gaveBack = new Set<SkuId>();

  reply(): ProjectReply {
    const points = (map: Map<SkuId, number>) =>
      [...map].map(([sku, version]) => ({ sku, version }));
    return {
      gaps: points(this.gaps),
      forks: points(this.forks),
      missing: [...this.missing],
      gaveBack: [...this.gaveBack],
    };
  }
}

function projectEntry(state: LaneState, entry: ProjectedEntry, found: Findings): void {
  const sku = state.skus.get(entry.sku);
  if (sku === undefined) {
    found.missing.add(entry.sku);
    return;
  }
  if (entry.version <= sku.version) {
    if (isOfAnotherHistory(sku, entry)) fork(sku, entry, found);
    return;
  }
  if (entry.version > sku.version + 1) {
    found.gaps.set(entry.sku, sku.version);
    return;
  }
  if (entry.previousHash !== sku.hash) {
    fork(sku, entry, found);
    return;
  }
  apply(state, sku, entry, found);
}

/**
 * An entry that is here already has the hash of its version, and has taken its ticket along. Only
 * a ticket that leaves an answer behind cannot be held again: a taking is, when it is repeated.
 */
function isOfAnotherHistory(sku: HotSku, entry: ProjectedEntry): boolean {
  const { version, hash, ticketId, answer } = entry;
  if (version === sku.version) return hash !== sku.hash;
  return answer !== null && ticketId !== null && sku.overlay.has(ticketId);
}

/** The ledger went back, so it seems: nothing more is sold until a person has looked. */
function fork(sku: HotSku, entry: ProjectedEntry, found: Findings): void {
  sku.stopped = true;
  found.forks.set(entry.sku, sku.version);
}

/**
 * Gives back what its ticket held (nothing, if it was lost; something else, if a retry had other
 * content) and takes what the entry says.
 */
function apply(state: LaneState, sku: HotSku, entry: ProjectedEntry, found: Findings): void {
  const before = sku.available;
  // Before the ticket lets go, so that a count that stays does not leave the map in between.
  addUnits(sku, entry.saleId, entry.buyerId, entry.unitsDelta);
  if (entry.ticketId !== null) letGo(state, entry.ticketId, entry.sku);
  advance(sku, entry);
  if (entry.answer !== null) remember(state, entry.answer);
  found.gaps.delete(entry.sku);
  if (sku.available > before) found.gaveBack.add(entry.sku);
}

/**
 * A ticket that was decided before it came gives back what it holds, SKU by SKU, and only once
 * the version that decided it is here: before that, its units are not yet taken off.
 */
function dropSettled(state: LaneState, settled: Settled, found: Findings): void {
  if (settled.answer !== null) remember(state, settled.answer);
  state.voids.delete(settled.id);
  for (const [id, version] of settled.versions) {
    const sku = state.skus.get(id);
    if (sku !== undefined && sku.version < version) found.gaps.set(id, sku.version);
  }
  const held = state.tickets.get(settled.id);
  if (held === undefined) return;
  for (const line of held.ticket.lines) {
    if (!state.skus.has(line.sku)) found.missing.add(line.sku);
    if (isBefore(state, settled, line.sku)) continue;
    if (letGo(state, settled.id, line.sku) > 0) found.gaveBack.add(line.sku);
  }
  const holds = held.ticket.lines.some(({ sku }) => state.skus.get(sku)?.overlay.has(settled.id));
  if (!holds) state.tickets.delete(settled.id);
}

/** Is hot stock at a version of the SKU before the one that decided? */
function isBefore(state: LaneState, settled: Settled, id: SkuId): boolean {
  const version = state.skus.get(id)?.version ?? 0;
  return version < (settled.versions.get(id) ?? 0);
}
