import type {
  AuditRecord,
  Command,
  CommandResult,
  LaneRow,
  OperationRecord,
  RequestRecord,
  SkuRow,
} from "../domain/command.ts";
import type { LedgerEntry, ProjectedEntry, Settled } from "../domain/entry.ts";
import type { Lease } from "../domain/lease.ts";
import type { Asked } from "../domain/request-origin.ts";
import type { Order, Payment, ReservationState } from "../domain/reservation.ts";
import type { Sale, SaleState } from "../domain/sale.ts";
import type { Snapshot } from "../domain/snapshot.ts";
import type { Balances } from "../domain/stock.ts";
import type {
  BuyerId,
  Epoch,
  Instant,
  Lane,
  OperationId,
  ReservationId,
  SaleId,
  SkuId,
} from "../domain/values.ts";

/**
 * The ledger alone is the truth. A commit decides many commands in one transaction; its answer
 * to an id is the answer for ever. A call that throws a `Fault` with an UNKNOWN code may have
 * taken effect: the same commands are told again, and nothing is done twice.
 */
export interface Ledger {
  /** Decides the commands in order, all in one transaction; results in the same order. */
  commit(commands: readonly Command[]): Promise<Commit>;

  /** The clock that decides: the database's. */
  now(): Promise<Instant>;

  // Lanes and the rebuild -------------------------------------------------------------------
  lanes(): Promise<readonly LaneState[]>;
  /**
   * Step 1: the next epoch of the lane, registered with the hot stock it is for, in one
   * statement. Null when the lane is not at the epoch that was seen, or the lease is another's by
   * now: somebody else was first.
   */
  nextEpoch(
    seen: Pick<LaneRow, "lane" | "epoch">,
    by: { readonly incarnation: string; readonly lease: Lease },
  ): Promise<Epoch | null>;
  /** Something is wrong with the hot stock of that epoch; the next epoch answers it. */
  doubt(seen: Pick<LaneRow, "lane" | "epoch">, cause: string): Promise<void>;
  /** Counts what had to be mended: tickets sent again, rebuilds for a cause. */
  repaired(lane: Lane, count: number): Promise<void>;
  /** Step 5: one consistent read. `held`: tickets whose decision must be told. */
  snapshot(lane: Lane, held: readonly string[]): Promise<Snapshot>;
  /** Entries after a version, in order, as hot stock takes them. */
  entriesAfter(sku: SkuId, version: number, limit: number): Promise<readonly ProjectedEntry[]>;
  /** The decision of each of these tickets, where there is one. */
  settled(lane: Lane, ticketIds: readonly string[]): Promise<readonly Settled[]>;

  // Who may act -----------------------------------------------------------------------------
  /**
   * Takes these leases for so long by the ledger's clock, or keeps those that the holder has;
   * what another holds is left out. One that ran out stays its holder's until another takes it.
   */
  hold(
    holder: string,
    wishes: readonly { readonly name: string; readonly forMs: number }[],
  ): Promise<readonly Lease[]>;
  /** Gives them up, so that nobody has to wait for their end. */
  release(leases: readonly Lease[]): Promise<void>;
  /** Whoever had them is dead: only for a process that knows it is alone. */
  releaseAll(): Promise<void>;

  // Reads -----------------------------------------------------------------------------------
  order(id: ReservationId): Promise<OrderView | null>;
  orderEntries(id: ReservationId): Promise<readonly LedgerEntry[]>;
  sale(saleId: SaleId): Promise<Sale | null>;
  /** Newest first. */
  sales(page: Page): Promise<readonly Sale[]>;
  salesIn(states: readonly SaleState[]): Promise<readonly Sale[]>;
  /** Which of these are closed and without a hold: their answers may be forgotten. */
  endedSales(among: readonly SaleId[]): Promise<readonly SaleId[]>;
  level(sku: SkuId): Promise<SkuRow | null>;
  levels(skus: readonly SkuId[]): Promise<readonly SkuRow[]>;
  /** In SKU order, after the cursor. */
  levelPage(after: string | null, limit: number): Promise<readonly SkuRow[]>;
  /** Balances and hash at an exact version (0: nothing yet); null if there is no such version. */
  balancesAt(points: readonly VersionPoint[]): Promise<readonly (BalancesAt | null)[]>;
  /** The last version at or before a time. */
  versionAt(sku: SkuId, at: Instant): Promise<number>;
  entries(sku: SkuId, query: EntryQuery): Promise<readonly EntryRow[]>;
  operation(scope: string, operationId: OperationId): Promise<OperationRecord | null>;
  /** Which calls changed what stands under a scope, in order. */
  requests(scope: string): Promise<readonly RequestRecord[]>;
  /** Holds whose deadline has passed, after the cursor, in order of deadline. */
  dueHolds(cursor: DueCursor | null, limit: number): Promise<readonly DueHold[]>;
  search(text: string, limit: number): Promise<readonly SearchHit[]>;

  // Proof -----------------------------------------------------------------------------------
  /** Recomputes chains, sums and buckets, SKU by SKU; stops early at the first broken entry. */
  verify(sku: SkuId | null): Promise<Verification>;
  /** Σ of orders against buckets, per SKU: damage that a chain alone does not show. */
  bucketDamage(skus: readonly SkuId[]): Promise<readonly BucketDamage[]>;
  counts(): Promise<LedgerCounts>;

  // Telling the world -----------------------------------------------------------------------
  /** Entries whose event is not confirmed yet, in order per SKU. */
  unpublished(limit: number): Promise<readonly EntryRow[]>;
  /** Confirmed up to this version; a version never goes back. Nothing under a stale lease. */
  published(
    marks: readonly { readonly sku: SkuId; readonly version: number }[],
    lease: Lease,
  ): Promise<void>;
  /** Nobody subscribes: every entry there is counts as told. Nothing under a stale lease. */
  publishedAll(lease: Lease): Promise<void>;

  // Dead letters and audit ------------------------------------------------------------------
  addDeadLetter(letter: NewDeadLetter): Promise<number>;
  deadLetters(query: DeadLetterQuery): Promise<readonly DeadLetter[]>;
  deadLetter(id: number): Promise<DeadLetter | null>;
  /** Only an open one is settled; false if somebody else was first. */
  settleDeadLetter(id: number, settlement: DeadLetterSettlement): Promise<boolean>;
  /** With its origin the call is found by its id, as one that the ledger decided. */
  audit(record: Omit<AuditRecord, "at"> & Asked): Promise<void>;
  auditLog(query: AuditQuery): Promise<readonly (AuditRecord & { readonly id: number })[]>;

  /** Who is signed in to the console. */
  readonly accounts: Accounts;

  /** A secret that `migrate` made and the ledger keeps. */
  secret(name: "reservation-ids" | "messages"): Promise<Buffer>;
  close(): Promise<void>;
}

/**
 * Sessions of the console and attempts to open one. They are here so that every process knows
 * the same: a sign-out ends a session everywhere, and a lockout survives a restart.
 */
export interface Accounts {
  /** The hash of the first administrator's password; null before there is one. */
  adminCredential(): Promise<string | null>;
  /** Keeps this one if there is none; answers the one that is kept. */
  keepAdminCredential(hash: string): Promise<string>;
  /** Opened now, by the ledger's clock; what was opened before `forgetMs` is swept out. */
  openSession(session: NewSession, forgetMs: number): Promise<void>;
  session(id: string): Promise<SessionRow | null>;
  /** It has been used now. */
  sessionSeen(id: string): Promise<void>;
  /** False if it had ended already. */
  endSession(id: string): Promise<boolean>;
  /** How many there were. */
  endSessionsOf(name: string): Promise<number>;
  /**
   * Counts an attempt before its outcome is known, so that many at once are not one. Null: go on.
   * Otherwise one of the subjects is locked for so many milliseconds, and nothing was counted.
   */
  countAttempt(subjects: readonly AttemptLimit[]): Promise<number | null>;
  /** It succeeded. */
  forgetAttempts(subjects: readonly string[]): Promise<void>;
}

export type NewSession = {
  /** A hash: whoever reads the ledger cannot use it. */
  readonly id: string;
  readonly name: string;
  /** Of the password's hash: with another password the session is none. */
  readonly credential: string;
};

export type SessionRow = NewSession & {
  readonly openedAt: Instant;
  readonly seenAt: Instant;
  /** By the clock that decides how old it is. */
  readonly readAt: Instant;
};

export type AttemptLimit = {
  readonly subject: string;
  /** From this one on, each failure locks: `lockMs`, then twice as long, up to `lockMsMax`. */
  readonly failuresMax: number;
  readonly lockMs: number;
  readonly lockMsMax: number;
  /** So long after the last failure nothing is held against it any more. */
  readonly forgetMs: number;
};

export type Commit = {
  readonly results: readonly CommandResult[];
  readonly entries: readonly ProjectedEntry[];
  readonly settled: readonly Settled[];
};

export type LaneState = LaneRow & {
  /** Why the hot stock of this epoch is in doubt; null: it is not. */
  readonly doubt: string | null;
  /** Since the ledger was made. */
  readonly repairs: number;
};

export type OrderView = {
  readonly order: Order;
  readonly payments: readonly Payment[];
  readonly operations: readonly OperationRecord[];
  /** By the clock that decides: whether a deadline has passed is for no other to say. */
  readonly readAt: Instant;
};

export type Page = { readonly after: string | null; readonly limit: number };

export type VersionPoint = { readonly sku: SkuId; readonly version: number };
export type BalancesAt = VersionPoint & { readonly balances: Balances; readonly hash: string };

export type EntryQuery = {
  /** After this version (ascending). */
  readonly after: number;
  readonly limit: number;
  readonly from: Instant | null;
  readonly to: Instant | null;
};

export type EntryRow = LedgerEntry & {
  readonly publication: "pending" | "success";
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
};

export type DueCursor = { readonly expiresAt: Instant; readonly id: ReservationId };
export type DueHold = DueCursor;

export type SearchHit = {
  readonly type: "reservation" | "sku" | "sale" | "dead-letter" | "operation";
  readonly id: string;
  readonly matched:
    | "reservationId"
    | "buyerId"
    | "idempotencyKey"
    | "requestId"
    | "traceId"
    | "paymentId"
    | "sku"
    | "saleId"
    | "operationId"
    | "messageId";
  readonly state: string;
  readonly at: Instant;
};

export type Verification = {
  readonly ok: boolean;
  readonly skus: number;
  readonly entries: number;
  readonly firstBroken: {
    readonly sku: SkuId;
    readonly version: number;
    readonly what: string;
    readonly expected: string;
    readonly found: string;
  } | null;
};

export type BucketDamage = {
  readonly sku: SkuId;
  readonly what: string;
  readonly expected: number;
  readonly found: number;
  readonly reservationId: ReservationId | null;
};

export type LedgerCounts = {
  readonly skus: number;
  readonly entries: number;
  readonly orders: Readonly<Partial<Record<ReservationState, number>>>;
  readonly deadLetters: number;
  readonly unpublished: number;
  /** When the oldest of them was written; null: all are told. */
  readonly unpublishedSince: Instant | null;
};

export type NewDeadLetter = {
  readonly lane: Lane;
  readonly reason: string;
  readonly body: Buffer;
  /** What could be read of it. */
  readonly kind: string | null;
  readonly itemId: string | null;
  readonly sku: string | null;
  readonly tries: number;
};

export type DeadLetter = NewDeadLetter & {
  readonly id: number;
  readonly state: "open" | "replayed" | "discarded";
  readonly createdAt: Instant;
  readonly settledAt: Instant | null;
  readonly settledBy: string | null;
  readonly settledReason: string | null;
};

export type DeadLetterSettlement = {
  readonly state: "replayed" | "discarded";
  readonly actor: string;
  readonly reason: string;
};

export type DeadLetterQuery = {
  readonly state: DeadLetter["state"] | null;
  readonly lane: Lane | null;
  readonly reason: string | null;
  readonly itemId: string | null;
  readonly after: number;
  readonly limit: number;
};

export type AuditQuery = {
  readonly actor: string | null;
  readonly action: string | null;
  readonly subject: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
  /** Older than this id; null: from the newest. */
  readonly before: number | null;
  readonly limit: number;
};
