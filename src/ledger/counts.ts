import { isReservationState, type ReservationState } from "../domain/reservation.ts";
import type { LedgerCounts } from "./ledger.ts";
import { integer, integerOrNull, member } from "./rows.ts";
import type { SqlReader } from "./sql-database.ts";

/** Orders counted by one statement, so that others get their turn. */
const scanMax = 50_000;

const stockCounts = `
  select count(*) as skus, coalesce(sum(version), 0) as entries,
    coalesce(sum(version - published_version), 0) as unpublished
  from inventory`;

const oldestUnpublished = `
  select min(l.created_at_ms) as oldest
  from inventory i
  join inventory_log l on l.sku = i.sku and l.version = i.published_version + 1
  where i.published_version < i.version`;

const openLetters = "select count(*) as letters from dead_letters where state = 'open'";

const lastOrder = "select coalesce(max(order_no), 0) as order_no from orders";

const ordersByState = `
  select state, count(*) as orders from orders where order_no > ? and order_no <= ?
  group by state`;

export async function ledgerCounts(reader: SqlReader): Promise<LedgerCounts> {
  const [stock] = await reader.all(stockCounts, []);
  const [untold] = await reader.all(oldestUnpublished, []);
  const [letters] = await reader.all(openLetters, []);
  const [last] = await reader.all(lastOrder, []);
  const orders: Partial<Record<ReservationState, number>> = {};
  const top = last === undefined ? 0 : integer(last, "order_no");
  for (let from = 0; from < top; from += scanMax) {
    for (const row of await reader.all(ordersByState, [from, Math.min(from + scanMax, top)])) {
      const state = member(row, "state", isReservationState);
      orders[state] = (orders[state] ?? 0) + integer(row, "orders");
    }
  }
  return {
    skus: stock === undefined ? 0 : integer(stock, "skus"),
    entries: stock === undefined ? 0 : integer(stock, "entries"),
    orders,
    deadLetters: letters === undefined ? 0 : integer(letters, "letters"),
    unpublished: stock === undefined ? 0 : integer(stock, "unpublished"),
    unpublishedSince: untold === undefined ? null : integerOrNull(untold, "oldest"),
  };
}
