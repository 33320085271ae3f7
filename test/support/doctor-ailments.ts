/** Ways to break the rows of a ledger that holds a paid order `one` and a hold `two`. */
export type Ailment = {
  readonly id: string;
  readonly state: "warn" | "fail";
  readonly what: string;
  /** Statements for either database; `@now` is the ledger's time in milliseconds. */
  readonly sql: readonly string[];
};

export const ledgerAilments: readonly Ailment[] = [
  {
    id: "ledger.schema",
    state: "fail",
    what: "a migration of a later version was applied",
    sql: [
      `insert into migrations (number, name, hash, applied_at_ms)
       values (9000, '9000_later.sql', 'x', 0)`,
    ],
  },
  {
    id: "ledger.schema",
    state: "warn",
    what: "migrations are missing",
    sql: ["delete from migrations"],
  },
  {
    id: "ledger.balances",
    state: "fail",
    what: "somebody has added to a SKU by hand",
    sql: ["update inventory set available = available + 7, total = total + 7 where sku = 1"],
  },
  {
    id: "ledger.orders",
    state: "fail",
    what: "an order says that it is sold and its entries do not",
    sql: ["update orders set state = 'cancelled' where order_id = 'one'"],
  },
  {
    id: "ledger.duplicate-orders",
    state: "fail",
    what: "one wish has two orders",
    sql: [
      `insert into orders
        (order_id, sale, buyer_id, idempotency_key, state, attempt, decided_at_ms, revived)
       select 'again', sale, buyer_id, idempotency_key, 'rejected', 1, decided_at_ms, 0
       from orders where order_id = 'one'`,
    ],
  },
  {
    id: "ledger.overdue-holds",
    state: "fail",
    what: "nobody expires what has run out",
    sql: ["update orders set expires_at_ms = @now - 120000 where order_id = 'two'"],
  },
  {
    id: "ledger.unpublished",
    state: "warn",
    what: "nobody has confirmed events for a long time",
    sql: [
      "update inventory_log set created_at_ms = @now - 900000",
      "update inventory set published_version = 0",
    ],
  },
  {
    id: "dead-letters",
    state: "warn",
    what: "a message could not be decided",
    sql: [
      `insert into dead_letters (lane, reason, body, tries, state, created_at_ms)
       values (0, 'unreadable', x'00', 3, 'open', @now)`,
    ],
  },
];

export function breakLedger({ sql }: Ailment, nowMs: number): readonly string[] {
  return sql.map((text) => text.replaceAll("@now", String(nowMs)));
}
