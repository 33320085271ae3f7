import type { Command, CommandResult } from "../../src/domain/command.ts";
import type { Lease } from "../../src/domain/lease.ts";
import type { Line } from "../../src/domain/reservation.ts";
import type { ReserveTicket, TakeTicket } from "../../src/domain/ticket.ts";
import { reviveTicketId, takeTicketId } from "../../src/domain/ticket.ts";
import {
  buyerId,
  type Epoch,
  epoch,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../../src/domain/values.ts";
import type { Commit, Ledger } from "../../src/ledger/ledger.ts";

/** Short ways to say what a ledger is told, with everything that a test does not care about. */
export const saleA = saleId("sale-a");
export const skuA = skuId("sku-a");
export const skuB = skuId("sku-b");

export type SaleSpec = {
  readonly id?: string;
  readonly items?: Readonly<Record<string, number>>;
  readonly limit?: number | null;
  readonly holdMs?: number;
  readonly fingerprint?: string;
};

export function createSale(spec: SaleSpec = {}): Command {
  const items = spec.items ?? { [skuA]: 100, [skuB]: 100 };
  return {
    kind: "create-sale",
    saleId: saleId(spec.id ?? saleA),
    title: "A sale",
    opensAt: null,
    closesAt: null,
    holdMs: spec.holdMs ?? 60_000,
    limitPerBuyer: spec.limit ?? null,
    items: Object.entries(items).map(([sku, stock]) => ({ sku: skuId(sku), stock })),
    lane: 0,
    fingerprint: spec.fingerprint ?? "content",
    actor: "operator",
  };
}

export function moveSale(id: string, to: "open" | "paused" | "closed"): Command {
  return { kind: "sale-state", saleId: saleId(id), to, operationId: null, actor: "operator" };
}

export type OrderSpec = {
  readonly lines?: Readonly<Record<string, number>>;
  readonly buyer?: string;
  readonly sale?: string;
  readonly epoch?: number;
};

export function reserveTicket(id: string, spec: OrderSpec = {}): ReserveTicket {
  return {
    kind: "reserve",
    id: reservationId(id),
    fingerprint: JSON.stringify(spec.lines ?? { [skuA]: 1 }),
    lines: linesOf(spec.lines ?? { [skuA]: 1 }),
    saleId: saleId(spec.sale ?? saleA),
    buyerId: buyerId(spec.buyer ?? `buyer-of-${id}`),
    idempotencyKey: operationId(`key-of-${id}`),
  };
}

export function reserve(id: string, spec: OrderSpec = {}): Command {
  return ticketCommand(reserveTicket(id, spec), spec.epoch);
}

export function ticketCommand(
  ticket: Extract<Command, { kind: "ticket" }>["ticket"],
  stampedWith = 1,
): Command {
  const stamp = { lane: 0, epoch: epoch(stampedWith) };
  return { kind: "ticket", stamp, ticket, admittedAt: 1, sentAt: 2, attempt: 1 };
}

export function take(
  operation: TakeTicket["operation"],
  sku: string,
  act: { readonly id: string; readonly quantity: number },
): Command {
  return ticketCommand({
    kind: "take",
    id: takeTicketId(sku, act.id),
    fingerprint: `${operation} ${act.quantity}`,
    lines: linesOf({ [sku]: act.quantity }),
    operation,
    sku: skuId(sku),
    operationId: operationId(act.id),
    actor: "operator",
    reason: "a test",
    ifVersion: null,
  });
}

export function revive(id: string, payment: string, spec: OrderSpec = {}): Command {
  const { lines, saleId: sale, buyerId: buyer } = reserveTicket(id, spec);
  return ticketCommand({
    kind: "revive",
    id: reviveTicketId(id, payment),
    fingerprint: "paid late",
    lines,
    reservationId: reservationId(id),
    saleId: sale,
    buyerId: buyer,
    paymentId: operationId(payment),
    paidAt: null,
  });
}

export function give(
  operation: "restock" | "unfreeze" | "adjust_up",
  sku: string,
  act: { readonly id: string; readonly quantity: number },
): Command {
  return {
    kind: "give",
    operation,
    sku: skuId(sku),
    quantity: quantity(act.quantity),
    operationId: operationId(act.id),
    fingerprint: `${operation} ${act.quantity}`,
    ifVersion: null,
    actor: "operator",
    reason: "a test",
  };
}

export function confirm(id: string, payment: string): Command {
  const paymentId = operationId(payment);
  return { kind: "confirm", id: reservationId(id), paymentId, paidAt: null, actor: "shop" };
}

export function cancel(id: string): Command {
  return { kind: "cancel", id: reservationId(id), stamp: null, actor: "shop", reason: "changed" };
}

export function expire(id: string): Command {
  return { kind: "expire", id: reservationId(id) };
}

export function refund(
  id: string,
  act: { readonly id: string; readonly lines?: Record<string, number>; readonly restock?: boolean },
): Command {
  return {
    kind: "refund",
    id: reservationId(id),
    refundId: operationId(act.id),
    lines: act.lines === undefined ? null : linesOf(act.lines),
    restock: act.restock ?? true,
    actor: "shop",
    reason: "returned",
  };
}

export function linesOf(lines: Readonly<Record<string, number>>): readonly Line[] {
  return Object.entries(lines).map(([sku, n]) => ({ sku: skuId(sku), quantity: quantity(n) }));
}

/** An open sale in a lane that has its first epoch. */
export async function openSale(ledger: Ledger, spec: SaleSpec = {}): Promise<void> {
  const id = spec.id ?? saleA;
  const { results } = await ledger.commit([createSale(spec), moveSale(id, "open")]);
  if (results.some(({ status }) => status !== "accepted")) throw new Error(shortOf(results));
  const [row] = await ledger.lanes();
  if (row?.epoch === 0) await nextEpoch(ledger, row, "first");
}

/** The lease of that name, for a minute, as the one holder of all tests. */
export async function leaseOf(ledger: Ledger, name: string, holder = "test"): Promise<Lease> {
  const [lease] = await ledger.hold(holder, [{ name, forMs: 60_000 }]);
  if (lease === undefined) throw new Error(`another has the lease "${name}"`);
  return lease;
}

export async function nextEpoch(
  ledger: Ledger,
  seen: Parameters<Ledger["nextEpoch"]>[0],
  incarnation: string,
): Promise<Epoch | null> {
  return ledger.nextEpoch(seen, { incarnation, lease: await leaseOf(ledger, "rebuilder") });
}

/** Each result in a word: its code, `replayed` or its status. */
export function wordsOf({ results }: Commit): readonly string[] {
  return results.map(wordOf);
}

function wordOf(result: CommandResult): string {
  if (result.status === "rejected") return result.replayed ? `${result.code} again` : result.code;
  if (result.status === "accepted" && result.replayed) return "accepted again";
  return result.status;
}

function shortOf(results: readonly CommandResult[]): string {
  return JSON.stringify(results.map(wordOf));
}
