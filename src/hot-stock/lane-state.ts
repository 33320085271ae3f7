import type { Answer } from "../domain/entry.ts";
import type { SalePolicy } from "../domain/sale.ts";
import type { HotLevel } from "../domain/snapshot.ts";
import type { AdmittedTicket, LaneItem, Ticket } from "../domain/ticket.ts";
import type { BuyerId, Epoch, Instant, SaleId, SkuId } from "../domain/values.ts";

/** Everything that the in-memory hot stock keeps of one lane: plain data, so it can be copied. */
export type LaneState = {
  epoch: Epoch;
  /** Closed: it waits for the barrier of `epoch`. */
  rebuilding: boolean;
  nextSeq: number;
  /** In order of `seq`. */
  readonly outbox: Map<number, OutboxEntry>;
  readonly tickets: Map<string, HeldTicket>;
  readonly answers: Map<string, Answer>;
  readonly answersBySale: Map<SaleId, Set<string>>;
  readonly policies: Map<SaleId, HotPolicy>;
  readonly skus: Map<SkuId, HotSku>;
  /** Every SKU that the lane ever had: one that is missing is lost, not new. */
  readonly registered: Set<SkuId>;
  /** Voids that are on their way, and where they stood in the outbox. */
  readonly voids: Map<string, number>;
  /** Answers under ids whose cart nobody saw: they are of every SKU. */
  readonly tombstones: Set<string>;
};

export type OutboxEntry = { readonly item: LaneItem; readonly at: Instant };

export type HeldTicket = AdmittedTicket & {
  /** Where it stood in the outbox last. */
  seq: number;
  resends: number;
};

export type HotPolicy = Omit<SalePolicy, "skus"> & { readonly skus: ReadonlySet<SkuId> };

export type HotSku = {
  version: number;
  hash: string;
  available: number;
  readonly overlay: Map<string, number>;
  readonly buyers: Map<BuyerId, number>;
  /** Ids that were decided for this SKU, for the sold-out gate. */
  readonly answered: Set<string>;
  /** Tickets that were put into the overlay since the load. */
  admissions: number;
  saleId: SaleId | null;
  stopped: boolean;
  statusRevision: number;
};

export function emptyLane(epoch: Epoch): LaneState {
  return {
    epoch,
    rebuilding: true,
    nextSeq: 1,
    outbox: new Map(),
    tickets: new Map(),
    answers: new Map(),
    answersBySale: new Map(),
    policies: new Map(),
    skus: new Map(),
    registered: new Set(),
    voids: new Map(),
    tombstones: new Set(),
  };
}

export function skuAt(level: HotLevel): HotSku {
  return {
    version: level.version,
    hash: level.hash,
    available: level.available,
    overlay: new Map(),
    buyers: new Map(),
    answered: new Set(),
    admissions: 0,
    saleId: level.saleId,
    stopped: level.stopped,
    statusRevision: level.revision,
  };
}

export function hotPolicy(policy: SalePolicy): HotPolicy {
  return { ...policy, skus: new Set(policy.skus) };
}

export function append(state: LaneState, item: LaneItem, at: Instant): number {
  const seq = state.nextSeq++;
  state.outbox.set(seq, { item, at });
  return seq;
}

// The equation has one writer: these two functions, and `advance` for the projection. ---------

/** Takes the ticket's units out of `available` into the overlay, and counts them for the buyer. */
export function hold(state: LaneState, ticket: Ticket): void {
  for (const { sku: id, quantity } of ticket.lines) {
    const sku = state.skus.get(id);
    if (sku === undefined) continue;
    sku.available -= quantity;
    sku.overlay.set(ticket.id, quantity);
    sku.admissions += 1;
    countUnits(sku, ticket, quantity);
  }
}

/** Gives back what the ticket still holds of one SKU; forgets the ticket with its last line. */
export function letGo(state: LaneState, ticketId: string, id: SkuId): number {
  const sku = state.skus.get(id);
  const quantity = sku?.overlay.get(ticketId);
  if (sku === undefined || quantity === undefined) return 0;
  sku.available += quantity;
  sku.overlay.delete(ticketId);
  const ticket = state.tickets.get(ticketId)?.ticket;
  if (ticket === undefined) return quantity;
  countUnits(sku, ticket, -quantity);
  const holding = ticket.lines.some((line) => state.skus.get(line.sku)?.overlay.has(ticketId));
  if (!holding) state.tickets.delete(ticketId);
  return quantity;
}

/** One entry of the ledger, applied on top of the version before it. */
export function advance(
  sku: HotSku,
  entry: { readonly version: number; readonly hash: string; readonly availableDelta: number },
): void {
  sku.available += entry.availableDelta;
  sku.version = entry.version;
  sku.hash = entry.hash;
}

// ---------------------------------------------------------------------------------------------

function countUnits(sku: HotSku, ticket: Ticket, units: number): void {
  if (ticket.kind === "take") return;
  addUnits(sku, ticket.saleId, ticket.buyerId, units);
}

/** A buyer's units count only in the sale that the SKU is in now. */
export function addUnits(
  sku: HotSku,
  saleId: SaleId | null,
  buyerId: BuyerId | null,
  units: number,
): void {
  if (units === 0 || buyerId === null || saleId === null || saleId !== sku.saleId) return;
  const sum = (sku.buyers.get(buyerId) ?? 0) + units;
  if (sum === 0) sku.buyers.delete(buyerId);
  else sku.buyers.set(buyerId, sum);
}

/** The first answer under an id stands. */
export function remember(state: LaneState, answer: Answer): void {
  state.voids.delete(answer.id);
  if (state.answers.has(answer.id)) return;
  state.answers.set(answer.id, answer);
  for (const id of answer.skus) state.skus.get(id)?.answered.add(answer.id);
  if (answer.skus.length === 0) state.tombstones.add(answer.id);
  if (answer.saleId === null) return;
  const ids = state.answersBySale.get(answer.saleId);
  if (ids === undefined) state.answersBySale.set(answer.saleId, new Set([answer.id]));
  else ids.add(answer.id);
}

export function overlayTotal(sku: HotSku): number {
  let sum = 0;
  for (const quantity of sku.overlay.values()) sum += quantity;
  return sum;
}
