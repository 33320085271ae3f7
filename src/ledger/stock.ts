import type { SkuRow } from "../domain/command.ts";
import type { SkuId } from "../domain/values.ts";
import { skuRowOf } from "./row-parsers.ts";
import { portions, type SqlReader } from "./sql-database.ts";

const idsMax = 512;

/** Of `inventory i` and `sales s`. */
export const skuColumns = `
  i.sku, i.sku_id, i.lane, s.sale_id, i.status, i.status_reason, i.status_revision, i.available,
  i.reserved, i.sold, i.frozen, i.lost, i.version, i.hash`;

const levelsById = `
  select ${skuColumns} from inventory i left join sales s on s.sale = i.sale
  where i.sku_id in (?) order by i.sku_id`;

const levelsAfter = `
  select ${skuColumns} from inventory i left join sales s on s.sale = i.sale
  where i.sku_id > ? order by i.sku_id limit ?`;

export async function levelsOf(
  reader: SqlReader,
  skus: readonly SkuId[],
): Promise<readonly SkuRow[]> {
  const found: SkuRow[] = [];
  for (const part of portions(skus, idsMax)) {
    found.push(...(await reader.all(levelsById, [part])).map(skuRowOf));
  }
  return found;
}

/** In SKU order, after the cursor. */
export async function levelPage(
  reader: SqlReader,
  after: string | null,
  limit: number,
): Promise<readonly SkuRow[]> {
  return (await reader.all(levelsAfter, [after ?? "", limit])).map(skuRowOf);
}
