import type { Lease } from "../domain/lease.ts";
import type { SkuId } from "../domain/values.ts";
import { entryColumns } from "./entries.ts";
import { isHeld } from "./leases.ts";
import type { EntryRow } from "./ledger.ts";
import { entryRowOf } from "./row-parsers.ts";
import { integer } from "./rows.ts";
import type { SqlDatabase, SqlReader } from "./sql-database.ts";

/**
 * The event of an entry is told in order per SKU, so one number a SKU says for every entry
 * whether it is `pending` or `success`: see docs/decisions/0003-publication-watermark.md.
 */
const skusWithPending = `
  select sku from inventory where published_version < version order by sku limit ?`;

const pendingOfSku = `
  select ${entryColumns}, i.published_version, s.sale_id, o.buyer_id
  from inventory i
  join inventory_log l on l.sku = i.sku
  left join orders o on o.order_no = l.order_no
  left join sales s on s.sale = o.sale
  where i.sku = ? and l.version > i.published_version
  order by l.version limit ?`;

const raiseWatermark = `
  update inventory set published_version = ?
  where sku_id = ? and published_version < ? and version >= ?`;

const raiseAll =
  "update inventory set published_version = version where published_version < version";

/** Every SKU gets its share, so that a busy one does not hold up the others. */
export async function unpublished(reader: SqlReader, limit: number): Promise<readonly EntryRow[]> {
  const skus = await reader.all(skusWithPending, [limit]);
  const share = Math.max(1, Math.floor(limit / Math.max(1, skus.length)));
  const found: EntryRow[] = [];
  for (const row of skus) {
    const rows = await reader.all(pendingOfSku, [integer(row, "sku"), share]);
    found.push(...rows.map(entryRowOf));
  }
  return found;
}

export async function confirmPublished(
  database: SqlDatabase,
  marks: readonly { readonly sku: SkuId; readonly version: number }[],
  lease: Lease,
): Promise<void> {
  if (marks.length === 0) return;
  await database.transaction(async (session) => {
    if (!(await isHeld(session, database, lease))) return;
    for (const { sku, version } of marks) {
      await session.run(raiseWatermark, [version, sku, version, version]);
    }
  });
}

export async function confirmAllPublished(database: SqlDatabase, lease: Lease): Promise<void> {
  await database.transaction(async (session) => {
    if (await isHeld(session, database, lease)) await session.run(raiseAll, []);
  });
}
