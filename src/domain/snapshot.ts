import type { Answer } from "./entry.ts";
import type { SalePolicy } from "./sale.ts";
import type { BuyerId, SaleId, SkuId } from "./values.ts";

/** Whether a SKU is stopped, as of a revision. */
export type HotStatus = {
  readonly sku: SkuId;
  readonly stopped: boolean;
  readonly revision: number;
};

/** A SKU as hot stock takes it from the ledger. */
export type HotLevel = HotStatus & {
  readonly saleId: SaleId | null;
  /** The ledger's available at the version, before the overlay is taken off. */
  readonly available: number;
  readonly version: number;
  readonly hash: string;
};

/** All that a lane's hot stock is loaded with: the ledger as of one moment after the barrier. */
export type Snapshot = {
  readonly levels: readonly HotLevel[];
  readonly policies: readonly SalePolicy[];
  readonly buyers: readonly {
    readonly sku: SkuId;
    readonly buyerId: BuyerId;
    readonly units: number;
  }[];
  readonly answers: readonly Answer[];
  /** Held tickets that the ledger has decided. */
  readonly decided: ReadonlySet<string>;
};
