import type { OperationRecord } from "../domain/command.ts";
import type { LedgerEntry } from "../domain/entry.ts";
import { invariant } from "../domain/invariant.ts";
import type { Order, OrderLine } from "../domain/reservation.ts";
import { moves } from "../domain/stock.ts";
import { auditValues, insertAudit } from "./audit.ts";
import type { LoadedBook } from "./book-load.ts";
import { insertRequest, requestValues } from "./requests.ts";
import { keyAt, known, type Values, write } from "./rows-write.ts";
import type { SqlSession } from "./sql-database.ts";
import { writeStock } from "./stock-write.ts";

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

/**
 * Writes what the decisions changed: each row once, whatever the number of decisions. New orders
 * and entries may be begun while others are being decided; of an order that is decided about once
 * more after that, the change is written at the end.
 */
export class BookWriter {
  readonly #session: SqlSession;
  readonly #loaded: LoadedBook;
  /** New orders as they were written. */
  readonly #orders = new Map<string, Order>();
  #entries = 0;
  #keyed: Promise<unknown> = Promise.resolve();
  #begun: Promise<void>[] = [];

  constructor(session: SqlSession, loaded: LoadedBook) {
    this.#session = session;
    this.#loaded = loaded;
  }

  /** What is new by now, but for what waits for rows that are written at the end. */
  begin(): void {
    const { newSkus, newSales } = this.#loaded.book.changes;
    if (newSkus.size + newSales.size > 0) return;
    const begun = this.#writeNew();
    begun.catch(() => undefined);
    this.#begun.push(begun);
  }

  async finish(): Promise<void> {
    const [session, loaded] = [this.#session, this.#loaded];
    await writeStock(session, loaded);
    await Promise.all([...this.#begun, this.#writeNew()]);
    await writeChanged(session, loaded, this.#orders);
    await writePayments(session, loaded);
    const { operations, audits, requests } = loaded.book.changes;
    await write(session, insertOperation, operations.map(operationValues));
    await write(session, insertAudit, audits.map(auditValues));
    await write(session, insertRequest, requests.map(requestValues));
  }

  async #writeNew(): Promise<void> {
    const { book } = this.#loaded;
    const ids = [...book.changes.newOrders].slice(this.#orders.size);
    const orders = ids.map((id) => known(book.orders, id));
    for (const order of orders) this.#orders.set(order.id, order);
    const entries = book.changes.entries.slice(this.#entries);
    this.#entries += entries.length;
    // Entries may be of orders that were begun before.
    this.#keyed = Promise.all([this.#keyed, writeOrders(this.#session, this.#loaded, orders)]);
    await this.#keyed;
    const lines = writeLines(this.#session, this.#loaded, orders);
    await Promise.all([lines, writeEntries(this.#session, this.#loaded, entries)]);
  }
}

async function writeOrders(
  session: SqlSession,
  { orderKeys, saleKeys }: LoadedBook,
  orders: readonly Order[],
): Promise<void> {
  if (orders.length === 0) return;
  const values = orders.map((order) => newOrderValues(order, saleKeys));
  const keys = await session.insert(insertOrder, values);
  for (const [index, { id }] of orders.entries()) orderKeys.set(id, keyAt(keys, index));
}

function writeLines(
  session: SqlSession,
  { orderKeys, skuKeys }: LoadedBook,
  orders: readonly Order[],
): Promise<void> {
  const values = orders.flatMap(({ id, lines }) => {
    const key = known(orderKeys, id);
    return lines.map((line) => newLineValues(key, known(skuKeys, line.sku), line));
  });
  return write(session, insertLine, values);
}

/** Orders that are not any more as they were read, or written. */
async function writeChanged(
  session: SqlSession,
  { book, orderKeys, skuKeys, before }: LoadedBook,
  written: ReadonlyMap<string, Order>,
): Promise<void> {
  const updates: Values[] = [];
  const lineUpdates: Values[] = [];
  for (const id of book.changes.orders) {
    const old = before.orders.get(id) ?? known(written, id);
    const order = known(book.orders, id);
    if (order === old) continue;
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

function writeEntries(
  session: SqlSession,
  { skuKeys, orderKeys }: LoadedBook,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const rows = entries.map((entry) => {
    const order = entry.reservationId === null ? 0 : known(orderKeys, entry.reservationId);
    return entryValues(entry, known(skuKeys, entry.sku), order);
  });
  return write(session, insertEntry, rows);
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

function operationValues(record: OperationRecord): Values {
  const { scope, operationId, operation, fingerprint, code, detail, versions } = record;
  return [
    ...[scope, operationId, operation, fingerprint, code, detail],
    JSON.stringify(Object.fromEntries(versions)),
    JSON.stringify(record.content),
    ...[record.at, record.actor, record.reason],
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
