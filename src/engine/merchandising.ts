import {
  type Command,
  type CommandResult,
  type OperationRecord,
  type SkuRow,
  scopeOfSku,
} from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import { accepted, type Outcome, type Refused, refused, replayed } from "../domain/outcome.ts";
import type { Sale } from "../domain/sale.ts";
import { totalOf } from "../domain/stock.ts";
import { type TakeTicket, takeTicketId } from "../domain/ticket.ts";
import { quantity, quantityMax, type SkuId } from "../domain/values.ts";
import type { EntryRow } from "../ledger/ledger.ts";
import { decidedTicket } from "./decided-ticket.ts";
import type {
  Acting,
  Actor,
  CreateSaleRequest,
  LevelView,
  Merchandising,
  SaleView,
  StockChange,
  StockChanged,
} from "./engine.ts";
import { observeOpen, viewLevels } from "./levels.ts";
import type { Parts } from "./parts.ts";

export function makeMerchandising(parts: Parts): Merchandising {
  const saleView = (sale: Sale): Promise<SaleView> => viewSale(parts, sale);
  return {
    createSale: (request, by) => createSale(parts, request, by),
    moveSale: async (saleId, move, by) => {
      const result = await parts.line.one({ kind: "sale-state", saleId, ...move, ...by });
      return saleOutcome(parts, result, "needs hot stock");
    },
    sale: async (saleId) => {
      const sale = await parts.ledger.sale(saleId);
      return sale === null ? null : saleView(sale);
    },
    sales: async (page) => Promise.all((await parts.ledger.sales(page)).map(saleView)),
    changeStock: (change, acting) => changeStock(parts, change, acting),
    stopSku: (sku, operationId, acting) =>
      setStatus(parts, { kind: "sku-status", sku, to: "stopped", operationId, ...acting }),
    resumeSku: (sku, operationId, acting) =>
      setStatus(parts, { kind: "sku-status", sku, to: "normal", operationId, ...acting }),
  };
}

async function createSale(
  parts: Parts,
  request: CreateSaleRequest,
  by: Actor,
): Promise<Outcome<SaleView>> {
  const { holdSeconds, ...rest } = request;
  const result = await parts.line.one({
    kind: "create-sale",
    ...rest,
    holdMs: holdSeconds * 1000,
    lane: laneFor(request.saleId, parts.lanes),
    fingerprint: JSON.stringify(request, Object.keys(request).sort().concat(["sku", "stock"])),
    ...by,
  });
  return saleOutcome(parts, result, "best effort");
}

/** A sale whose SKUs are all new is spread by its id (FNV-1a). */
function laneFor(saleId: string, lanes: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(saleId)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % lanes;
}

/** A sale is open, paused or closed once hot stock has it; the ledger's part stands already. */
async function saleOutcome(
  parts: Parts,
  result: CommandResult,
  hot: "needs hot stock" | "best effort",
): Promise<Outcome<SaleView>> {
  if (result.status === "rejected") return rejectedSale(parts, result);
  const sale = result.status === "accepted" ? result.subject.sale : undefined;
  if (sale === undefined) throw new Fault("LEDGER_UNAVAILABLE", `sale: ${result.status}`);
  const told = await parts.projector.projectSale(sale);
  if (hot === "needs hot stock" && told !== "done") {
    return refused("STOCK_CLOSED", "the ledger has it; hot stock does not yet: ask again");
  }
  const view = await viewSale(parts, sale);
  return result.status === "accepted" && result.replayed ? replayed(view) : accepted(view);
}

async function viewSale(parts: Parts, sale: Sale): Promise<SaleView> {
  return { sale, levels: await viewLevels(parts, sale.skus) };
}

async function setStatus(
  parts: Parts,
  command: Extract<Command, { kind: "sku-status" }>,
): Promise<Outcome<LevelView>> {
  const result = await parts.line.one(command);
  if (result.status === "rejected") return rejected(result);
  const level = result.status === "accepted" ? result.subject.level : undefined;
  if (level === undefined) throw new Fault("LEDGER_UNAVAILABLE", `status: ${result.status}`);
  await parts.projector.projectStatus(level);
  if (command.to === "normal" && !(await forgetFork(parts, level))) {
    return refused("STOCK_CLOSED", "the ledger has it; hot stock is being rebuilt: ask again");
  }
  const view = await oneLevel(parts, level.sku);
  return result.status === "accepted" && result.replayed ? replayed(view) : accepted(view);
}

/**
 * A person has looked: hot stock's version of a SKU that does not fit the ledger is given up.
 * False when hot stock is closed, or another process has rebuilt it since: ask again.
 */
async function forgetFork(parts: Parts, { lane, sku }: SkuRow): Promise<boolean> {
  const seen = await observeOpen(parts, lane, [sku]);
  const fence = parts.fences.get(lane);
  if (seen === null || fence === null) return false;
  const [hot] = seen.skus;
  if (hot === undefined) return true;
  const [at] = await parts.ledger.balancesAt([hot]);
  if (at !== null && at !== undefined && at.hash === hot.hash) return true;
  const reply = await parts.hot.forgetSku(fence, sku);
  if (reply.closed) await parts.fences.closed(lane, reply.why);
  else parts.fences.doubt(lane, `SKU ${sku} was resumed`);
  return !reply.closed;
}

async function changeStock(
  parts: Parts,
  change: StockChange,
  acting: Acting,
): Promise<Outcome<StockChanged>> {
  const row = await parts.ledger.level(change.sku);
  if (row === null) return refused("SKU_NOT_FOUND", `SKU ${change.sku} does not exist`);
  const fingerprint = fingerprintOf(change);
  const known = await parts.ledger.operation(scopeOfSku(change.sku), change.operationId);
  if (known !== null) return repeated(parts, { sku: change.sku, known, fingerprint });
  const plan = planOf(row, change);
  if ("ok" in plan) return plan;
  const { sku, operationId } = change;
  const common = { sku, operationId, fingerprint, ...acting };
  switch (plan.kind) {
    case "give":
      return done(parts, await parts.line.one({ ...common, ...plan }));
    case "count":
      return done(parts, await parts.line.one({ ...common, ...plan }));
    case "take":
      return take(parts, row, {
        ...common,
        kind: "take",
        id: takeTicketId(sku, operationId),
        operation: plan.operation,
        lines: [{ sku, quantity: plan.quantity }],
        ifVersion: plan.ifVersion,
      });
  }
}

type Quantity = ReturnType<typeof quantity>;
type Plan =
  | {
      readonly kind: "give";
      readonly operation: "restock" | "unfreeze" | "adjust_up";
      /** 0: the total is that already; nothing moves, and the operation is remembered. */
      readonly quantity: number;
      readonly ifVersion: number | null;
    }
  | {
      readonly kind: "take";
      readonly operation: "withdraw" | "freeze" | "adjust_down";
      readonly quantity: Quantity;
      readonly ifVersion: number | null;
    }
  | { readonly kind: "count"; readonly found: number; readonly ifVersion: number | null };

/** What gives to available is decided by the ledger at once; what takes goes the buyers' way. */
function planOf(row: SkuRow, change: StockChange): Plan | Refused {
  const { ifVersion = null } = change;
  if (ifVersion !== null && ifVersion !== row.version) {
    const detail = `decided on version ${ifVersion}, the SKU is at ${row.version}`;
    return refused("VERSION_MOVED", detail, { level: row });
  }
  switch (change.kind) {
    case "restock":
    case "unfreeze":
      return { kind: "give", operation: change.kind, quantity: change.quantity, ifVersion };
    case "withdraw":
    case "freeze":
      return { kind: "take", operation: change.kind, quantity: change.quantity, ifVersion };
    case "count":
      return { kind: "count", found: change.found, ifVersion };
    case "adjust":
      return adjustPlan(change.delta, ifVersion);
    case "set-total": {
      const delta = change.total - totalOf(row.balances);
      if (-delta > row.balances.available) {
        const detail = `a total of ${change.total} is below what is held, sold, frozen or lost`;
        return refused("NOT_ENOUGH", detail, { level: row });
      }
      return adjustPlan(delta, ifVersion);
    }
  }
}

function adjustPlan(delta: number, ifVersion: number | null): Plan | Refused {
  if (Math.abs(delta) > quantityMax) {
    return refused("NOT_ENOUGH", `at most ${quantityMax} units move at once, not ${delta}`);
  }
  return delta >= 0
    ? { kind: "give", operation: "adjust_up", quantity: delta, ifVersion }
    : { kind: "take", operation: "adjust_down", quantity: quantity(-delta), ifVersion };
}

function fingerprintOf(change: StockChange): string {
  switch (change.kind) {
    case "adjust":
      return `adjust ${change.delta}`;
    case "set-total":
      return `total ${change.total} if ${change.ifVersion}`;
    case "count":
      return `count ${change.found}`;
    case "restock":
    case "withdraw":
    case "freeze":
    case "unfreeze":
      return `${change.kind} ${change.quantity}`;
  }
}

async function take(parts: Parts, row: SkuRow, ticket: TakeTicket): Promise<Outcome<StockChanged>> {
  const outcome = await decidedTicket(parts, row.lane, ticket);
  switch (outcome.kind) {
    case "decided":
      return done(parts, outcome.result);
    case "refused":
      return refused(outcome.code, `hot stock: ${outcome.code}`, { level: row });
    case "busy":
      return refused("BUSY", "too many tickets are in flight; try again");
    case "missing":
      parts.fences.doubt(row.lane, `SKU ${row.sku} is missing`);
      return refused("STOCK_CLOSED", "hot stock is being rebuilt");
    case "closed":
      return refused("STOCK_CLOSED", "hot stock is being rebuilt");
    case "undecided":
      return undecided(parts, ticket);
  }
}

/** Not told in time: it may be decided all the same. */
async function undecided(parts: Parts, ticket: TakeTicket): Promise<Outcome<StockChanged>> {
  const known = await parts.ledger.operation(scopeOfSku(ticket.sku), ticket.operationId);
  if (known !== null) {
    const { sku, fingerprint } = ticket;
    return repeated(parts, { sku, known, fingerprint });
  }
  return refused("BUSY", "not decided yet; tell it again with the same operation id");
}

async function done(parts: Parts, result: CommandResult): Promise<Outcome<StockChanged>> {
  if (result.status === "rejected") return rejected(result);
  const operation = result.status === "accepted" ? result.subject.operation : undefined;
  if (operation === undefined) throw new Fault("LEDGER_UNAVAILABLE", `stock: ${result.status}`);
  const changed = await changedBy(parts, operation);
  return result.status === "accepted" && result.replayed ? replayed(changed) : accepted(changed);
}

async function repeated(
  parts: Parts,
  { sku, known, fingerprint }: { sku: SkuId; known: OperationRecord; fingerprint: string },
): Promise<Outcome<StockChanged>> {
  if (known.fingerprint !== fingerprint) {
    return refused("KEY_REUSED", `operation ${known.operationId} was told with other content`);
  }
  if (known.code !== null) {
    const level = await parts.ledger.level(sku);
    return { ...refused(known.code, known.detail, { level }), replayed: true };
  }
  return replayed(await changedBy(parts, known));
}

async function changedBy(parts: Parts, operation: OperationRecord): Promise<StockChanged> {
  const entries: EntryRow[] = [];
  const sku = skuOf(operation);
  const last = operation.versions.get(sku) ?? 0;
  const query = { after: Math.max(0, last - 3), limit: 3, from: null, to: null };
  for (const entry of await parts.ledger.entries(sku, query)) {
    if (entry.operationId === operation.operationId && entry.version <= last) entries.push(entry);
  }
  return { level: await oneLevel(parts, sku), entries };
}

function skuOf(operation: OperationRecord): SkuId {
  const [sku] = operation.versions.keys();
  if (sku === undefined) throw new Fault("LEDGER_UNAVAILABLE", "the operation was given up");
  return sku;
}

async function oneLevel(parts: Parts, sku: SkuId): Promise<LevelView> {
  const [level] = await viewLevels(parts, [sku]);
  if (level === undefined) throw new Fault("LEDGER_UNAVAILABLE", `SKU ${sku} is gone`);
  return level;
}

type RejectedResult = Extract<CommandResult, { status: "rejected" }>;

/** With the sale as it is now, so that whoever was late can decide again. */
async function rejectedSale(parts: Parts, result: RejectedResult): Promise<Refused> {
  const { sale } = result.subject;
  if (sale === undefined) return rejected(result);
  const facts = { state: sale.state, sale: await viewSale(parts, sale) };
  return { ...refused(result.code, result.detail, facts), replayed: result.replayed };
}

function rejected(result: RejectedResult): Refused {
  const { level } = result.subject;
  const facts = level === undefined ? {} : { level };
  return { ...refused(result.code, result.detail, facts), replayed: result.replayed };
}
