/** What the ledger says, asked over a connection that had no part in the run. */
export interface Witness {
  level(sku: string): Promise<LevelFact | null>;
  /** From the first entry on, in version order. */
  entries(sku: string): AsyncIterable<EntryFact>;
  order(id: string): Promise<OrderFact | null>;
  audit(skus: readonly string[]): Promise<AuditFact>;
}

export const bucketNames = ["available", "reserved", "sold", "frozen", "lost"] as const;
export type Buckets = Readonly<Record<(typeof bucketNames)[number], number>>;

export type LevelFact = {
  readonly sku: string;
  readonly version: number;
  readonly hash: string;
  readonly buckets: Buckets;
};

export type EntryFact = {
  readonly version: number;
  readonly operation: string;
  readonly reservationId: string | null;
  readonly buyerId: string | null;
  readonly quantity: number;
  readonly after: Buckets;
  readonly previousHash: string;
  readonly hash: string;
};

export type OrderFact = {
  readonly id: string;
  readonly state: string;
  readonly lines: readonly { readonly sku: string; readonly quantity: number }[];
  /** Units given back so far. */
  readonly refunded: readonly { readonly sku: string; readonly quantity: number }[];
};

export type AuditFact = {
  readonly ok: boolean;
  readonly entries: number;
  /** The first broken entry, in words. */
  readonly firstBroken: string | null;
};

/** Both stores side by side, as the running server sees them. */
export type StoresFact = {
  readonly drift: number;
  readonly behind: number;
  readonly inFlight: number;
  readonly repairs: number;
  readonly closed: number;
  readonly stopped: number;
  readonly items: readonly HotFact[];
};

export type HotFact = {
  readonly sku: string;
  readonly hotVersion: number;
  readonly hotAvailable: number;
  readonly inFlight: number;
  readonly drift: number;
};
