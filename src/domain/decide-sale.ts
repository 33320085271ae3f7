import type { Book } from "./book.ts";
import { type CommandResult, type SkuRow, scopeOfSale, scopeOfSku } from "./command.ts";
import { keyReused } from "./decide-settlement.ts";
import { unknownSku, versionMoved } from "./decide-stock.ts";
import { acceptedResult, type CommandOf, rejectedResult } from "./decision.ts";
import { genesisHash } from "./entry.ts";
import { maySaleBecome, type Sale } from "./sale.ts";
import { noUnits } from "./stock.ts";
import type { Lane, SaleId, SkuId } from "./values.ts";

type CreateCommand = CommandOf<"create-sale">;

/** A sale brings its stock in from supply; a SKU seen for the first time is created. */
export function decideCreateSale(book: Book, command: CreateCommand): CommandResult {
  const known = book.sales.get(command.saleId);
  if (known !== undefined) return repeatSale(known, command);
  const lane = laneOf(book, command);
  if (lane === null) {
    return rejectedResult("SKU_IN_SALE", "its SKUs stand in different lanes", {});
  }
  for (const { sku, stock } of command.items) {
    const holder = saleHolding(book, sku);
    if (holder !== null) {
      return rejectedResult("SKU_IN_SALE", `SKU ${sku} is in sale ${holder}`, {});
    }
    if (book.skus.has(sku) && stock > 0 && !book.canMove(sku, "restock", stock)) {
      return rejectedResult("NOT_ENOUGH", `SKU ${sku} has no room for ${stock} more units`, {});
    }
  }

  const { saleId, title, opensAt, closesAt, holdMs, limitPerBuyer } = command;
  const sale = book.setSale({
    saleId,
    title,
    opensAt,
    closesAt,
    holdMs,
    limitPerBuyer,
    lane,
    state: "draft",
    revision: 1,
    skus: command.items.map(({ sku }) => sku),
    stocked: new Map(command.items.map(({ sku, stock }) => [sku, stock])),
    createdAt: book.now,
    closedAt: null,
    fingerprint: command.fingerprint,
  });
  for (const { sku, stock } of command.items) {
    book.setSku({ ...(book.skus.get(sku) ?? newSku(sku, lane)), saleId });
    if (stock > 0) stockIn(book, sku, stock, command);
  }
  auditSale(book, command, null, sale);
  return acceptedResult({ sale });
}

function stockIn(book: Book, sku: SkuId, quantity: number, command: CreateCommand): void {
  book.append({
    sku,
    operation: "restock",
    // A colon is in no caller's id, so it cannot meet an operation of theirs.
    operationId: scopeOfSale(command.saleId),
    quantity,
    order: null,
    actor: command.actor,
    reason: `sale ${command.saleId}`,
  });
}

function repeatSale(sale: Sale, command: CreateCommand): CommandResult {
  if (sale.fingerprint === command.fingerprint) return acceptedResult({ sale }, true);
  const detail = `sale ${sale.saleId} was created with other content`;
  return rejectedResult("KEY_REUSED", detail, { sale });
}

/** A sale's SKUs share one lane, and a SKU that has one keeps it. */
function laneOf(book: Book, command: CreateCommand): Lane | null {
  const lanes = new Set<Lane>();
  for (const { sku } of command.items) {
    const row = book.skus.get(sku);
    if (row !== undefined) lanes.add(row.lane);
  }
  if (lanes.size > 1) return null;
  const [lane] = lanes;
  return lane ?? command.lane;
}

function saleHolding(book: Book, sku: SkuId): SaleId | null {
  const saleId = book.skus.get(sku)?.saleId ?? null;
  if (saleId === null) return null;
  return book.sales.get(saleId)?.state === "closed" ? null : saleId;
}

function newSku(sku: SkuId, lane: Lane): SkuRow {
  return {
    sku,
    lane,
    saleId: null,
    status: "normal",
    statusReason: null,
    statusRevision: 0,
    balances: noUnits,
    version: 0,
    hash: genesisHash,
  };
}

export function decideSaleState(book: Book, command: CommandOf<"sale-state">): CommandResult {
  const sale = book.sales.get(command.saleId);
  if (sale === undefined) {
    return rejectedResult("SALE_NOT_FOUND", `sale ${command.saleId} is not in the ledger`, {});
  }
  const scope = scopeOfSale(sale.saleId);
  const { operationId, to, actor, reason = "" } = command;
  const known = operationId === null ? undefined : book.operation(scope, operationId);
  if (known !== undefined) {
    if (known.operation === to) return acceptedResult({ sale }, true);
    return keyReused(known.operationId);
  }
  const { ifRevision = null } = command;
  if (ifRevision !== null && ifRevision !== sale.revision) {
    const detail = `decided on revision ${ifRevision}, the sale is at ${sale.revision}`;
    return rejectedResult("VERSION_MOVED", detail, { sale });
  }
  if (sale.state !== to && !maySaleBecome(sale.state, to)) {
    return rejectedResult("WRONG_STATE", `the sale is ${sale.state}`, { sale });
  }

  if (operationId !== null) {
    book.record({
      scope,
      operationId,
      operation: to,
      fingerprint: to,
      code: null,
      detail: "",
      versions: new Map(),
      actor,
      reason,
      content: {},
    });
  }
  if (sale.state === to) return acceptedResult({ sale }, true);
  const moved = book.setSale({
    ...sale,
    state: to,
    revision: sale.revision + 1,
    closedAt: to === "closed" ? book.now : null,
  });
  auditSale(book, command, sale, moved);
  return acceptedResult({ sale: moved });
}

/** An operator, or a broken proof, stops a SKU; resuming is an act with a reason. */
export function decideSkuStatus(book: Book, command: CommandOf<"sku-status">): CommandResult {
  const row = book.skus.get(command.sku);
  if (row === undefined) return unknownSku(command.sku);
  const { operationId, to, actor, reason } = command;
  const scope = scopeOfSku(row.sku);
  const known = operationId === null ? undefined : book.operation(scope, operationId);
  if (known !== undefined) {
    if (known.operation === to) return acceptedResult({ level: row }, true);
    return keyReused(known.operationId);
  }
  const moved = versionMoved(row, command.ifVersion ?? null);
  if (moved !== null) return moved;
  if (operationId !== null) {
    book.record({
      scope,
      operationId,
      operation: to,
      fingerprint: to,
      code: null,
      detail: "",
      versions: new Map(),
      actor,
      reason,
      content: {},
    });
  }
  if (row.status === to) return acceptedResult({ level: row }, true);
  const level: SkuRow = {
    ...row,
    status: to,
    statusReason: to === "stopped" ? reason : null,
    statusRevision: row.statusRevision + 1,
  };
  book.setSku(level);
  const action = to === "stopped" ? "stock.stop" : "stock.resume";
  const change = { before: { status: row.status }, after: { status: to } };
  book.audit({ actor, action, subject: scope, reason, ...change });
  return acceptedResult({ level });
}

function auditSale(
  book: Book,
  command: { readonly actor: string; readonly reason?: string },
  before: Sale | null,
  after: Sale,
): void {
  book.audit({
    actor: command.actor,
    action: before === null ? "sale.create" : `sale.${after.state}`,
    subject: scopeOfSale(after.saleId),
    reason: command.reason ?? "",
    before: before === null ? null : { state: before.state, revision: before.revision },
    after: { state: after.state, revision: after.revision },
  });
}
