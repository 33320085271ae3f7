import { type RequestRecord, scopeOfOrder } from "../domain/command.ts";
import type { LedgerEntry } from "../domain/entry.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { Instant } from "../domain/values.ts";
import type { OrderView } from "../ledger/ledger.ts";
import type { TimelineStep } from "./engine.ts";
import type { Genuine } from "./lookup.ts";
import type { Parts } from "./parts.ts";

/** Every step of a reservation through hot stock, bus and ledger, in order of time. */
export async function timelineOf(
  { ledger, hot }: Parts,
  { id, lane }: Genuine,
): Promise<readonly TimelineStep[]> {
  const found = await ledger.order(id);
  if (found === null) {
    const held = await hot.lookup(lane, id);
    if (held.kind !== "pending") return [];
    const { ticket, admittedAt } = held.ticket;
    const { origin = null } = ticket;
    return [step("admitted", "hot", admittedAt, { detail: "in flight", origin })];
  }
  const entries = await ledger.orderEntries(id);
  const calls = new Calls(found, await ledger.requests(scopeOfOrder(id)));
  const moved = entries.map((entry) => entryStep(entry, calls));
  const steps = [...arrival(found), ...moved, ...money(found, calls), ...endings(found)];
  return steps.sort((a, b) => a.at - b.at);
}

/** Which call made a step: entries and operations are not told, and need not be. */
class Calls {
  readonly #reserve: RequestOrigin | null;
  readonly #changes: ReadonlyMap<string, RequestOrigin>;

  constructor({ order }: OrderView, requests: readonly RequestRecord[]) {
    this.#reserve = order.origin ?? null;
    this.#changes = new Map(
      requests.map(({ operation, operationId, origin }) => [`${operation} ${operationId}`, origin]),
    );
  }

  payment(paymentId: string): RequestOrigin | null {
    return this.#changes.get(`confirm ${paymentId}`) ?? null;
  }

  operation(operation: string, operationId: string): RequestOrigin | null {
    const name = operation === "settle-payment" ? "refund" : operation;
    return this.#changes.get(`${name} ${operationId}`) ?? null;
  }

  entry({ operation, operationId }: LedgerEntry): RequestOrigin | null {
    switch (operation) {
      case "reserve":
        return this.#reserve;
      case "reject":
        return operationId === "" ? this.#reserve : this.payment(operationId);
      case "confirm":
      case "revive":
        return this.payment(operationId);
      case "refund":
      case "refund_lost":
        return this.operation("refund", operationId);
      case "cancel":
        return this.operation("cancel", "");
      default:
        return null;
    }
  }
}

function arrival({ order }: OrderView): TimelineStep[] {
  const { origin = null } = order;
  const actor = order.buyerId === null ? "system" : `buyer:${order.buyerId}`;
  const steps: TimelineStep[] = [];
  if (order.admittedAt !== null) {
    steps.push(
      step("admitted", "hot", order.admittedAt, { actor, origin, detail: "ticket in the overlay" }),
    );
  }
  if (order.sentAt !== null) {
    const detail = "sent through its lane";
    steps.push(step("sent", "bus", order.sentAt, { attempt: order.attempt, origin, detail }));
  }
  return steps;
}

function entryStep(entry: LedgerEntry, calls: Calls): TimelineStep {
  const { sku, quantity, version, hash, actor, reason } = entry;
  const origin = calls.entry(entry);
  const facts = { sku, quantity, version, hash, actor, origin, detail: reason };
  return step(entry.operation, "ledger", entry.at, facts);
}

function money({ payments, operations }: OrderView, calls: Calls): TimelineStep[] {
  const paid = payments.map((payment) =>
    step(`payment ${payment.state}`, "ledger", payment.recordedAt, {
      actor: "payment",
      origin: calls.payment(payment.paymentId),
      detail: `payment ${payment.paymentId}${payment.code === null ? "" : ` ${payment.code}`}`,
    }),
  );
  const acts = operations.map((record) =>
    step(record.operation, "ledger", record.at, {
      actor: record.actor,
      origin: calls.operation(record.operation, record.operationId),
      detail: `${record.operationId} ${record.detail}`.trim(),
    }),
  );
  return [...paid, ...acts];
}

/** An end without an entry: nothing was held, so nothing moved. */
function endings({ order }: OrderView): TimelineStep[] {
  if (order.lines.length > 0) return [];
  const { origin = null, reason } = order;
  return [step(order.state, "ledger", order.decidedAt, { origin, detail: reason ?? "" })];
}

function step(
  name: string,
  store: TimelineStep["store"],
  at: Instant,
  facts: Partial<TimelineStep>,
): TimelineStep {
  return {
    step: name,
    store,
    at,
    actor: "system",
    attempt: null,
    sku: null,
    quantity: null,
    version: null,
    hash: null,
    detail: "",
    origin: null,
    ...facts,
  };
}
