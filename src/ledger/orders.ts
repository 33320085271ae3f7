import { scopeOfOrder } from "../domain/command.ts";
import type { LedgerEntry } from "../domain/entry.ts";
import type { Order, OrderLine, Payment } from "../domain/reservation.ts";
import { type Instant, type ReservationId, reservationId } from "../domain/values.ts";
import { entryColumns } from "./entries.ts";
import type { DueCursor, DueHold, OrderView } from "./ledger.ts";
import { operationsOf } from "./operations.ts";
import { entryOf, orderLineOf, orderOf, paymentOf } from "./row-parsers.ts";
import { integer } from "./rows.ts";
import { portions, type Row, type SqlReader } from "./sql-database.ts";

/** How many ids one statement asks for. */
export const idsMax = 512;

export const orderColumns = `
  o.order_no, o.order_id, s.sale_id, o.buyer_id, o.idempotency_key, o.state, o.code, o.reason,
  o.fingerprint, o.admitted_at_ms, o.sent_at_ms, o.attempt, o.decided_at_ms, o.expires_at_ms,
  o.ended_at_ms, o.payment_id, o.revived, o.request_id, o.trace_id`;

const ordersById = `
  select ${orderColumns} from orders o left join sales s on s.sale = o.sale
  where o.order_id in (?)`;

const linesOfOrders = `
  select l.order_no, i.sku_id, l.quantity, l.restocked, l.written_off, l.decided_version
  from order_lines l left join inventory i on i.sku = l.sku
  where l.order_no in (?)`;

const paymentsOfOrders = `
  select order_no, payment_id, state, code, paid_at_ms, recorded_at_ms, refund_id
  from payments where order_no in (?) order by recorded_at_ms, payment_id`;

const entriesOfOrder = `
  select ${entryColumns}
  from orders o
  join order_lines n on n.order_no = o.order_no
  join inventory i on i.sku = n.sku
  join inventory_log l on l.sku = n.sku and l.order_no = o.order_no
  where o.order_id = ?
  order by l.created_at_ms, i.sku_id, l.version`;

const dueHoldsFirst = `
  select order_id, expires_at_ms from orders
  where state = 'reserved' and expires_at_ms <= ?
  order by expires_at_ms, order_no limit ?`;

const dueHoldsAfter = `
  select order_id, expires_at_ms from orders
  where state = 'reserved' and expires_at_ms between ? and ?
    and (expires_at_ms, order_no) > (?, (select order_no from orders where order_id = ?))
  order by expires_at_ms, order_no limit ?`;

/** An order with the integer key that its row has. */
export type KeyedOrder = {
  readonly key: number;
  readonly order: Order;
  /** Lines whose SKU has no row any more: damage, and no reason to settle the others. */
  readonly linesLost: number;
};

export async function ordersOf(
  reader: SqlReader,
  ids: readonly string[],
): Promise<readonly KeyedOrder[]> {
  const found: KeyedOrder[] = [];
  for (const part of portions(ids, idsMax)) {
    found.push(...(await withLines(reader, await reader.all(ordersById, [part]))));
  }
  return found;
}

/** Rows of `orderColumns` with their lines, in SKU order. */
export async function withLines(
  reader: SqlReader,
  rows: readonly Row[],
): Promise<readonly KeyedOrder[]> {
  const keys = rows.map((row) => integer(row, "order_no"));
  const lines = new Map<number, OrderLine[]>();
  const lost = new Map<number, number>();
  for (const key of keys) lines.set(key, []);
  for (const part of portions(keys, idsMax)) {
    for (const row of await reader.all(linesOfOrders, [part])) {
      const key = integer(row, "order_no");
      if (row["sku_id"] === null) lost.set(key, (lost.get(key) ?? 0) + 1);
      else lines.get(key)?.push(orderLineOf(row));
    }
  }
  return rows.map((row) => {
    const key = integer(row, "order_no");
    const own = lines.get(key) ?? [];
    own.sort((a, b) => (a.sku < b.sku ? -1 : 1));
    return { key, order: orderOf(row, own), linesLost: lost.get(key) ?? 0 };
  });
}

export async function paymentsByOrder(
  reader: SqlReader,
  keys: readonly number[],
): Promise<ReadonlyMap<number, readonly Payment[]>> {
  const payments = new Map<number, Payment[]>();
  for (const part of portions(keys, idsMax)) {
    for (const row of await reader.all(paymentsOfOrders, [part])) {
      const key = integer(row, "order_no");
      payments.set(key, [...(payments.get(key) ?? []), paymentOf(row)]);
    }
  }
  return payments;
}

/** In the order of the ids; null for one that has no order. */
export async function orderViews(
  reader: SqlReader,
  ids: readonly ReservationId[],
  readAt: Instant,
): Promise<readonly (OrderView | null)[]> {
  const orders = await ordersOf(reader, [...new Set(ids)]);
  const payments = await paymentsByOrder(
    reader,
    orders.map(({ key }) => key),
  );
  const scopes = orders.map(({ order }) => scopeOfOrder(order.id));
  const operations = await operationsOf(reader, scopes);
  const views = new Map<string, OrderView>();
  for (const { key, order } of orders) {
    views.set(order.id, {
      order,
      payments: payments.get(key) ?? [],
      operations: operations.get(scopeOfOrder(order.id)) ?? [],
      readAt,
    });
  }
  return ids.map((id) => views.get(id) ?? null);
}

export async function orderEntries(
  reader: SqlReader,
  id: ReservationId,
): Promise<readonly LedgerEntry[]> {
  return (await reader.all(entriesOfOrder, [id])).map(entryOf);
}

export async function dueHolds(
  reader: SqlReader,
  page: { readonly now: number; readonly cursor: DueCursor | null; readonly limit: number },
): Promise<readonly DueHold[]> {
  const { now, cursor, limit } = page;
  const rows =
    cursor === null
      ? await reader.all(dueHoldsFirst, [now, limit])
      : await reader.all(dueHoldsAfter, [
          cursor.expiresAt,
          now,
          cursor.expiresAt,
          cursor.id,
          limit,
        ]);
  return rows.map((row) => ({
    expiresAt: integer(row, "expires_at_ms"),
    id: reservationId(row["order_id"]),
  }));
}
