import type { SkuRow } from "../domain/command.ts";
import type { LedgerEntry } from "../domain/entry.ts";
import { invariant } from "../domain/invariant.ts";
import type { Order, OrderLine } from "../domain/reservation.ts";
import type { Sale } from "../domain/sale.ts";
import { moves, totalOf } from "../domain/stock.ts";
import { auditValues, insertAudit } from "./audit.ts";
import type { LoadedBook } from "./book-load.ts";
import { insertRequest, requestValues } from "./requests.ts";
import { integer } from "./rows.ts";
import type { SqlSession, SqlValue } from "./sql-database.ts";

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

const insertOrder = `
  insert into orders (
    order_id, sale, buyer_id, idempotency_key, fingerprint, admitted_at_ms, sent_at_ms, attempt,
    decided_at_ms, state, code, reason, expires_at_ms, ended_at_ms, payment_id, revived,
    request_id, trace_id
  ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const updateOrder = `
  update orders set
    state = ?, code = ?, reason = ?, expires_at_ms = ?, ended_at_ms = ?, payment_id = ?, revived = ?
  where order_no = ?`;

const insertLine = `
  insert into order_lines (order_no, sku, quantity, restocked, written_off, decided_version)
  values (?, ?, ?, ?, ?, ?)`;
const updateLine = `
  update order_lines set restocked = ?, written_off = ? where order_no = ? and sku = ?`;

const insertEntry = `
  insert into inventory_log (
    sku, version, order_no, operation_type, operation_id, quantity, from_bucket, to_bucket,
    available, reserved, sold, frozen, lost, actor, reason, previous_hash, hash, created_at_ms
  ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?), ?)`;

const insertPayment = `
  insert into payments (state, code, refund_id, paid_at_ms, recorded_at_ms, order_no, payment_id)
  values (?, ?, ?, ?, ?, ?, ?)`;
const updatePayment = `
  update payments set state = ?, code = ?, refund_id = ? where order_no = ? and payment_id = ?`;

const insertOperation = `
  insert into operations (
    scope, operation_id, operation, fingerprint, code, detail, versions, content, at_ms, actor,
    reason
  ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

type Values = readonly SqlValue[];

/** Writes what the decisions changed: each row once, whatever the number of decisions. */
export async function writeBook(session: SqlSession, loaded: LoadedBook): Promise<void> {
  await writeLanes(session, loaded);
  await writeSales(session, loaded);
  await writeSkus(session, loaded);
  await writeItems(session, loaded);
  await writeOrders(session, loaded);
  await writeEntries(session, loaded);
  await writePayments(session, loaded);
  const { operations, audits, requests } = loaded.book.changes;
  await write(
    session,
    insertOperation,
    operations.map((record) => [
      record.scope,
      record.operationId,
      record.operation,
      record.fingerprint,
      record.code,
      record.detail,
      JSON.stringify(Object.fromEntries(record.versions)),
      JSON.stringify(record.content),
      record.at,
      record.actor,
      record.reason,
    ]),
  );
  await write(session, insertAudit, audits.map(auditValues));
  await write(session, insertRequest, requests.map(requestValues));
}

async function write(session: SqlSession, sql: string, rows: readonly Values[]): Promise<void> {
  if (rows.length > 0) await session.many(sql, rows);
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

async function writeOrders(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { book, orderKeys, saleKeys, skuKeys, before } = loaded;
  const added = [...book.changes.newOrders].map((id) => known(book.orders, id));
  const inserts = added.map((order) => newOrderValues(order, saleKeys));
  const keys = added.length === 0 ? [] : await session.insert(insertOrder, inserts);
  const newLines: Values[] = [];
  for (const [index, { id, lines }] of added.entries()) {
    const key = keyAt(keys, index);
    orderKeys.set(id, key);
    for (const line of lines) newLines.push(newLineValues(key, known(skuKeys, line.sku), line));
  }
  await write(session, insertLine, newLines);

  const updates: Values[] = [];
  const lineUpdates: Values[] = [];
  for (const id of book.changes.orders) {
    const old = before.orders.get(id);
    if (old === undefined) continue;
    const order = known(book.orders, id);
    const key = known(orderKeys, id);
    updates.push([...movingValues(order), key]);
    for (const { sku, restocked, writtenOff } of changedLines(old, order)) {
      lineUpdates.push([restocked, writtenOff, key, known(skuKeys, sku)]);
    }
  }
  await write(session, updateOrder, updates);
  await write(session, updateLine, lineUpdates);
}

function newOrderValues(order: Order, saleKeys: LoadedBook["saleKeys"]): Values {
  return [
    order.id,
    order.saleId === null ? null : known(saleKeys, order.saleId),
    order.buyerId,
    order.idempotencyKey,
    order.fingerprint,
    order.admittedAt,
    order.sentAt,
    order.attempt,
    order.decidedAt,
    order.state,
    order.code,
    order.reason,
    order.expiresAt,
    order.endedAt,
    order.paymentId,
    order.revived ? 1 : 0,
    order.origin?.requestId ?? null,
    order.origin?.traceId ?? null,
  ];
}

/** The columns of an order that change after its decision. */
function movingValues(order: Order): Values {
  const { state, code, reason, expiresAt, endedAt, paymentId, revived } = order;
  return [state, code, reason, expiresAt, endedAt, paymentId, revived ? 1 : 0];
}

function newLineValues(orderKey: number, skuKey: number, line: OrderLine): Values {
  const { quantity, restocked, writtenOff, decidedVersion } = line;
  return [orderKey, skuKey, quantity, restocked, writtenOff, decidedVersion];
}

function changedLines(old: Order, order: Order): readonly OrderLine[] {
  if (old.lines === order.lines) return [];
  const lines = new Map(old.lines.map((line) => [line.sku, line]));
  invariant(lines.size === order.lines.length, `order ${order.id}: its lines are fixed`);
  return order.lines.filter((line) => {
    const { restocked, writtenOff } = known(lines, line.sku);
    return restocked !== line.restocked || writtenOff !== line.writtenOff;
  });
}

async function writeEntries(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { skuKeys, orderKeys } = loaded;
  const rows = loaded.book.changes.entries.map((entry) => {
    const order = entry.reservationId === null ? 0 : known(orderKeys, entry.reservationId);
    return entryValues(entry, known(skuKeys, entry.sku), order);
  });
  await write(session, insertEntry, rows);
}

function entryValues(entry: LedgerEntry, skuKey: number, orderKey: number): Values {
  const { from, to } = moves[entry.operation];
  const { available, reserved, sold, frozen, lost } = entry.after;
  return [
    skuKey,
    entry.version,
    orderKey,
    entry.operation,
    entry.operationId,
    entry.quantity,
    from,
    to,
    available,
    reserved,
    sold,
    frozen,
    lost,
    entry.actor,
    entry.reason,
    entry.previousHash,
    entry.hash,
    entry.at,
  ];
}

async function writePayments(session: SqlSession, loaded: LoadedBook): Promise<void> {
  const { book, before, orderKeys } = loaded;
  const inserts: Values[] = [];
  const updates: Values[] = [];
  for (const [id, changed] of book.changes.payments) {
    const key = known(orderKeys, id);
    const old = new Set((before.payments.get(id) ?? []).map(({ paymentId }) => paymentId));
    for (const payment of book.paymentsOf(id)) {
      if (!changed.has(payment.paymentId)) continue;
      const { paymentId, state, code, refundId, paidAt, recordedAt } = payment;
      if (old.has(paymentId)) updates.push([state, code, refundId, key, paymentId]);
      else inserts.push([state, code, refundId, paidAt, recordedAt, key, paymentId]);
    }
  }
  await write(session, insertPayment, inserts);
  await write(session, updatePayment, updates);
}

function known<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  invariant(value !== undefined, () => `${String(key)} is not in the working set`);
  return value;
}

function keyAt(keys: readonly number[], index: number): number {
  const key = keys[index];
  invariant(key !== undefined, () => `expected more than ${keys.length} keys`);
  return key;
}
