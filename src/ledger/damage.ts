import { noUnits } from "../domain/stock.ts";
import { reservationId, type SkuId } from "../domain/values.ts";
import type { BucketDamage } from "./ledger.ts";
import { balancesOf } from "./row-parsers.ts";
import { integer, integerOrNull } from "./rows.ts";
import type { Row, SqlReader } from "./sql-database.ts";

/** Orders named for one SKU. */
const ordersMax = 100;

/** One statement, so the row, its entries and its orders are seen at one moment. */
const sumsOfSku = `
  select i.version, i.available, i.reserved, i.sold, i.frozen, i.lost,
    e.version as entry_version, e.available as entry_available, e.reserved as entry_reserved,
    e.sold as entry_sold, e.frozen as entry_frozen, e.lost as entry_lost,
    (select count(*) from inventory_log c where c.sku = i.sku) as entries,
    coalesce(sum(case when o.state = 'reserved' then n.quantity else 0 end), 0)
      as order_reserved,
    coalesce(sum(case when o.state in ('confirmed', 'refunded')
      then n.quantity - n.restocked - n.written_off else 0 end), 0) as order_sold
  from inventory i
  left join inventory_log e on e.sku = i.sku and e.version = i.version
  left join order_lines n on n.sku = i.sku
  left join orders o on o.order_no = n.order_no
  where i.sku_id = ?
  group by i.sku`;

/** Orders whose entries do not add up to their state. Asked only when the sums are wrong. */
const ordersUnlikeEntries = `
  select * from (
    select o.order_id,
      case when o.state = 'reserved' then n.quantity else 0 end as order_reserved,
      case when o.state in ('confirmed', 'refunded')
        then n.quantity - n.restocked - n.written_off else 0 end as order_sold,
      coalesce(sum(case when l.to_bucket = 'reserved' then l.quantity
        when l.from_bucket = 'reserved' then -l.quantity else 0 end), 0) as entry_reserved,
      coalesce(sum(case when l.to_bucket = 'sold' then l.quantity
        when l.from_bucket = 'sold' then -l.quantity else 0 end), 0) as entry_sold
    from inventory i
    join order_lines n on n.sku = i.sku
    join orders o on o.order_no = n.order_no
    left join inventory_log l on l.sku = n.sku and l.order_no = n.order_no
    where i.sku_id = ?
    group by n.order_no
  ) as sums
  where order_reserved <> entry_reserved or order_sold <> entry_sold
  order by order_id limit ?`;

/**
 * What the chain alone does not show: orders against buckets, and entries that are gone. Each
 * damaged order is named once, with the units by which it is wrong.
 */
export async function bucketDamageOf(
  reader: SqlReader,
  sku: SkuId,
): Promise<readonly BucketDamage[]> {
  const [sums] = await reader.all(sumsOfSku, [sku]);
  if (sums === undefined) return [];
  const wrong = wrongSums(sku, sums);
  if (wrong.length === 0) return [];
  const orders = await reader.all(ordersUnlikeEntries, [sku, ordersMax]);
  const named = orders.map((row) => orderDamage(sku, row));
  return named.length > 0 ? named : wrong;
}

function wrongSums(sku: SkuId, sums: Row): readonly BucketDamage[] {
  const row = balancesOf(sums);
  const version = integer(sums, "version");
  const hasEntry = integerOrNull(sums, "entry_version") !== null;
  // Without the entry of its version there is nothing to compare; "entries" says so already.
  const entry = hasEntry ? entryBalances(sums) : version === 0 ? noUnits : row;
  const compared: readonly (readonly [string, number, number])[] = [
    ["entries", version, integer(sums, "entries")],
    ["reserved", integer(sums, "order_reserved"), row.reserved],
    ["sold", integer(sums, "order_sold"), row.sold],
    ["available", entry.available, row.available],
    ["frozen", entry.frozen, row.frozen],
    ["lost", entry.lost, row.lost],
  ];
  return compared
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expected, found]) => ({ sku, what, expected, found, reservationId: null }));
}

function entryBalances(row: Row): typeof noUnits {
  return {
    available: integer(row, "entry_available"),
    reserved: integer(row, "entry_reserved"),
    sold: integer(row, "entry_sold"),
    frozen: integer(row, "entry_frozen"),
    lost: integer(row, "entry_lost"),
  };
}

function orderDamage(sku: SkuId, row: Row): BucketDamage {
  const sold = { expected: integer(row, "order_sold"), found: integer(row, "entry_sold") };
  const reserved = {
    expected: integer(row, "order_reserved"),
    found: integer(row, "entry_reserved"),
  };
  const isSold = sold.expected !== sold.found;
  return {
    sku,
    what: isSold ? "sold" : "reserved",
    ...(isSold ? sold : reserved),
    reservationId: reservationId(row["order_id"]),
  };
}
