import { type Checks, failWhen, some, warnWhen } from "./check.ts";

/** What a ledger's rows say, whichever database holds them. */
export type LedgerFacts = {
  readonly pending: readonly string[];
  /** Why the schema is not one of ours; empty when it is. */
  readonly schemaError: string;
  /** Unique keys that are not there, and statements that find their rows without one. */
  readonly missingKeys: readonly string[];
  /** SKUs whose buckets are not their total, or not what their last entry left behind. */
  readonly unbalanced: readonly string[];
  /** Orders whose state is not what their entries add up to. */
  readonly uncounted: readonly string[];
  /** Idempotency keys of a buyer with more than one order. */
  readonly duplicated: readonly string[];
  /** Holds that have run out and still hold. */
  readonly overdue: Backlog;
  /** Entries whose event nobody has confirmed. */
  readonly unpublished: Backlog;
  readonly deadLetters: number;
};

export type Backlog = { readonly count: number; readonly oldestSeconds: number };

const overdueSecondsMax = 60;
const unpublishedSecondsMax = 300;

export const ledgerChecks: Checks<LedgerFacts> = {
  "ledger.schema": {
    look: "holdfast migrate --dry-run",
    judge: ({ pending, schemaError }) => {
      const said = { pending: schemaError || some(pending) };
      if (schemaError !== "") return { state: "fail", said };
      return warnWhen(pending.length > 0, said);
    },
  },
  "ledger.unique-keys": {
    look: "{at} explain update inventory set available = available where sku_id = 'X'",
    judge: ({ missingKeys }) =>
      failWhen(missingKeys.length > 0, { missing: missingKeys.length, names: some(missingKeys) }),
  },
  "ledger.balances": {
    look: "holdfast audit verify",
    judge: ({ unbalanced }) =>
      failWhen(unbalanced.length > 0, { count: unbalanced.length, skus: some(unbalanced) }),
  },
  "ledger.orders": {
    look: "holdfast audit verify",
    judge: ({ uncounted }) =>
      failWhen(uncounted.length > 0, { count: uncounted.length, orders: some(uncounted) }),
  },
  "ledger.duplicate-orders": {
    look: 'curl "URL/v1/search?q=KEY"',
    judge: ({ duplicated }) =>
      failWhen(duplicated.length > 0, { count: duplicated.length, keys: some(duplicated) }),
  },
  "ledger.overdue-holds": {
    look: "{at} select min(expires_at_ms) from orders where state = 'reserved'",
    judge: ({ overdue: { count, oldestSeconds } }) =>
      failWhen(oldestSeconds > overdueSecondsMax, { count, seconds: oldestSeconds }),
  },
  "ledger.unpublished": {
    look: "{at} select * from inventory_log_view where status = 'pending' limit 9",
    judge: ({ unpublished: { count, oldestSeconds } }) =>
      warnWhen(oldestSeconds > unpublishedSecondsMax, { count, seconds: oldestSeconds }),
  },
  "dead-letters": {
    look: "holdfast dead-letters list",
    judge: ({ deadLetters }) => warnWhen(deadLetters > 0, { letters: deadLetters }),
  },
};
