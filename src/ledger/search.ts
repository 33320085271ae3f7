import { isId } from "../domain/values.ts";
import type { SearchHit } from "./ledger.ts";
import { integer, text } from "./rows.ts";
import type { Row, SqlReader } from "./sql-database.ts";

/** Orders looked through by one statement where no index leads to a column. */
const scanMax = 20_000;

const byReservation = `
  select order_id as id, state, decided_at_ms as at_ms from orders where order_id = ?`;

/** `cross join` keeps its order in SQLite: one look into the buyers' index for each sale. */
const byBuyer = `
  select o.order_id as id, o.state, o.decided_at_ms as at_ms
  from sales s cross join orders o on o.sale = s.sale and o.buyer_id = ?
  order by o.order_no desc limit ?`;

/** An index on the caller's keys would cost every order; a person who looks can wait. */
const byIdempotencyKey = `
  select order_id as id, state, decided_at_ms as at_ms from orders
  where order_no > ? and order_no <= ? and idempotency_key = ?
  order by order_no desc limit ?`;

const lastOrder = "select coalesce(max(order_no), 0) as order_no from orders";

const byPayment = `
  select o.order_id as id, p.state, p.recorded_at_ms as at_ms
  from payments p join orders o on o.order_no = p.order_no
  where p.payment_id = ? limit ?`;

const bySku = `
  select i.sku_id as id, i.status as state, coalesce(l.created_at_ms, 0) as at_ms
  from inventory i left join inventory_log l on l.sku = i.sku and l.version = i.version
  where i.sku_id = ?`;

const bySale = "select sale_id as id, state, created_at_ms as at_ms from sales where sale_id = ?";

const byOperation = `
  select scope as id, operation as state, at_ms from operations where operation_id = ? limit ?`;

const byMessage = `
  select cast(id as char) as id, state, created_at_ms as at_ms from dead_letters
  where item_id = ? order by dead_letters.id desc limit ?`;

/** Everything that carries exactly this id, whatever kind of id it is. */
export async function search(
  reader: SqlReader,
  words: string,
  limit: number,
): Promise<readonly SearchHit[]> {
  const id = words.trim();
  if (!isId(id)) return [];
  const finders: readonly [SearchHit["type"], SearchHit["matched"], readonly Row[]][] = [
    ["reservation", "reservationId", await reader.all(byReservation, [id])],
    ["sku", "sku", await reader.all(bySku, [id])],
    ["sale", "saleId", await reader.all(bySale, [id])],
    ["reservation", "buyerId", await reader.all(byBuyer, [id, limit])],
    ["reservation", "paymentId", await reader.all(byPayment, [id, limit])],
    ["operation", "operationId", await reader.all(byOperation, [id, limit])],
    ["dead-letter", "messageId", await reader.all(byMessage, [id, limit])],
    ["reservation", "idempotencyKey", await ordersByKey(reader, id, limit)],
  ];
  const hits = finders.flatMap(([type, matched, rows]) =>
    rows.map((row) => ({
      type,
      id: text(row, "id"),
      matched,
      state: text(row, "state"),
      at: integer(row, "at_ms"),
    })),
  );
  return hits.slice(0, limit);
}

async function ordersByKey(reader: SqlReader, id: string, limit: number): Promise<readonly Row[]> {
  const [last] = await reader.all(lastOrder, []);
  const found: Row[] = [];
  let top = last === undefined ? 0 : integer(last, "order_no");
  while (top > 0 && found.length < limit) {
    const rows = await reader.all(byIdempotencyKey, [top - scanMax, top, id, limit]);
    found.push(...rows);
    top -= scanMax;
  }
  return found;
}
