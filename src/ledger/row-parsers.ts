import type { AuditRecord, LaneRow, OperationRecord, SkuRow } from "../domain/command.ts";
import type { LedgerEntry } from "../domain/entry.ts";
import { isRejection } from "../domain/rejection.ts";
import { isDecidedState, type Order, type OrderLine, type Payment } from "../domain/reservation.ts";
import { isSaleState, type Sale } from "../domain/sale.ts";
import { type Balances, isOperation } from "../domain/stock.ts";
import {
  buyerId,
  epoch,
  operationId,
  quantity,
  reservationId,
  type SkuId,
  saleId,
  skuId,
} from "../domain/values.ts";
import type { DeadLetter, EntryRow } from "./ledger.ts";
import { originIn } from "./requests.ts";
import {
  bytes,
  integer,
  integerOrNull,
  json,
  jsonObject,
  member,
  parsed,
  text,
  textOrNull,
} from "./rows.ts";
import type { Row } from "./sql-database.ts";

export function balancesOf(row: Row): Balances {
  return {
    available: integer(row, "available"),
    reserved: integer(row, "reserved"),
    sold: integer(row, "sold"),
    frozen: integer(row, "frozen"),
    lost: integer(row, "lost"),
  };
}

export function skuRowOf(row: Row): SkuRow {
  return {
    sku: skuId(row["sku_id"]),
    lane: integer(row, "lane"),
    saleId: parsed(row, "sale_id", saleId),
    status: member(row, "status", (value) => value === "normal" || value === "stopped"),
    statusReason: textOrNull(row, "status_reason"),
    statusRevision: integer(row, "status_revision"),
    balances: balancesOf(row),
    version: integer(row, "version"),
    hash: text(row, "hash"),
  };
}

export function laneRowOf(row: Row): LaneRow {
  return {
    lane: integer(row, "lane"),
    epoch: epoch(row["epoch"]),
    met: epoch(row["met"]),
    incarnation: textOrNull(row, "incarnation"),
  };
}

export type SaleItems = {
  readonly skus: readonly SkuId[];
  readonly stocked: ReadonlyMap<SkuId, number>;
};

export function saleOf(row: Row, items: SaleItems): Sale {
  return {
    saleId: saleId(row["sale_id"]),
    revision: integer(row, "revision"),
    state: member(row, "state", isSaleState),
    opensAt: integerOrNull(row, "opens_at_ms"),
    closesAt: integerOrNull(row, "closes_at_ms"),
    limitPerBuyer: integerOrNull(row, "limit_per_buyer"),
    skus: items.skus,
    title: text(row, "title"),
    lane: integer(row, "lane"),
    holdMs: integer(row, "hold_ms"),
    stocked: items.stocked,
    createdAt: integer(row, "created_at_ms"),
    closedAt: integerOrNull(row, "closed_at_ms"),
    fingerprint: text(row, "fingerprint"),
  };
}

export function orderOf(row: Row, lines: readonly OrderLine[]): Order {
  return {
    id: reservationId(row["order_id"]),
    saleId: parsed(row, "sale_id", saleId),
    buyerId: parsed(row, "buyer_id", buyerId),
    idempotencyKey: parsed(row, "idempotency_key", operationId),
    fingerprint: textOrNull(row, "fingerprint"),
    state: member(row, "state", isDecidedState),
    code: row["code"] === null ? null : member(row, "code", isRejection),
    reason: textOrNull(row, "reason"),
    lines,
    admittedAt: integerOrNull(row, "admitted_at_ms"),
    sentAt: integerOrNull(row, "sent_at_ms"),
    attempt: integer(row, "attempt"),
    decidedAt: integer(row, "decided_at_ms"),
    expiresAt: integerOrNull(row, "expires_at_ms"),
    endedAt: integerOrNull(row, "ended_at_ms"),
    paymentId: parsed(row, "payment_id", operationId),
    revived: integer(row, "revived") === 1,
    ...originIn(row),
  };
}

export function orderLineOf(row: Row): OrderLine {
  return {
    sku: skuId(row["sku_id"]),
    quantity: quantity(row["quantity"]),
    restocked: integer(row, "restocked"),
    writtenOff: integer(row, "written_off"),
    decidedVersion: integer(row, "decided_version"),
  };
}

export function paymentOf(row: Row): Payment {
  return {
    paymentId: operationId(row["payment_id"]),
    state: member(row, "state", isPaymentState),
    code: row["code"] === null ? null : member(row, "code", isPaymentCode),
    paidAt: integerOrNull(row, "paid_at_ms"),
    recordedAt: integer(row, "recorded_at_ms"),
    refundId: parsed(row, "refund_id", operationId),
  };
}

function isPaymentCode(value: string): value is NonNullable<Payment["code"]> {
  return value === "REFUND_DUE" || value === "ALREADY_PAID";
}

function isPaymentState(value: string): value is Payment["state"] {
  return value === "taken" || value === "due" || value === "refunded";
}

export function operationOf(row: Row): OperationRecord {
  const versions = Object.entries(jsonObject(row, "versions"));
  return {
    scope: text(row, "scope"),
    operationId: operationId(row["operation_id"]),
    operation: text(row, "operation"),
    fingerprint: text(row, "fingerprint"),
    code: row["code"] === null ? null : member(row, "code", isRejection),
    detail: text(row, "detail"),
    versions: new Map(versions.map(([sku, version]) => [skuId(sku), Number(version)])),
    content: jsonObject(row, "content"),
    at: integer(row, "at_ms"),
    actor: text(row, "actor"),
    reason: text(row, "reason"),
  };
}

export function entryOf(row: Row): LedgerEntry {
  return {
    sku: skuId(row["sku_id"]),
    version: integer(row, "version"),
    operation: member(row, "operation_type", isOperation),
    operationId: text(row, "operation_id"),
    reservationId: parsed(row, "order_id", reservationId),
    quantity: integer(row, "quantity"),
    after: balancesOf(row),
    actor: text(row, "actor"),
    reason: text(row, "reason"),
    at: integer(row, "created_at_ms"),
    previousHash: text(row, "previous_hash"),
    hash: text(row, "hash"),
  };
}

export function entryRowOf(row: Row): EntryRow {
  const isPublished = integer(row, "version") <= integer(row, "published_version");
  return {
    ...entryOf(row),
    publication: isPublished ? "success" : "pending",
    saleId: parsed(row, "sale_id", saleId),
    buyerId: parsed(row, "buyer_id", buyerId),
  };
}

export function deadLetterOf(row: Row): DeadLetter {
  return {
    id: integer(row, "id"),
    lane: integer(row, "lane"),
    reason: text(row, "reason"),
    body: bytes(row, "body"),
    kind: textOrNull(row, "kind"),
    itemId: textOrNull(row, "item_id"),
    sku: textOrNull(row, "sku_id"),
    tries: integer(row, "tries"),
    state: member(row, "state", isLetterState),
    createdAt: integer(row, "created_at_ms"),
    settledAt: integerOrNull(row, "settled_at_ms"),
    settledBy: textOrNull(row, "settled_by"),
    settledReason: textOrNull(row, "settled_reason"),
  };
}

function isLetterState(value: string): value is DeadLetter["state"] {
  return value === "open" || value === "replayed" || value === "discarded";
}

export function auditOf(row: Row): AuditRecord & { readonly id: number } {
  return {
    id: integer(row, "id"),
    at: integer(row, "at_ms"),
    actor: text(row, "actor"),
    action: text(row, "action"),
    subject: text(row, "subject"),
    reason: text(row, "reason"),
    before: json(row, "state_before"),
    after: json(row, "state_after"),
  };
}
