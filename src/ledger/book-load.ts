import { Book, type BookKeys, operationKey, unitsKey } from "../domain/book.ts";
import type { SkuRow } from "../domain/command.ts";
import { genesisHash } from "../domain/entry.ts";
import type { Order, Payment } from "../domain/reservation.ts";
import type { Sale } from "../domain/sale.ts";
import { buckets, noUnits } from "../domain/stock.ts";
import { buyerId, type Instant, type SaleId, type SkuId, saleId, skuId } from "../domain/values.ts";
import { lockTokens } from "./leases.ts";
import { operationsBy } from "./operations.ts";
import { type KeyedOrder, ordersOf, paymentsByOrder } from "./orders.ts";
import { balancesOf, laneRowOf, skuRowOf } from "./row-parsers.ts";
import { integer, text } from "./rows.ts";
import type { Sales } from "./sales.ts";
import { portions, type Row, type SqlDatabase, type SqlSession } from "./sql-database.ts";

const idsMax = 512;

/** The sale's name by a query of its own, which locks nothing. */
const skusToChange = `
  select i.sku, i.sku_id, i.lane, i.status, i.status_reason, i.status_revision, i.available,
    i.reserved, i.sold, i.frozen, i.lost, i.version, i.hash,
    (select s.sale_id from sales s where s.sale = i.sale) as sale_id
  from inventory i`;
const inSkuOrder = " where i.sku_id in (?) order by i.sku_id";

/** Orders without a line have no stock row under whose lock they are changed. */
const ordersToLock = "select order_no from orders where order_no in (?) order by order_no";

const lastEntries = `
  select i.sku, l.version, lower(hex(l.hash)) as hash, l.available, l.reserved, l.sold,
    l.frozen, l.lost
  from inventory i
  join inventory_log l on l.sku = i.sku
    and l.version = (select max(m.version) from inventory_log m where m.sku = i.sku)
  where i.sku in (?)`;

const lanesToChange = "select lane, epoch, met, incarnation from lanes where lane in (?)";

const unitsOfBuyers = `
  with k (sale, buyer_id) as (?)
  select s.sale_id, i.sku_id, o.buyer_id, sum(l.quantity - l.restocked - l.written_off) as units
  from k
  cross join orders o on o.sale = k.sale and o.buyer_id = k.buyer_id
  cross join order_lines l on l.order_no = o.order_no
  cross join inventory i on i.sku = l.sku
  cross join sales s on s.sale = o.sale
  where o.state in ('reserved', 'confirmed')
  group by s.sale_id, i.sku_id, o.buyer_id`;

/** A book with what only an adapter knows: integer keys, rows as they were, damage. */
export type LoadedBook = {
  readonly book: Book;
  readonly skuKeys: Map<SkuId, number>;
  readonly saleKeys: Map<SaleId, number>;
  readonly orderKeys: Map<string, number>;
  readonly before: {
    readonly skus: ReadonlyMap<SkuId, SkuRow>;
    readonly orders: ReadonlyMap<string, Order>;
    readonly payments: ReadonlyMap<string, readonly Payment[]>;
    readonly sales: ReadonlyMap<SaleId, Sale>;
  };
  /** SKUs whose row is not what their last entry left behind. */
  readonly damaged: ReadonlyMap<SkuId, string>;
  /** Orders with a line whose SKU has no row. */
  readonly damagedOrders: ReadonlyMap<string, string>;
};

type Context = {
  /** Asked under the locks, so that times rise with versions. */
  readonly now: () => Promise<Instant>;
  readonly sales: Sales;
  readonly database: Pick<SqlDatabase, "forUpdate" | "bySku">;
};

/**
 * Reads the working set. The rows of the SKUs are locked first, in SKU order, and all else is
 * read under that lock: so an order is read again where reading it told which SKUs to lock. One
 * that has appeared meanwhile is left out, because its SKUs may not be locked: who decides it as
 * if it were new is stopped by its unique key, and begins again.
 */
export async function loadBook(
  session: SqlSession,
  keys: BookKeys,
  context: Context,
): Promise<LoadedBook> {
  const { forUpdate } = context.database;
  let orders = await ordersOf(session, [...keys.orders]);
  const skus = await lockSkus(session, skusToLock(keys, orders), context);
  if (forUpdate !== "" && orders.length > 0) {
    await lockOrders(session, orders, context);
    orders = await ordersOf(
      session,
      orders.map(({ order }) => order.id),
    );
  }
  const tokens = await lockTokens(session, context.database, [...keys.leases]);
  const book = new Book(await context.now());
  for (const [name, token] of tokens) book.tokens.set(name, token);
  const skuKeys = new Map<SkuId, number>();
  for (const row of skus) {
    const sku = skuRowOf(row);
    book.skus.set(sku.sku, sku);
    skuKeys.set(sku.sku, integer(row, "sku"));
  }
  const orderKeys = new Map<string, number>();
  const damagedOrders = new Map<string, string>();
  for (const { key, order, linesLost } of orders) {
    book.orders.set(order.id, order);
    orderKeys.set(order.id, key);
    if (linesLost === 0) continue;
    const reason = `order ${order.id}: the stock row of ${linesLost} line(s) is missing`;
    damagedOrders.set(order.id, reason);
  }
  await loadPayments(session, book, orderKeys);
  for (const part of portions([...keys.lanes], idsMax)) {
    for (const row of await session.all(`${lanesToChange}${forUpdate}`, [part])) {
      const lane = laneRowOf(row);
      book.lanes.set(lane.lane, lane);
    }
  }
  const saleKeys = await loadSales(session, book, { keys, sales: context.sales });
  await loadUnits(session, book, { keys, saleKeys });
  for (const record of await operationsBy(session, keys.operations)) {
    book.operations.set(operationKey(record.scope, record.operationId), record);
  }
  return {
    book,
    skuKeys,
    saleKeys,
    orderKeys,
    before: {
      skus: new Map(book.skus),
      orders: new Map(book.orders),
      payments: new Map(book.payments),
      sales: new Map(book.sales),
    },
    damaged: await damagedSkus(session, book, skuKeys),
    damagedOrders,
  };
}

function skusToLock(keys: BookKeys, orders: readonly KeyedOrder[]): readonly SkuId[] {
  const skus = new Set(keys.skus);
  for (const { order } of orders) for (const { sku } of order.lines) skus.add(sku);
  return [...skus].sort();
}

async function lockSkus(
  session: SqlSession,
  skuIds: readonly SkuId[],
  { database: { bySku, forUpdate } }: Context,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const part of portions(skuIds, idsMax)) {
    const statement = `${skusToChange}${bySku ?? ""}${inSkuOrder}${forUpdate}`;
    rows.push(...(await session.all(statement, [part])));
  }
  return rows;
}

async function lockOrders(
  session: SqlSession,
  orders: readonly KeyedOrder[],
  { database: { forUpdate } }: Context,
): Promise<void> {
  const lineless = orders.filter(({ order }) => order.lines.length === 0);
  const keys = lineless.map(({ key }) => key);
  for (const part of portions(keys, idsMax)) {
    await session.all(`${ordersToLock}${forUpdate}`, [part]);
  }
}

async function loadPayments(
  session: SqlSession,
  book: Book,
  orderKeys: ReadonlyMap<string, number>,
): Promise<void> {
  const payments = await paymentsByOrder(session, [...orderKeys.values()]);
  for (const [id, key] of orderKeys) {
    const own = payments.get(key);
    if (own !== undefined) book.payments.set(id, own);
  }
}

async function loadSales(
  session: SqlSession,
  book: Book,
  { keys, sales }: { readonly keys: BookKeys; readonly sales: Sales },
): Promise<Map<SaleId, number>> {
  const ids = new Set(keys.sales);
  for (const { saleId: id } of book.skus.values()) if (id !== null) ids.add(id);
  for (const { saleId: id } of book.orders.values()) if (id !== null) ids.add(id);
  const saleKeys = new Map<SaleId, number>();
  for (const { key, sale } of await sales.byId(session, [...ids])) {
    book.sales.set(sale.saleId, sale);
    saleKeys.set(sale.saleId, key);
  }
  return saleKeys;
}

/** Units that the buyers hold or own, where a sale has a limit. */
async function loadUnits(
  session: SqlSession,
  book: Book,
  found: { readonly keys: BookKeys; readonly saleKeys: ReadonlyMap<SaleId, number> },
): Promise<void> {
  const pairs = new Map<string, readonly [number, string]>();
  for (const { saleId: id, buyerId: buyer } of found.keys.buyers) {
    const key = found.saleKeys.get(id);
    if (key === undefined || book.sales.get(id)?.limitPerBuyer === null) continue;
    pairs.set(`${key} ${buyer}`, [key, buyer]);
  }
  for (const part of portions([...pairs.values()], idsMax)) {
    for (const row of await session.all(unitsOfBuyers, [part])) {
      const key = unitsKey(saleId(row["sale_id"]), skuId(row["sku_id"]), buyerId(row["buyer_id"]));
      book.units.set(key, integer(row, "units"));
    }
  }
}

/** Before an entry is chained to the last one, the row must be what that one left behind. */
async function damagedSkus(
  session: SqlSession,
  book: Book,
  keys: ReadonlyMap<SkuId, number>,
): Promise<ReadonlyMap<SkuId, string>> {
  const last = new Map<number, Row>();
  for (const part of portions([...keys.values()], idsMax)) {
    for (const row of await session.all(lastEntries, [part])) last.set(integer(row, "sku"), row);
  }
  const damaged = new Map<SkuId, string>();
  for (const [sku, key] of keys) {
    const row = book.skus.get(sku);
    const reason = row === undefined ? null : unlikeLastEntry(row, last.get(key));
    if (reason !== null) damaged.set(sku, reason);
  }
  return damaged;
}

/** Says how a SKU's row differs from its last entry; null when they agree. */
function unlikeLastEntry(row: SkuRow, last: Row | undefined): string | null {
  const version = last === undefined ? 0 : integer(last, "version");
  if (version !== row.version) return `row at version ${row.version}, last entry is ${version}`;
  const hash = last === undefined ? genesisHash : text(last, "hash");
  if (hash !== row.hash) return `row at version ${version} has another hash than its entry`;
  const balances = last === undefined ? noUnits : balancesOf(last);
  const bucket = buckets.find((name) => balances[name] !== row.balances[name]);
  if (bucket === undefined) return null;
  return `${bucket} is ${row.balances[bucket]}, after entry ${version} it was ${balances[bucket]}`;
}
