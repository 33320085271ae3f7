import { hash } from "node:crypto";
import type { DecidedState } from "./reservation.ts";
import { availableDelta, type Balances, moves, type Operation, unitsDelta } from "./stock.ts";
import { reviveTicketId, takeTicketId } from "./ticket.ts";
import type { BuyerId, Instant, Lane, ReservationId, SaleId, SkuId } from "./values.ts";

/** One decision of the ledger about one SKU (库存流水). Append-only; chained by its hash. */
export type LedgerEntry = {
  readonly sku: SkuId;
  /** +1 for every entry of the SKU, no gaps: the fencing token and the replay position. */
  readonly version: number;
  readonly operation: Operation;
  /** What makes the operation once: payment, refund or operation id; empty for the order itself. */
  readonly operationId: string;
  readonly reservationId: ReservationId | null;
  readonly quantity: number;
  readonly after: Balances;
  readonly actor: string;
  readonly reason: string;
  readonly at: Instant;
  readonly previousHash: string;
  readonly hash: string;
};

/** The hash before the first entry of every chain. */
export const genesisHash = "0".repeat(64);

type Unhashed = Omit<LedgerEntry, "hash">;

/**
 * SHA-256 over the JSON array of the fields in this order. A JSON array frames its members, so
 * no two different entries share the hashed text.
 */
export function entryHash(entry: Unhashed): string {
  const { from, to } = moves[entry.operation];
  const { available, reserved, sold, frozen, lost } = entry.after;
  const fields = [
    "holdfast-entry-1",
    entry.previousHash,
    entry.sku,
    entry.version,
    entry.operation,
    entry.operationId,
    entry.reservationId,
    entry.quantity,
    from,
    to,
    [available, reserved, sold, frozen, lost],
    entry.actor,
    entry.reason,
    entry.at,
  ];
  return hash("sha256", JSON.stringify(fields), "hex");
}

export function sealEntry(entry: Unhashed): LedgerEntry {
  // Field by field: a copy that grows a field is several times as dear, and there is one an order.
  return {
    sku: entry.sku,
    version: entry.version,
    operation: entry.operation,
    operationId: entry.operationId,
    reservationId: entry.reservationId,
    quantity: entry.quantity,
    after: entry.after,
    actor: entry.actor,
    reason: entry.reason,
    at: entry.at,
    previousHash: entry.previousHash,
    hash: entryHash(entry),
  };
}

/** What hot stock remembers of a decision: the answer to a repeat of its id. */
export type Answer = {
  readonly id: string;
  /** Null matches any content: the id was voided before its content was seen. */
  readonly fingerprint: string | null;
  readonly state: Extract<DecidedState, "reserved" | "rejected" | "void" | "cancelled">;
  readonly saleId: SaleId | null;
  readonly skus: readonly SkuId[];
};

/** An entry with what hot stock needs to apply it. */
export type ProjectedEntry = {
  readonly lane: Lane;
  readonly sku: SkuId;
  readonly version: number;
  readonly previousHash: string;
  readonly hash: string;
  readonly availableDelta: number;
  /** The ticket that this entry decides; null when none stood behind it. */
  readonly ticketId: string | null;
  readonly answer: Answer | null;
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
  readonly unitsDelta: number;
};

/** The parts of an order that its entries do not carry. */
export type EntryOrder = {
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
  readonly fingerprint: string | null;
  readonly skus: readonly SkuId[];
};

export function projected(
  entry: LedgerEntry,
  lane: Lane,
  order: EntryOrder | null,
): ProjectedEntry {
  return {
    lane,
    sku: entry.sku,
    version: entry.version,
    previousHash: entry.previousHash,
    hash: entry.hash,
    availableDelta: availableDelta(entry.operation, entry.quantity),
    ticketId: ticketIdOf(entry),
    answer: answerOf(entry, order),
    saleId: order?.saleId ?? null,
    buyerId: order?.buyerId ?? null,
    unitsDelta: unitsDelta(entry.operation, entry.quantity),
  };
}

/** Which ticket an entry decides is written in the entry itself, so a replay knows it too. */
export function ticketIdOf(entry: LedgerEntry): string | null {
  const { operation, operationId, reservationId, sku } = entry;
  switch (operation) {
    case "reserve":
      return reservationId;
    case "revive":
      return reservationId === null ? null : reviveTicketId(reservationId, operationId);
    case "reject":
      if (reservationId === null) return takeTicketId(sku, operationId);
      return operationId === "" ? reservationId : reviveTicketId(reservationId, operationId);
    case "withdraw":
    case "freeze":
    case "adjust_down":
      return takeTicketId(sku, operationId);
    case "restock":
    case "adjust_up":
    case "confirm":
    case "cancel":
    case "expire":
    case "refund":
    case "refund_lost":
    case "unfreeze":
    case "count_found":
    case "count_lost":
    case "count_surplus":
      return null;
  }
}

function answerOf(entry: LedgerEntry, order: EntryOrder | null): Answer | null {
  if (order === null || entry.reservationId === null || entry.operationId !== "") return null;
  if (entry.operation !== "reserve" && entry.operation !== "reject") return null;
  return {
    id: entry.reservationId,
    fingerprint: order.fingerprint,
    state: entry.operation === "reserve" ? "reserved" : "rejected",
    saleId: order.saleId,
    skus: order.skus,
  };
}

/**
 * A ticket that the ledger has decided, now or earlier: hot stock may drop what it still holds
 * for it, per SKU, once it has seen the version that decided it.
 */
export type Settled = {
  readonly lane: Lane;
  readonly id: string;
  readonly answer: Answer | null;
  readonly versions: ReadonlyMap<SkuId, number>;
};
