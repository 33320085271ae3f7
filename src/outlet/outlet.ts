import type { LedgerEntry } from "../domain/entry.ts";
import type { Place } from "../domain/stock.ts";
import type { BuyerId, SaleId } from "../domain/values.ts";

/**
 * Where the events of the ledger's entries go. It is told the same event again until it has
 * confirmed it, also by another process, so whoever reads may see one twice: by `source` and `id`
 * it is the same.
 */
export interface Outlet {
  /** How many events it takes at once: 500 where it does not say. */
  readonly batchMax?: number;
  /** Where its readers find it, in the broker's own words. */
  readonly place?: string;
  /**
   * Tells them, those of one SKU in the order given, and resolves once the broker has confirmed
   * all. Rejects with `NotAllTold` where it has confirmed some, and otherwise when none. It ends by
   * a deadline, whatever the broker does.
   */
  deliver(events: readonly CloudEvent[]): Promise<void>;
  /** Makes what the broker has to be told of before. */
  prepare?(): Promise<void>;
  close?(): Promise<void>;
}

/** CloudEvents 1.0. */
export type CloudEvent = {
  readonly specversion: "1.0";
  /** `SKU@version`: of one source, no two events have the same. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** RFC 3339, by the ledger's clock. */
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly dataschema: string;
  readonly data: StockEntry;
};

/** One entry, as `docs/schemas/stock-entry.v1.json` describes it. */
export type StockEntry = Omit<LedgerEntry, "at"> & {
  readonly saleId: SaleId | null;
  readonly buyerId: BuyerId | null;
  readonly from: Place | null;
  readonly to: Place | null;
  readonly at: string;
};

/** Some were confirmed, and the others were not, or nobody knows. */
export class NotAllTold extends Error {
  readonly told: ReadonlySet<CloudEvent>;

  constructor(told: ReadonlySet<CloudEvent>, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.told = told;
  }
}
