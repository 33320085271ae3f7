import type { SkuRow } from "../domain/command.ts";
import type { Sale } from "../domain/sale.ts";
import { totalOf } from "../domain/stock.ts";
import type { LoadedBook } from "./book-load.ts";
import { integer } from "./rows.ts";
import { keyAt, known, type Values, write } from "./rows-write.ts";
import type { SqlSession } from "./sql-database.ts";

const insertLane = "insert into lanes (lane, epoch, met, incarnation) values (?, ?, ?, ?)";
const lanesKnown = "select lane from lanes where lane in (?)";
const updateLane = "update lanes set epoch = ?, met = ?, incarnation = ? where lane = ?";

const insertSale = `
  insert into sales (
    sale_id, lane, title, fingerprint, state, revision, opens_at_ms, closes_at_ms, hold_ms,
    limit_per_buyer, created_at_ms, closed_at_ms
  ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** No lock stands before it: of two who saw one revision, one is first. */
const updateSale = `
  update sales set state = ?, revision = ?, opens_at_ms = ?, closes_at_ms = ?, closed_at_ms = ?
  where sale = ? and revision = ?`;
const insertItem = "insert into sale_items (sale, sku, stocked) values (?, ?, ?)";

const insertSku = `
  insert into inventory (
    lane, sale, status, status_reason, status_revision, total, available, reserved, sold, frozen,
    lost, version, hash, sku_id
  ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** The version that was read is asked for again: two writers would not both find it. */
const updateSku = `
  update inventory set
    lane = ?, sale = ?, status = ?, status_reason = ?, status_revision = ?, total = ?,
    available = ?, reserved = ?, sold = ?, frozen = ?, lost = ?, version = ?, hash = ?
  where sku = ? and version = ?`;

/** Lanes, sales and SKUs: what orders and entries point at. */
export async function writeStock(session: SqlSession, loaded: LoadedBook): Promise<void> {
  await writeLanes(session, loaded);
  await writeSales(session, loaded);
  await writeSkus(session, loaded);
  await writeItems(session, loaded);
}

async function writeLanes(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { book } = loaded;
  const rows = [...book.changes.lanes].map((key) => {
    const { lane, epoch, met, incarnation } = book.lane(key);
    return [epoch, met, incarnation, lane];
  });
  await write(session, updateLane, rows);
  const added = new Set([...book.changes.newSales].map((id) => known(book.sales, id).lane));
  for (const sku of book.changes.newSkus) added.add(known(book.skus, sku).lane);
  if (added.size > 0) await addLanes(session, [...added]);
}

/** A lane begins to exist with the first SKU, or the first epoch, that is put into it. */
async function addLanes(session: SqlSession, lanes: readonly number[]): Promise<void> {
  const found = await session.all(lanesKnown, [lanes]);
  const known = new Set(found.map((row) => integer(row, "lane")));
  const missing = lanes.filter((lane) => !known.has(lane));
  await write(
    session,
    insertLane,
    missing.map((lane) => [lane, 0, 0, null]),
  );
}

async function writeSales(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { changes } = loaded.book;
  const sales = [...changes.sales].map((id) => known(loaded.book.sales, id));
  const added = sales.filter(({ saleId }) => changes.newSales.has(saleId));
  const keys = added.length === 0 ? [] : await session.insert(insertSale, added.map(saleValues));
  for (const [index, { saleId }] of added.entries()) {
    loaded.saleKeys.set(saleId, keyAt(keys, index));
  }
  const changed = sales.filter(({ saleId }) => !changes.newSales.has(saleId));
  const rows = changed.map(({ state, revision, opensAt, closesAt, closedAt, saleId }) => {
    const key = known(loaded.saleKeys, saleId);
    const seen = known(loaded.before.sales, saleId).revision;
    return [state, revision, opensAt, closesAt, closedAt, key, seen];
  });
  await write(session, updateSale, rows);
}

function saleValues(sale: Sale): Values {
  return [
    sale.saleId,
    sale.lane,
    sale.title,
    sale.fingerprint,
    sale.state,
    sale.revision,
    sale.opensAt,
    sale.closesAt,
    sale.holdMs,
    sale.limitPerBuyer,
    sale.createdAt,
    sale.closedAt,
  ];
}

async function writeSkus(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { book, skuKeys, before } = loaded;
  const rows = [...book.changes.skus].map((sku) => known(book.skus, sku));
  const added = rows.filter(({ sku }) => book.changes.newSkus.has(sku));
  const values = added.map((row) => [...skuValues(row, loaded), row.sku]);
  const keys = added.length === 0 ? [] : await session.insert(insertSku, values);
  for (const [index, { sku }] of added.entries()) skuKeys.set(sku, keyAt(keys, index));
  const changed = rows.filter(({ sku }) => !book.changes.newSkus.has(sku));
  await write(
    session,
    updateSku,
    changed.map((row) => [
      ...skuValues(row, loaded),
      known(skuKeys, row.sku),
      known(before.skus, row.sku).version,
    ]),
  );
}

function skuValues(row: SkuRow, { saleKeys }: LoadedBook): Values {
  const { available, reserved, sold, frozen, lost } = row.balances;
  return [
    row.lane,
    row.saleId === null ? null : known(saleKeys, row.saleId),
    row.status,
    row.statusReason,
    row.statusRevision,
    totalOf(row.balances),
    available,
    reserved,
    sold,
    frozen,
    lost,
    row.version,
    row.hash,
  ];
}

async function writeItems(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const rows: Values[] = [];
  for (const id of loaded.book.changes.newSales) {
    for (const [sku, stocked] of known(loaded.book.sales, id).stocked) {
      rows.push([known(loaded.saleKeys, id), known(loaded.skuKeys, sku), stocked]);
    }
  }
  await write(session, insertItem, rows);
}
