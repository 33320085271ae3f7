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

/** An index on the caller's words would cost every order; a person who looks can wait. */
const byWords = `
  select order_id as id, state, decided_at_ms as at_ms, idempotency_key, request_id, trace_id
  from orders
  where order_no > ? and order_no <= ? and (idempotency_key = ? or request_id = ? or trace_id = ?)
  order by order_no desc limit ?`;

const lastOrder = "select coalesce(max(order_no), 0) as last from orders";

const byCall = `
  select scope as id, operation as state, at_ms, request_id, trace_id
  from requests
  where request_no > ? and request_no <= ? and (request_id = ? or trace_id = ?)
  order by request_no desc limit ?`;

const lastRequest = "select coalesce(max(request_no), 0) as last from requests";

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
  const orders = await scan(reader, { last: lastOrder, page: byWords, words: [id, id, id], limit });
  const calls = await scan(reader, { last: lastRequest, page: byCall, words: [id, id], limit });
  const finders: readonly [SearchHit["type"], SearchHit["matched"], readonly Row[]][] = [
    ["reservation", "reservationId", await reader.all(byReservation, [id])],
    ["sku", "sku", await reader.all(bySku, [id])],
    ["sale", "saleId", await reader.all(bySale, [id])],
    ["reservation", "buyerId", await reader.all(byBuyer, [id, limit])],
    ["reservation", "paymentId", await reader.all(byPayment, [id, limit])],
    ["operation", "operationId", await reader.all(byOperation, [id, limit])],
    ["dead-letter", "messageId", await reader.all(byMessage, [id, limit])],
    ["reservation", "idempotencyKey", orders.filter((row) => row["idempotency_key"] === id)],
    ["reservation", "requestId", orders.filter((row) => row["request_id"] === id)],
    ["reservation", "traceId", orders.filter((row) => row["trace_id"] === id)],
  ];
  const hits = finders.flatMap(([type, matched, rows]) =>
    rows.map((row) => hitOf(row, { type, id: text(row, "id"), matched })),
  );
  const changed = calls.map((row) => {
    const matched = row["request_id"] === id ? "requestId" : "traceId";
    return hitOf(row, { ...subjectOf(text(row, "id")), matched });
  });
  return [...hits, ...changed].slice(0, limit);
}

function hitOf(row: Row, found: Pick<SearchHit, "type" | "id" | "matched">): SearchHit {
  return { ...found, state: text(row, "state"), at: integer(row, "at_ms") };
}

const subjects = new Map<string, SearchHit["type"]>([
  ["order", "reservation"],
  ["sku", "sku"],
  ["sale", "sale"],
  ["dead-letter", "dead-letter"],
]);

/** A scope as operations name it, `order:7.…`, as that which has a page. */
function subjectOf(scope: string): Pick<SearchHit, "type" | "id"> {
  const colon = scope.indexOf(":");
  const type = subjects.get(scope.slice(0, Math.max(0, colon)));
  return type === undefined
    ? { type: "operation", id: scope }
    : { type, id: scope.slice(colon + 1) };
}

type Scan = {
  /** The last number, as `last`. */
  readonly last: string;
  /** Numbers over the first and up to the second parameter, newest first. */
  readonly page: string;
  readonly words: readonly string[];
  readonly limit: number;
};

async function scan(
  reader: SqlReader,
  { last, page, words, limit }: Scan,
): Promise<readonly Row[]> {
  const [row] = await reader.all(last, []);
  const found: Row[] = [];
  let top = row === undefined ? 0 : integer(row, "last");
  while (top > 0 && found.length < limit) {
    found.push(...(await reader.all(page, [top - scanMax, top, ...words, limit])));
    top -= scanMax;
  }
  return found;
}
