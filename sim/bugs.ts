import { hotStockBugs } from "./bugs-hot-stock.ts";
import { leaseBugs } from "./bugs-leases.ts";
import { ledgerBugs } from "./bugs-ledger.ts";
import { lineBugs } from "./bugs-line.ts";

/** A mistake that can be planted into the compiled program, and the promise that it breaks. */
export type PlantedBug = {
  readonly name: string;
  /** The promise, in the words of the guarantees. */
  readonly breaks: string;
  /** The compiled file, from the root of `dist`. */
  readonly file: string;
  /** Stands in the compiled text exactly once; white space counts as one space. */
  readonly find: string;
  readonly replace: string;
};

/** Each rule that could be forgotten, forgotten once. */
export const bank: readonly PlantedBug[] = [
  ...ledgerBugs,
  ...hotStockBugs,
  ...lineBugs,
  ...leaseBugs,
];
