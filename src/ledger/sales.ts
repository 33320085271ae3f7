import type { Sale, SaleState } from "../domain/sale.ts";
import { type SaleId, type SkuId, saleId, skuId } from "../domain/values.ts";
import type { Page } from "./ledger.ts";
import { type SaleItems, saleOf } from "./row-parsers.ts";
import { integer } from "./rows.ts";
import { portions, type Row, type SqlReader } from "./sql-database.ts";

const idsMax = 512;
/** Sales whose items are kept in memory: they never change after the sale is created. */
const itemsKeptMax = 512;

const saleColumns = `
  sale, sale_id, lane, title, fingerprint, state, revision, opens_at_ms, closes_at_ms, hold_ms,
  limit_per_buyer, created_at_ms, closed_at_ms`;

const salesById = `select ${saleColumns} from sales where sale_id in (?)`;

const salesByState = `select ${saleColumns} from sales where state in (?) order by sale`;

const newestSales = `select ${saleColumns} from sales order by sale desc limit ?`;

const salesBefore = `
  select ${saleColumns} from sales where sale < (select sale from sales where sale_id = ?)
  order by sale desc limit ?`;

/** Closed, and no hold of theirs is left. The holds stand in an index of their own. */
const salesEnded = `
  select sale_id from sales
  where sale_id in (?) and state = 'closed'
    and sale not in (select sale from orders where state = 'reserved' and sale is not null)
  order by sale`;

const salesRemembered = `
  select ${saleColumns} from sales
  where lane = ? and (
    state in ('draft', 'open', 'paused')
    or sale in (select sale from orders where state = 'reserved' and sale is not null)
  )
  order by sale`;

const itemsOfSales = `
  select m.sale, i.sku_id, m.stocked from sale_items m join inventory i on i.sku = m.sku
  where m.sale in (?) order by i.sku_id`;

/** A sale with the integer key that its row has. */
export type KeyedSale = { readonly key: number; readonly sale: Sale };

export class Sales {
  readonly #items = new Map<number, SaleItems>();

  async byId(reader: SqlReader, ids: readonly SaleId[]): Promise<readonly KeyedSale[]> {
    const found: KeyedSale[] = [];
    for (const part of portions(ids, idsMax)) {
      found.push(...(await this.#parse(reader, await reader.all(salesById, [part]))));
    }
    return found;
  }

  async inStates(reader: SqlReader, states: readonly SaleState[]): Promise<readonly Sale[]> {
    if (states.length === 0) return [];
    return salesOnly(await this.#parse(reader, await reader.all(salesByState, [states])));
  }

  async newest(reader: SqlReader, page: Page): Promise<readonly Sale[]> {
    const rows =
      page.after === null
        ? await reader.all(newestSales, [page.limit])
        : await reader.all(salesBefore, [page.after, page.limit]);
    return salesOnly(await this.#parse(reader, rows));
  }

  /** Sales of a lane that are not closed, or still have a hold. */
  async remembered(reader: SqlReader, lane: number): Promise<readonly KeyedSale[]> {
    return this.#parse(reader, await reader.all(salesRemembered, [lane]));
  }

  async #parse(reader: SqlReader, rows: readonly Row[]): Promise<readonly KeyedSale[]> {
    const items = await this.#itemsOf(
      reader,
      rows.map((row) => integer(row, "sale")),
    );
    return rows.map((row) => {
      const key = integer(row, "sale");
      return { key, sale: saleOf(row, items.get(key) ?? { skus: [], stocked: new Map() }) };
    });
  }

  async #itemsOf(
    reader: SqlReader,
    keys: readonly number[],
  ): Promise<ReadonlyMap<number, SaleItems>> {
    const found = new Map<number, { skus: SkuId[]; stocked: Map<SkuId, number> }>();
    const missing = keys.filter((key) => !this.#items.has(key));
    for (const key of missing) found.set(key, { skus: [], stocked: new Map() });
    for (const part of portions(missing, idsMax)) {
      for (const row of await reader.all(itemsOfSales, [part])) {
        const sku = skuId(row["sku_id"]);
        const items = found.get(integer(row, "sale"));
        items?.skus.push(sku);
        items?.stocked.set(sku, integer(row, "stocked"));
      }
    }
    const all = new Map<number, SaleItems>(found);
    for (const key of keys) {
      const kept = this.#items.get(key);
      if (kept !== undefined) all.set(key, kept);
    }
    this.#keep(found);
    return all;
  }

  #keep(found: ReadonlyMap<number, SaleItems>): void {
    if (this.#items.size + found.size > itemsKeptMax) this.#items.clear();
    if (found.size > itemsKeptMax) return;
    for (const [key, items] of found) this.#items.set(key, items);
  }
}

export async function endedSales(
  reader: SqlReader,
  among: readonly SaleId[],
): Promise<readonly SaleId[]> {
  const ended: SaleId[] = [];
  for (const part of portions(among, idsMax)) {
    for (const row of await reader.all(salesEnded, [part])) ended.push(saleId(row["sale_id"]));
  }
  return ended;
}

function salesOnly(keyed: readonly KeyedSale[]): readonly Sale[] {
  return keyed.map(({ sale }) => sale);
}
