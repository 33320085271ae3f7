import type { LedgerEntry } from "../domain/entry.ts";
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
    return [step("admitted", "hot", held.ticket.admittedAt, { detail: "in flight" })];
  }
  const entries = await ledger.orderEntries(id);
  const steps = [...arrival(found), ...entries.map(entryStep), ...money(found), ...endings(found)];
  return steps.sort((a, b) => a.at - b.at);
}

function arrival({ order }: OrderView): TimelineStep[] {
  const actor = order.buyerId === null ? "system" : `buyer:${order.buyerId}`;
  const steps: TimelineStep[] = [];
  if (order.admittedAt !== null) {
    steps.push(
      step("admitted", "hot", order.admittedAt, { actor, detail: "ticket in the overlay" }),
    );
  }
  if (order.sentAt !== null) {
    const detail = "sent through its lane";
    steps.push(step("sent", "bus", order.sentAt, { attempt: order.attempt, detail }));
  }
  return steps;
}

function entryStep(entry: LedgerEntry): TimelineStep {
  const { sku, quantity, version, hash, actor, reason } = entry;
  const facts = { sku, quantity, version, hash, actor, detail: reason };
  return step(entry.operation, "ledger", entry.at, facts);
}

function money({ payments, operations }: OrderView): TimelineStep[] {
  const paid = payments.map((payment) =>
    step(`payment ${payment.state}`, "ledger", payment.recordedAt, {
      actor: "payment",
      detail: `payment ${payment.paymentId}${payment.code === null ? "" : ` ${payment.code}`}`,
    }),
  );
  const acts = operations.map((record) =>
    step(record.operation, "ledger", record.at, {
      actor: record.actor,
      detail: `${record.operationId} ${record.detail}`.trim(),
    }),
  );
  return [...paid, ...acts];
}

/** An end without an entry: nothing was held, so nothing moved. */
function endings({ order }: OrderView): TimelineStep[] {
  if (order.lines.length > 0) return [];
  return [step(order.state, "ledger", order.decidedAt, { detail: order.reason ?? "" })];
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
    ...facts,
  };
}
