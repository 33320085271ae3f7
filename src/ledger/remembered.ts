import { isDecidedState, type Order } from "../domain/reservation.ts";
import { buyerId, reservationId, type SkuId, skuId } from "../domain/values.ts";
import { integer, member, parsed, text, textOrNull } from "./rows.ts";
import type { KeyedSale } from "./sales.ts";
import type { Row, SqlReader } from "./sql-database.ts";

const ordersMax = 4_096;

/**
 * A page in the order of the index, whose begin is said twice: MySQL finds it by one column alone.
 * Only what hot stock keeps, because a rebuild reads it of every order that is remembered.
 */
const ordersOfSale = `
  select k.order_no, k.buyer_id, k.order_id, k.state, k.fingerprint, i.sku_id,
    l.quantity - l.restocked - l.written_off as units
  from (
    select o.order_no, o.buyer_id, o.order_id, o.state, o.fingerprint
    from orders o join sales s on s.sale = o.sale
    where o.sale = ? and o.buyer_id >= ? and (o.buyer_id, o.order_no) > (?, ?)
    order by o.buyer_id, o.order_no limit ?
  ) k
  left join order_lines l on l.order_no = k.order_no
  left join inventory i on i.sku = l.sku`;

/** What hot stock has to know of an order. */
export type RememberedOrder = Pick<Order, "id" | "saleId" | "buyerId" | "fingerprint" | "state"> & {
  /** In SKU order, with the units that are held or owned; lines whose SKU is gone are not here. */
  readonly lines: readonly { readonly sku: SkuId; readonly units: number }[];
};

/** The orders of a sale, page by page: the next one is read while this one is looked at. */
export async function* rememberedOrders(
  reader: SqlReader,
  sale: KeyedSale,
): AsyncGenerator<RememberedOrder> {
  const readAfter = (buyer: string, orderNo: number): Promise<readonly Row[]> => {
    const page = reader.all(ordersOfSale, [sale.key, buyer, buyer, orderNo, ordersMax]);
    // Whoever looks at them may stop before it is there.
    page.catch(() => undefined);
    return page;
  };
  let next: Promise<readonly Row[]> | null = readAfter("", 0);
  while (next !== null) {
    const orders = byOrder(await next);
    const last: Row | undefined = orders.at(-1)?.[0];
    const isLast = last === undefined || orders.length < ordersMax;
    next = isLast ? null : readAfter(text(last, "buyer_id"), integer(last, "order_no"));
    for (const rows of orders) yield orderOf(rows, sale);
  }
}

/** The rows of each order: one for every line, at least one. */
function byOrder(rows: readonly Row[]): readonly (readonly [Row, ...Row[]])[] {
  const orders = new Map<number, [Row, ...Row[]]>();
  for (const row of rows) {
    const key = integer(row, "order_no");
    const own = orders.get(key);
    if (own === undefined) orders.set(key, [row]);
    else own.push(row);
  }
  return [...orders.values()];
}

function orderOf(rows: readonly [Row, ...Row[]], { sale }: KeyedSale): RememberedOrder {
  const [row] = rows;
  const found = rows.filter((each) => each["sku_id"] !== null);
  const lines = found.map((each) => ({
    sku: skuId(each["sku_id"]),
    units: integer(each, "units"),
  }));
  if (lines.length > 1) lines.sort((a, b) => (a.sku < b.sku ? -1 : 1));
  return {
    id: reservationId(row["order_id"]),
    saleId: sale.saleId,
    buyerId: parsed(row, "buyer_id", buyerId),
    fingerprint: textOrNull(row, "fingerprint"),
    state: member(row, "state", isDecidedState),
    lines,
  };
}
