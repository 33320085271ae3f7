import { MigrationError, migrationStatus } from "../ledger/migrate.ts";
import { integer, text } from "../ledger/rows.ts";
import type { Row, SqlReader } from "../ledger/sql-database.ts";
import type { Backlog, LedgerFacts } from "./ledger-checks.ts";

/** The newest orders and SKUs are looked at; `audit verify` looks at all of them. */
const ordersMax = 5_000;
const skusMax = 20_000;
const namedMax = 20;

const lastOrder = "select coalesce(max(order_no), 0) as order_no from orders";

const unbalancedSkus = `
  select i.sku_id as name
  from (select * from inventory order by sku desc limit ?) i
  left join inventory_log e on e.sku = i.sku and e.version = i.version
  where i.available + i.reserved + i.sold + i.frozen + i.lost <> i.total
    or (i.version > 0 and e.version is null)
    or i.available <> e.available or i.reserved <> e.reserved or i.sold <> e.sold
    or i.frozen <> e.frozen or i.lost <> e.lost
  order by i.sku_id limit ?`;

const uncountedOrders = `
  select distinct name from (
    select o.order_id as name,
      case when o.state = 'reserved' then n.quantity else 0 end as order_reserved,
      case when o.state in ('confirmed', 'refunded')
        then n.quantity - n.restocked - n.written_off else 0 end as order_sold,
      coalesce(sum(case when l.to_bucket = 'reserved' then l.quantity
        when l.from_bucket = 'reserved' then -l.quantity else 0 end), 0) as entry_reserved,
      coalesce(sum(case when l.to_bucket = 'sold' then l.quantity
        when l.from_bucket = 'sold' then -l.quantity else 0 end), 0) as entry_sold
    from orders o
    join order_lines n on n.order_no = o.order_no
    left join inventory_log l on l.sku = n.sku and l.order_no = n.order_no
    where o.order_no > ?
    group by o.order_id, o.state, n.sku, n.quantity, n.restocked, n.written_off
  ) as sums
  where order_reserved <> entry_reserved or order_sold <> entry_sold
  order by name limit ?`;

const duplicateOrders = `
  select idempotency_key as name from orders
  where order_no > ? and sale is not null and buyer_id is not null
    and idempotency_key is not null
  group by sale, buyer_id, idempotency_key having count(*) > 1
  order by idempotency_key limit ?`;

const overdueHolds = `
  select count(*) as backlog, min(expires_at_ms) as oldest from (
    select expires_at_ms from orders where state = 'reserved' and expires_at_ms <= ?
    order by expires_at_ms limit ?
  ) as due`;

const unpublishedEntries = `
  select count(*) as backlog, min(l.created_at_ms) as oldest
  from inventory i
  join inventory_log l on l.sku = i.sku and l.version = i.published_version + 1
  where i.published_version < i.version and i.sku > ?`;

const lastSku = "select coalesce(max(sku), 0) as sku from inventory";

const openLetters = "select count(*) as letters from dead_letters where state = 'open'";

export type LedgerSource = {
  readonly reader: SqlReader;
  readonly dialect: "sqlite" | "mysql";
  /** The ledger's own clock. */
  readonly nowMs: number;
  readonly missingKeys: () => Promise<readonly string[]>;
};

export async function ledgerFacts(source: LedgerSource): Promise<LedgerFacts> {
  const schema = await schemaOf(source);
  // What the tables of another schema hold, nobody here can read.
  if (schema.pending.length > 0 || schema.schemaError !== "") return { ...nothing, ...schema };
  const { reader, nowMs } = source;
  const from = Math.max(0, (await number(reader, lastOrder, "order_no")) - ordersMax);
  const skusFrom = Math.max(0, (await number(reader, lastSku, "sku")) - skusMax);
  return {
    ...schema,
    missingKeys: await source.missingKeys(),
    unbalanced: await names(reader, unbalancedSkus, [skusMax, namedMax]),
    uncounted: await names(reader, uncountedOrders, [from, namedMax]),
    duplicated: await names(reader, duplicateOrders, [from, namedMax]),
    overdue: backlogOf(await reader.all(overdueHolds, [nowMs, ordersMax]), nowMs),
    unpublished: backlogOf(await reader.all(unpublishedEntries, [skusFrom]), nowMs),
    deadLetters: await number(reader, openLetters, "letters"),
  };
}

const none: Backlog = { count: 0, oldestSeconds: 0 };
const nothing: LedgerFacts = {
  pending: [],
  schemaError: "",
  missingKeys: [],
  unbalanced: [],
  uncounted: [],
  duplicated: [],
  overdue: none,
  unpublished: none,
  deadLetters: 0,
};

async function schemaOf({
  reader,
  dialect,
}: LedgerSource): Promise<Pick<LedgerFacts, "pending" | "schemaError">> {
  try {
    const { pending } = await migrationStatus(reader, dialect);
    return { pending, schemaError: "" };
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    return { pending: [], schemaError: error.message };
  }
}

async function number(reader: SqlReader, sql: string, column: string): Promise<number> {
  const [row] = await reader.all(sql, []);
  return row === undefined ? 0 : integer(row, column);
}

async function names(
  reader: SqlReader,
  sql: string,
  bounds: readonly [number, number],
): Promise<readonly string[]> {
  return (await reader.all(sql, bounds)).map((row) => text(row, "name"));
}

function backlogOf([row]: readonly Row[], nowMs: number): Backlog {
  if (row === undefined || row["oldest"] === null) return none;
  const oldestSeconds = Math.max(0, Math.round((nowMs - integer(row, "oldest")) / 1000));
  return { count: integer(row, "backlog"), oldestSeconds };
}

/** Without these, a message that comes twice would count twice, and a statement lock a table. */
export const uniqueKeys: readonly UniqueKey[] = [
  { table: "sales", columns: "sale_id" },
  { table: "inventory", columns: "sku_id" },
  { table: "orders", columns: "order_id" },
  { table: "order_lines", columns: "order_no,sku" },
  { table: "inventory_log", columns: "sku,version" },
  { table: "inventory_log", columns: "sku,order_no,operation_type,operation_id" },
  { table: "payments", columns: "order_no,payment_id" },
  { table: "operations", columns: "scope,operation_id" },
  { table: "leases", columns: "name" },
];

export type UniqueKey = { readonly table: string; readonly columns: string };

export function keysNotIn(found: ReadonlySet<string>): readonly string[] {
  const wanted = uniqueKeys.map(({ table, columns }) => `${table} (${columns})`);
  return wanted.filter((key) => !found.has(key));
}
