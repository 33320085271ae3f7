import { type LaneRow, scopeOfPayment, scopeOfSku } from "../domain/command.ts";
import { answerOf, decidedVersions } from "../domain/decide-ticket.ts";
import type { Answer, Settled } from "../domain/entry.ts";
import type { Lease } from "../domain/lease.ts";
import type { Order } from "../domain/reservation.ts";
import type { SalePolicy } from "../domain/sale.ts";
import {
  type Epoch,
  epoch,
  type Lane,
  reservationId,
  type SkuId,
  skuId,
} from "../domain/values.ts";
import { careForNewLanes } from "./lane-care.ts";
import { isHeld } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import { type OperationKey, operationsBy } from "./operations.ts";
import { orderColumns, ordersOf } from "./orders.ts";
import { type RememberedOrder, rememberedOrders } from "./remembered.ts";
import { laneRowOf, orderOf, skuRowOf } from "./row-parsers.ts";
import { integer, text } from "./rows.ts";
import type { KeyedSale, Sales } from "./sales.ts";
import type { SqlDatabase, SqlReader } from "./sql-database.ts";
import { skuColumns } from "./stock.ts";

export type Snapshot = Awaited<ReturnType<Ledger["snapshot"]>>;

const ordersMax = 4_096;

const laneColumns = "lane, epoch, met, incarnation";
const oneLane = `select ${laneColumns} from lanes where lane = ?`;
const raiseEpoch =
  "update lanes set epoch = epoch + 1, incarnation = ? where lane = ? and epoch = ?";
const firstEpoch = "insert into lanes (lane, epoch, met, incarnation) values (?, 1, 0, ?)";

const levelsOfLane = `
  select ${skuColumns} from inventory i left join sales s on s.sale = i.sale
  where i.lane = ? order by i.sku_id`;

/** Orders that ended before their ticket was seen are of no sale: their id names their lane. */
const ordersWithoutSale = `
  select ${orderColumns} from orders o left join sales s on s.sale = o.sale
  where o.sale is null and o.buyer_id is null and o.order_no > ? order by o.order_no limit ?`;

export async function nextEpoch(
  database: SqlDatabase,
  { lane, epoch: seen }: Pick<LaneRow, "lane" | "epoch">,
  { incarnation, lease }: { readonly incarnation: string; readonly lease: Lease },
): Promise<Epoch | null> {
  return database.transaction(async (session) => {
    if (!(await isHeld(session, database, lease))) return null;
    const raised = await session.run(raiseEpoch, [incarnation, lane, seen]);
    const [row] = await session.all(oneLane, [lane]);
    if (row !== undefined) return raised === 0 ? null : laneRowOf(row).epoch;
    if (seen !== 0) return null;
    await session.many(firstEpoch, [[lane, incarnation]]);
    await careForNewLanes(session);
    return epoch(1);
  });
}

/** All that a lane's hot stock is loaded with, as of one moment. */
export async function snapshotOf(
  reader: SqlReader,
  sales: Sales,
  request: { readonly lane: Lane; readonly held: readonly string[] },
): Promise<Snapshot> {
  const { lane, held } = request;
  const levels = (await reader.all(levelsOfLane, [lane])).map(skuRowOf);
  const saleOfSku = new Map(levels.map(({ sku, saleId }) => [sku, saleId]));
  const remembered = await sales.remembered(reader, lane);
  const answers: Answer[] = [];
  const units = new Map<string, Snapshot["buyers"][number]>();
  for (const sale of remembered) {
    for await (const order of rememberedOrders(reader, sale)) {
      answers.push(answerOf(order));
      countUnits(units, order, saleOfSku);
    }
  }
  for await (const order of unseenOrders(reader, lane)) answers.push(answerOf(order));
  return {
    levels: levels.map((row) => ({
      sku: row.sku,
      stopped: row.status === "stopped",
      revision: row.statusRevision,
      saleId: row.saleId,
      available: row.balances.available,
      version: row.version,
      hash: row.hash,
    })),
    policies: remembered.map(policyOf),
    buyers: [...units.values()],
    answers,
    decided: new Set((await settledTickets(reader, lane, held)).map(({ id }) => id)),
  };
}

async function* unseenOrders(reader: SqlReader, lane: Lane): AsyncGenerator<Order> {
  let after = 0;
  for (;;) {
    const rows = await reader.all(ordersWithoutSale, [after, ordersMax]);
    for (const row of rows) {
      if (text(row, "order_id").startsWith(`${lane}.`)) yield orderOf(row, []);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ordersMax) return;
    after = integer(last, "order_no");
  }
}

/** What live orders hold or own counts for the sale in which the SKU is now. */
function countUnits(
  units: Map<string, Snapshot["buyers"][number]>,
  order: RememberedOrder,
  saleOfSku: ReadonlyMap<SkuId, string | null>,
): void {
  const { buyerId, saleId, state } = order;
  if (buyerId === null || (state !== "reserved" && state !== "confirmed")) return;
  for (const { sku, units: own } of order.lines) {
    if (saleOfSku.get(sku) !== saleId) continue;
    const key = `${sku}\n${buyerId}`;
    const before = units.get(key)?.units ?? 0;
    units.set(key, { sku, buyerId, units: before + own });
  }
}

function policyOf({ sale }: KeyedSale): SalePolicy {
  const { saleId, revision, state, opensAt, closesAt, limitPerBuyer, skus } = sale;
  return { saleId, revision, state, opensAt, closesAt, limitPerBuyer, skus };
}

/** The decision of each ticket that has one: an order's, or that of an operation. */
export async function settledTickets(
  reader: SqlReader,
  lane: Lane,
  ticketIds: readonly string[],
): Promise<readonly Settled[]> {
  const orderIds: string[] = [];
  const operations: (OperationKey & { readonly id: string })[] = [];
  for (const id of ticketIds) {
    const key = operationOfTicket(id);
    if (key === null) orderIds.push(id);
    else operations.push({ ...key, id });
  }
  const settled: Settled[] = [];
  for (const { order } of await ordersOf(reader, orderIds)) {
    const versions = decidedVersions(order);
    settled.push({ lane, id: order.id, answer: answerOf(order), versions });
  }
  const records = await operationsBy(reader, operations);
  const byKey = new Map(records.map((record) => [keyOf(record), record]));
  for (const key of operations) {
    const record = byKey.get(keyOf(key));
    if (record === undefined) continue;
    settled.push({ lane, id: key.id, answer: null, versions: record.versions });
  }
  return settled;
}

function keyOf({ scope, operationId }: OperationKey): string {
  return `${scope}\n${operationId}`;
}

/** The operation that a `take:` or `revive:` ticket becomes; null for a reservation. */
function operationOfTicket(id: string): OperationKey | null {
  const [kind, subject, operationId] = id.split(":");
  if (subject === undefined || operationId === undefined) return null;
  if (kind === "take") return { scope: scopeOfSku(skuId(subject)), operationId };
  if (kind === "revive") return { scope: scopeOfPayment(reservationId(subject)), operationId };
  return null;
}
