import type { Answer, ProjectedEntry, Settled } from "../domain/entry.ts";
import type { Rejection } from "../domain/rejection.ts";
import type { SalePolicy } from "../domain/sale.ts";
import type { HotLevel, HotStatus, Snapshot } from "../domain/snapshot.ts";
import type { AdmittedTicket, LaneItem, Ticket } from "../domain/ticket.ts";
import type { Epoch, Instant, Lane, SaleId, SkuId } from "../domain/values.ts";

/**
 * Hot stock: what can be sold right now. It may lose everything at any moment, and it keeps one
 * equation per SKU in every call:
 *
 *     available = the ledger's available at `version` − Σ quantities in the overlay
 *
 * Each call is one atomic step on one lane. A call that throws a `Fault` may have taken effect.
 * Nothing here has a time-to-live; a missing key is never "not found", it is "closed".
 */
export interface HotStock {
  /**
   * Names the life of the server that has the lane: another one, or one promoted anew, has
   * another name. Lanes may live on different servers.
   */
  incarnation(lane: Lane): Promise<string>;

  /**
   * Admits a batch, each ticket on its own: replay, then refusals in order of precedence, then
   * deduct + overlay + outbox + remember. All checks stand before the first write.
   */
  admit(fence: Fence, tickets: readonly Ticket[]): Promise<Reply<readonly Admission[]>>;

  /**
   * Appends to the outbox, behind every ticket that stands in it. A `void` is refused ("known")
   * while hot stock has the ticket or the answer, unless it carries the ticket it gives up; one
   * under the same id that is still on its way is not told twice ("queued").
   */
  enqueue(fence: Fence, item: LaneItem): Promise<Reply<"queued" | "known">>;

  /** Appends a marker; its number is greater than that of everything appended before. */
  mark(fence: Fence): Promise<Reply<number>>;

  /** The head of the outbox with the epoch to stamp it with. Open or closed: it drains. */
  outbox(lane: Lane, limit: number): Promise<OutboxHead>;

  /** Deletes from the outbox what the broker has confirmed. */
  forward(fence: Fence, seqs: readonly number[]): Promise<Reply<null>>;

  /**
   * Applies entries in version order, each once: the next version, and only on top of the hash
   * it was made on. Drops what settled tickets still hold, per SKU, once the version that
   * decided it is here. Says where entries are missing, or do not fit.
   */
  project(fence: Fence, projection: Projection): Promise<Reply<ProjectReply>>;

  /** Sets a sale's policy unless a later revision is known. */
  setPolicy(fence: Fence, policy: SalePolicy): Promise<Reply<null>>;

  /** Stops or resumes a SKU unless a later revision is known. */
  setStatus(fence: Fence, status: HotStatus): Promise<Reply<null>>;

  /** A SKU that this lane has never had. One that it had and lost is not adopted: "lost". */
  adopt(fence: Fence, level: HotLevel): Promise<Reply<"adopted" | "known" | "lost">>;

  /**
   * Drops the policy, the answers and the buyers' units of a sale that is closed and whose holds
   * have ended; nothing while hot stock has it open, or a ticket of it is in flight.
   */
  forgetSale(fence: Fence, saleId: SaleId): Promise<Reply<null>>;

  /** Operator's act after a look at a stopped SKU: forget it, so that a rebuild loads it anew. */
  forgetSku(fence: Fence, sku: SkuId): Promise<Reply<null>>;

  /**
   * Step 2 and 3 of a rebuild: the lane takes the epoch, is closed, and the barrier stands in
   * the outbox behind what it still holds. A mark never lowers; repeated, it appends again.
   */
  beginRebuild(fence: Fence): Promise<Reply<null>>;

  /** The tickets that a closed lane still has: the snapshot must know which are decided. */
  heldTickets(fence: Fence): Promise<Reply<readonly string[]>>;

  /**
   * Step 6: loads only into a lane that waits, closed, for this very epoch in this incarnation;
   * sets balance and version together, never lowers a version; keeps undecided tickets, overlay
   * and outbox together, and subtracts them; then opens. A SKU of which hot stock has a later
   * version, or another hash at the same one, is left closed and named: the ledger went back.
   */
  load(fence: Fence, snapshot: Snapshot): Promise<Reply<LoadReply>>;

  /** Reads everything about a lane's SKUs that the reconciler compares, in one step. */
  observe(lane: Lane, skus: readonly SkuId[] | null): Promise<Observation>;

  /** Which tickets left the outbox before this marker and are still here. */
  overdue(fence: Fence, marker: number): Promise<Reply<readonly OverdueTicket[]>>;

  /** Appends an overdue ticket to the outbox again; nothing if it is gone or already there. */
  resend(fence: Fence, marker: number, ids: readonly string[]): Promise<Reply<readonly string[]>>;

  /** What is remembered under an id. */
  lookup(lane: Lane, id: string): Promise<HotLookup>;

  /** Every id that hot stock knows for a SKU, for the sold-out gate. */
  knownIds(fence: Fence, sku: SkuId): Promise<Reply<KnownIds>>;

  /**
   * What is left of these SKUs, and whether an id has become known since: cheap, because the gate
   * asks it once for all requests that it refuses together. A SKU that is missing is left out.
   */
  leftOf(fence: Fence, skus: readonly SkuId[]): Promise<Reply<readonly Left[]>>;

  close(): Promise<void>;
}

/** Which hot stock the caller means: any other answers "closed" and changes nothing. */
export type Fence = {
  readonly lane: Lane;
  readonly epoch: Epoch;
  readonly incarnation: string;
};

export type Reply<T> =
  | { readonly closed: false; readonly value: T }
  | { readonly closed: true; readonly why: ClosedReason };

/**
 * - `incarnation`: another server than the one that the epoch was given out for.
 * - `epoch`: the lane carries another epoch, or none.
 * - `rebuilding`: it waits for the barrier of this epoch.
 * - `open`: the call is only for a lane that waits.
 */
export type ClosedReason = "incarnation" | "epoch" | "rebuilding" | "open";

export type Admission =
  | { readonly kind: "admitted"; readonly admittedAt: Instant }
  /** Known: on its way (`pending`) or decided. */
  | { readonly kind: "replayed"; readonly state: "pending" | Answer["state"] }
  | { readonly kind: "refused"; readonly code: Rejection; readonly sku: SkuId | null }
  /** As many tickets are in flight as the lane may hold: the ledger is behind, or away. */
  | { readonly kind: "busy" }
  /** The sale or the SKU is not here: the caller asks the ledger what that means. */
  | { readonly kind: "missing"; readonly what: "sale" | "sku"; readonly sku: SkuId | null };

export type OutboxHead = {
  readonly incarnation: string;
  /** Null: the lane has no epoch, so nothing may be sent. */
  readonly epoch: Epoch | null;
  readonly items: readonly { readonly seq: number; readonly item: LaneItem }[];
  readonly length: number;
  readonly oldestAt: Instant | null;
};

export type Projection = {
  /** In commit order. */
  readonly entries: readonly ProjectedEntry[];
  readonly settled: readonly Settled[];
};

export type ProjectReply = {
  /** SKUs whose next entry is missing: catch up from this version. */
  readonly gaps: readonly { readonly sku: SkuId; readonly version: number }[];
  /** SKUs on which the entries do not fit: another hash, or a version above the ledger's. */
  readonly forks: readonly { readonly sku: SkuId; readonly version: number }[];
  /** SKUs that the lane should have and has not. */
  readonly missing: readonly SkuId[];
  /** SKUs whose available grew: the sold-out gate opens. */
  readonly gaveBack: readonly SkuId[];
};

export type LoadReply = {
  readonly kept: number;
  readonly dropped: number;
  readonly ledgerWentBack: readonly { readonly sku: SkuId; readonly hotVersion: number }[];
};

export type Observation = {
  readonly lane: Lane;
  readonly incarnation: string;
  readonly epoch: Epoch | null;
  readonly open: boolean;
  readonly at: Instant;
  readonly outboxLength: number;
  readonly outboxOldestAt: Instant | null;
  readonly tickets: number;
  /** Voids that have not come back: like tickets, they call for a marker. */
  readonly voids: number;
  readonly skus: readonly ObservedSku[];
  readonly policies: readonly { readonly saleId: SaleId; readonly revision: number }[];
};

export type ObservedSku = {
  readonly sku: SkuId;
  readonly version: number;
  readonly hash: string;
  /** Signed: after a loss it may be below zero for a while, which means sold out. */
  readonly available: number;
  /** Σ of the overlay. */
  readonly inFlight: number;
  readonly oldestTicketAt: Instant | null;
  readonly stopped: boolean;
  readonly statusRevision: number;
  readonly saleId: SaleId | null;
};

export type OverdueTicket = AdmittedTicket & { readonly resends: number };

export type HotLookup =
  | { readonly kind: "closed" }
  | { readonly kind: "unknown" }
  | { readonly kind: "pending"; readonly ticket: AdmittedTicket }
  | { readonly kind: "decided"; readonly answer: Answer };

export type KnownIds = Omit<Left, "sku"> & { readonly ids: readonly string[] };

export type Left = {
  readonly sku: SkuId;
  readonly available: number;
  /** Grows whenever an id of the SKU becomes known; only comparable within an epoch. */
  readonly idsSeen: number;
};
