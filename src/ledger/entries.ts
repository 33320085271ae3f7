import { genesisHash, type LedgerEntry, type ProjectedEntry, projected } from "../domain/entry.ts";
import { noUnits } from "../domain/stock.ts";
import { buyerId, type Instant, type Lane, type SkuId, saleId, skuId } from "../domain/values.ts";
import type { BalancesAt, EntryQuery, EntryRow, VersionPoint } from "./ledger.ts";
import { balancesOf, entryOf, entryRowOf } from "./row-parsers.ts";
import { integer, parsed, text, textOrNull } from "./rows.ts";
import { portions, type Row, type SqlReader } from "./sql-database.ts";

const idsMax = 512;

/** Of `inventory_log l`, `inventory i` and `orders o`. */
export const entryColumns = `
  i.sku_id, l.version, o.order_id, l.operation_type, l.operation_id, l.quantity, l.from_bucket,
  l.to_bucket, l.available, l.reserved, l.sold, l.frozen, l.lost, l.actor, l.reason,
  lower(hex(l.previous_hash)) as previous_hash, lower(hex(l.hash)) as hash, l.created_at_ms`;

const entriesOfSku = `
  select ${entryColumns}, i.published_version, s.sale_id, o.buyer_id
  from inventory i
  join inventory_log l on l.sku = i.sku
  left join orders o on o.order_no = l.order_no
  left join sales s on s.sale = o.sale
  where i.sku_id = ? and l.version > ? and l.created_at_ms between ? and ?
  order by l.version limit ?`;

const entriesToProject = `
  select ${entryColumns}, i.lane, s.sale_id, o.buyer_id, o.fingerprint, o.order_no
  from inventory i
  join inventory_log l on l.sku = i.sku
  left join orders o on o.order_no = l.order_no
  left join sales s on s.sale = o.sale
  where i.sku_id = ? and l.version > ?
  order by l.version limit ?`;

const skusOfOrders = `
  select l.order_no, i.sku_id from order_lines l join inventory i on i.sku = l.sku
  where l.order_no in (?) order by i.sku_id`;

const keysOfSkus = "select sku, sku_id from inventory where sku_id in (?)";

const balancesAtPoints = `
  with k (sku, version) as (?)
  select l.sku, l.version, l.available, l.reserved, l.sold, l.frozen, l.lost,
    lower(hex(l.hash)) as hash
  from k cross join inventory_log l on l.sku = k.sku and l.version = k.version`;

const versionOfSku = "select sku, version from inventory where sku_id = ?";

const timeOfEntry = "select created_at_ms from inventory_log where sku = ? and version = ?";

export async function entriesOf(
  reader: SqlReader,
  sku: SkuId,
  query: EntryQuery,
): Promise<readonly EntryRow[]> {
  const from = query.from ?? 0;
  const to = query.to ?? Number.MAX_SAFE_INTEGER;
  const before = query.from === null ? 0 : await versionAt(reader, sku, from - 1);
  const after = Math.max(query.after, before);
  const rows = await reader.all(entriesOfSku, [sku, after, from, to, query.limit]);
  return rows.map(entryRowOf);
}

/** As hot stock takes them: with the parts of their orders that the entries do not carry. */
export async function entriesAfter(
  reader: SqlReader,
  sku: SkuId,
  page: { readonly version: number; readonly limit: number },
): Promise<readonly ProjectedEntry[]> {
  const rows = await reader.all(entriesToProject, [sku, page.version, page.limit]);
  const keys = rows.flatMap((row) => (row["order_no"] === null ? [] : [integer(row, "order_no")]));
  const skus = new Map<number, SkuId[]>();
  for (const part of portions([...new Set(keys)], idsMax)) {
    for (const row of await reader.all(skusOfOrders, [part])) {
      const key = integer(row, "order_no");
      skus.set(key, [...(skus.get(key) ?? []), skuId(row["sku_id"])]);
    }
  }
  return rows.map((row) => projectedOf(row, skus));
}

function projectedOf(row: Row, skus: ReadonlyMap<number, readonly SkuId[]>): ProjectedEntry {
  const entry: LedgerEntry = entryOf(row);
  const lane: Lane = integer(row, "lane");
  if (entry.reservationId === null) return projected(entry, lane, null);
  return projected(entry, lane, {
    saleId: parsed(row, "sale_id", saleId),
    buyerId: parsed(row, "buyer_id", buyerId),
    fingerprint: textOrNull(row, "fingerprint"),
    skus: skus.get(integer(row, "order_no")) ?? [],
  });
}

export async function balancesAt(
  reader: SqlReader,
  points: readonly VersionPoint[],
): Promise<readonly (BalancesAt | null)[]> {
  const found = new Map<string, BalancesAt>();
  for (const part of portions(points, idsMax)) {
    const keys = new Map<SkuId, number>();
    const skus = [...new Set(part.map(({ sku }) => sku))];
    for (const row of await reader.all(keysOfSkus, [skus])) {
      keys.set(skuId(row["sku_id"]), integer(row, "sku"));
    }
    const pairs = part.flatMap(({ sku, version }) => {
      const key = keys.get(sku);
      return key === undefined ? [] : [[key, version]];
    });
    if (pairs.length === 0) continue;
    const rows = await reader.all(balancesAtPoints, [pairs]);
    const byKey = new Map(rows.map((row) => [pointKey(integer(row, "sku"), row), row]));
    for (const { sku, version } of part) {
      const key = keys.get(sku);
      if (key === undefined) continue;
      const row = byKey.get(`${key} ${version}`);
      if (version === 0) found.set(`${sku} 0`, { ...nothingYet, sku });
      if (row !== undefined) found.set(`${sku} ${version}`, pointOf(sku, row));
    }
  }
  return points.map(({ sku, version }) => found.get(`${sku} ${version}`) ?? null);
}

const nothingYet = { version: 0, balances: noUnits, hash: genesisHash };

function pointKey(key: number, row: Row): string {
  return `${key} ${integer(row, "version")}`;
}

function pointOf(sku: SkuId, row: Row): BalancesAt {
  return {
    sku,
    version: integer(row, "version"),
    balances: balancesOf(row),
    hash: text(row, "hash"),
  };
}

/**
 * The last version at or before a time, by halving: versions and times rise together, as far as
 * the ledger's clock does. 0 when the SKU had no entry yet.
 */
export async function versionAt(reader: SqlReader, sku: SkuId, at: Instant): Promise<number> {
  const [row] = await reader.all(versionOfSku, [sku]);
  if (row === undefined) return 0;
  const key = integer(row, "sku");
  let low = 0;
  let high = integer(row, "version");
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [entry] = await reader.all(timeOfEntry, [key, middle]);
    const isBefore = entry !== undefined && integer(entry, "created_at_ms") <= at;
    if (isBefore) low = middle;
    else high = middle - 1;
  }
  return low;
}
