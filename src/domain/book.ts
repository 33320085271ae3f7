import type {
  AuditRecord,
  Command,
  LaneRow,
  OperationRecord,
  RequestRecord,
  SkuRow,
} from "./command.ts";
import { scopeOfOrder, scopeOfPayment, scopeOfSale, scopeOfSku } from "./command.ts";
import {
  type EntryOrder,
  type LedgerEntry,
  type ProjectedEntry,
  projected,
  type Settled,
  sealEntry,
} from "./entry.ts";
import { invariant } from "./invariant.ts";
import type { Lease } from "./lease.ts";
import type { Order, Payment } from "./reservation.ts";
import type { Sale } from "./sale.ts";
import { canMove, move, type Operation, unitsDelta } from "./stock.ts";
import type { Ticket } from "./ticket.ts";
import type {
  BuyerId,
  Instant,
  Lane,
  OperationId,
  ReservationId,
  SaleId,
  SkuId,
} from "./values.ts";

/**
 * The working set of one commit: the rows that its commands need, and what they change. The
 * rules of `decide.ts` read and write it; a ledger adapter fills it and writes the changes.
 */
export class Book {
  readonly now: Instant;
  readonly lanes = new Map<Lane, LaneRow>();
  readonly skus = new Map<SkuId, SkuRow>();
  readonly orders = new Map<string, Order>();
  readonly payments = new Map<string, readonly Payment[]>();
  readonly sales = new Map<SaleId, Sale>();
  readonly operations = new Map<string, OperationRecord>();
  /** Units of a SKU that a buyer holds or owns in a sale, where the sale has a limit. */
  readonly units = new Map<string, number>();
  /** The token of each lease that a command names. */
  readonly tokens = new Map<string, number>();

  readonly changes: BookChanges = {
    entries: [],
    newOrders: new Set(),
    orders: new Set(),
    newSkus: new Set(),
    skus: new Set(),
    payments: new Map(),
    operations: [],
    newSales: new Set(),
    sales: new Set(),
    lanes: new Set(),
    audits: [],
    requests: [],
  };
  readonly projected: ProjectedEntry[] = [];
  readonly settled: Settled[] = [];
  /** How often something was changed. */
  #writes = 0;

  constructor(now: Instant) {
    this.now = now;
  }

  get writes(): number {
    return this.#writes;
  }

  lane(lane: Lane): LaneRow {
    const row = this.lanes.get(lane);
    invariant(row !== undefined, () => `lane ${lane} is not in the ledger`);
    return row;
  }

  isHeld({ name, token }: Lease): boolean {
    return this.tokens.get(name) === token;
  }

  unitsOf(saleId: SaleId, sku: SkuId, buyerId: BuyerId): number {
    return this.units.get(unitsKey(saleId, sku, buyerId)) ?? 0;
  }

  operation(scope: string, operationId: string): OperationRecord | undefined {
    return this.operations.get(operationKey(scope, operationId));
  }

  paymentsOf(id: string): readonly Payment[] {
    return this.payments.get(id) ?? [];
  }

  /** Makes one entry: the SKU's next version, chained to the one before. */
  append(draft: EntryDraft): LedgerEntry {
    const row = this.skus.get(draft.sku);
    invariant(row !== undefined, () => `SKU ${draft.sku} is not in the ledger`);
    const { order } = draft;
    const entry = sealEntry({
      sku: draft.sku,
      version: row.version + 1,
      operation: draft.operation,
      operationId: draft.operationId,
      reservationId: order?.id ?? null,
      quantity: draft.quantity,
      after: move(row.balances, draft.operation, draft.quantity),
      actor: draft.actor,
      reason: draft.reason,
      at: this.now,
      previousHash: row.hash,
    });
    this.setSku({ ...row, balances: entry.after, version: entry.version, hash: entry.hash });
    this.changes.entries.push(entry);
    this.projected.push(projected(entry, row.lane, order === null ? null : entryOrderOf(order)));
    if (order !== null) this.#countUnits(order, draft);
    return entry;
  }

  setSku(row: SkuRow): void {
    if (!this.skus.has(row.sku)) this.changes.newSkus.add(row.sku);
    this.skus.set(row.sku, row);
    this.changes.skus.add(row.sku);
    this.#writes += 1;
  }

  setOrder(order: Order): Order {
    if (!this.orders.has(order.id)) this.changes.newOrders.add(order.id);
    this.orders.set(order.id, order);
    this.changes.orders.add(order.id);
    this.#writes += 1;
    return order;
  }

  setPayment(id: ReservationId, payment: Payment): void {
    const others = this.paymentsOf(id).filter((other) => other.paymentId !== payment.paymentId);
    this.payments.set(id, [...others, payment]);
    const changed = this.changes.payments.get(id) ?? new Set();
    this.changes.payments.set(id, changed.add(payment.paymentId));
    this.#writes += 1;
  }

  setSale(sale: Sale): Sale {
    if (!this.sales.has(sale.saleId)) this.changes.newSales.add(sale.saleId);
    this.sales.set(sale.saleId, sale);
    this.changes.sales.add(sale.saleId);
    this.#writes += 1;
    return sale;
  }

  setLane(row: LaneRow): void {
    this.lanes.set(row.lane, row);
    this.changes.lanes.add(row.lane);
  }

  record(operation: Omit<OperationRecord, "at">): OperationRecord {
    const record = { ...operation, at: this.now };
    const key = operationKey(record.scope, record.operationId);
    invariant(!this.operations.has(key), `operation ${key} is decided already`);
    this.operations.set(key, record);
    this.changes.operations.push(record);
    this.#writes += 1;
    return record;
  }

  audit(record: Omit<AuditRecord, "at">): void {
    this.changes.audits.push({ ...record, at: this.now });
  }

  canMove(sku: SkuId, operation: Operation, quantity: number): boolean {
    const row = this.skus.get(sku);
    return row !== undefined && canMove(row.balances, operation, quantity);
  }

  #countUnits(order: Order, draft: EntryDraft): void {
    const delta = unitsDelta(draft.operation, draft.quantity);
    if (delta === 0 || order.saleId === null || order.buyerId === null) return;
    const key = unitsKey(order.saleId, draft.sku, order.buyerId);
    this.units.set(key, (this.units.get(key) ?? 0) + delta);
  }
}

function entryOrderOf({ saleId, buyerId, fingerprint, lines }: Order): EntryOrder {
  return { saleId, buyerId, fingerprint, skus: lines.map(({ sku }) => sku) };
}

/** What a commit must write. A row that is new is in both of its sets. */
export type BookChanges = {
  readonly entries: LedgerEntry[];
  readonly newOrders: Set<ReservationId>;
  readonly orders: Set<ReservationId>;
  readonly newSkus: Set<SkuId>;
  readonly skus: Set<SkuId>;
  readonly payments: Map<ReservationId, Set<OperationId>>;
  readonly operations: OperationRecord[];
  readonly newSales: Set<SaleId>;
  readonly sales: Set<SaleId>;
  readonly lanes: Set<Lane>;
  readonly audits: AuditRecord[];
  readonly requests: RequestRecord[];
};

export type EntryDraft = {
  readonly sku: SkuId;
  readonly operation: Operation;
  readonly operationId: string;
  readonly quantity: number;
  readonly order: Order | null;
  readonly actor: string;
  readonly reason: string;
};

/** Ids cannot hold a line feed, so it frames them. */
export function unitsKey(saleId: SaleId, sku: SkuId, buyerId: BuyerId): string {
  return `${saleId}\n${sku}\n${buyerId}`;
}

export function operationKey(scope: string, operationId: string): string {
  return `${scope}\n${operationId}`;
}

/** What a working set must hold before its commands are decided. */
export type BookKeys = {
  readonly lanes: Set<Lane>;
  /** Besides these, the SKUs on the lines of the orders. */
  readonly skus: Set<SkuId>;
  /** With their lines and payments. */
  readonly orders: Set<string>;
  /** Besides these, the sales of the SKUs and of the orders. */
  readonly sales: Set<SaleId>;
  readonly operations: { readonly scope: string; readonly operationId: OperationId }[];
  /** Buyers whose units matter, where the sale has a limit: on every SKU of the sale. */
  readonly buyers: { readonly saleId: SaleId; readonly buyerId: BuyerId }[];
  readonly leases: Set<string>;
};

/**
 * `expectNew`: the orders of tickets that are told for the first time are not asked for. Nearly
 * all are new, and one that is not is refused by its unique key.
 */
export function keysOf(
  commands: readonly Command[],
  { expectNew }: { readonly expectNew: boolean },
): BookKeys {
  const keys: BookKeys = {
    lanes: new Set(),
    skus: new Set(),
    orders: new Set(),
    sales: new Set(),
    operations: [],
    buyers: [],
    leases: new Set(),
  };
  for (const command of commands) {
    addKeys(keys, command);
    if (command.kind !== "ticket" || command.ticket.kind !== "reserve") continue;
    if (!expectNew || command.attempt > 1) keys.orders.add(command.ticket.id);
  }
  return keys;
}

function addKeys(keys: BookKeys, command: Command): void {
  switch (command.kind) {
    case "ticket":
      keys.lanes.add(command.stamp.lane);
      addTicketKeys(keys, command.ticket);
      return;
    case "void":
      keys.lanes.add(command.stamp.lane);
      keys.orders.add(command.id);
      if (command.ticket !== null) addTicketKeys(keys, command.ticket);
      return;
    case "barrier":
      keys.lanes.add(command.lane);
      return;
    case "cancel":
      if (command.stamp !== null) keys.lanes.add(command.stamp.lane);
      keys.orders.add(command.id);
      return;
    case "confirm":
    case "refuse-late":
      keys.orders.add(command.id);
      return;
    case "expire":
      keys.orders.add(command.id);
      addLease(keys, command.lease);
      return;
    case "extend":
      keys.orders.add(command.id);
      addOperation(keys, scopeOfOrder(command.id), command.operationId);
      return;
    case "refund":
    case "settle-payment":
      keys.orders.add(command.id);
      addOperation(keys, scopeOfOrder(command.id), command.refundId);
      return;
    case "give":
    case "count":
      keys.skus.add(command.sku);
      addOperation(keys, scopeOfSku(command.sku), command.operationId);
      return;
    case "sku-status":
      keys.skus.add(command.sku);
      addOperation(keys, scopeOfSku(command.sku), command.operationId);
      addLease(keys, command.lease);
      return;
    case "create-sale":
      keys.sales.add(command.saleId);
      for (const { sku } of command.items) keys.skus.add(sku);
      return;
    case "sale-state":
      keys.sales.add(command.saleId);
      addOperation(keys, scopeOfSale(command.saleId), command.operationId);
      return;
  }
}

function addTicketKeys(keys: BookKeys, ticket: Ticket): void {
  for (const { sku } of ticket.lines) keys.skus.add(sku);
  switch (ticket.kind) {
    case "reserve":
      keys.sales.add(ticket.saleId);
      keys.buyers.push({ saleId: ticket.saleId, buyerId: ticket.buyerId });
      return;
    case "revive":
      keys.orders.add(ticket.reservationId);
      keys.sales.add(ticket.saleId);
      keys.buyers.push({ saleId: ticket.saleId, buyerId: ticket.buyerId });
      addOperation(keys, scopeOfPayment(ticket.reservationId), ticket.paymentId);
      return;
    case "take":
      addOperation(keys, scopeOfSku(ticket.sku), ticket.operationId);
      return;
  }
}

function addLease(keys: BookKeys, lease: Lease | undefined): void {
  if (lease !== undefined) keys.leases.add(lease.name);
}

function addOperation(keys: BookKeys, scope: string, operationId: OperationId | null): void {
  if (operationId !== null) keys.operations.push({ scope, operationId });
}
