import type { AuditRecord } from "../domain/command.ts";
import type { Payment } from "../domain/reservation.ts";
import { moves } from "../domain/stock.ts";
import type {
  LevelView,
  ReservationView,
  SaleView,
  StockChanged,
  TimelineStep,
} from "../engine/engine.ts";
import type { DeadLetter, EntryRow } from "../ledger/ledger.ts";
import type {
  AuditRecordBody,
  DeadLetterBody,
  EntryBody,
  LevelBody,
  ReservationBody,
  SaleBody,
  StockChangedBody,
  TimelineBody,
} from "./contract.ts";
import { isoTime, maybeIsoTime } from "./input.ts";

/** The engine's views in the words of the contract. */

export function reservationPath(id: string): string {
  return `/v1/reservations/${id}`;
}

export function reservationBody(view: ReservationView): ReservationBody {
  const self = reservationPath(view.id);
  return {
    reservationId: view.id,
    saleId: view.saleId,
    buyerId: view.buyerId,
    state: view.state,
    items: [...view.lines],
    createdAt: maybeIsoTime(view.createdAt),
    decidedAt: maybeIsoTime(view.decidedAt),
    expiresAt: maybeIsoTime(view.expiresAt),
    endedAt: maybeIsoTime(view.endedAt),
    paymentId: view.paymentId,
    revived: view.revived,
    refunds: view.refunds.map(({ lines, at, ...refund }) => ({
      ...refund,
      at: isoTime(at),
      items: [...lines],
    })),
    refundDue: view.refundDue.map(paymentBody),
    payments: view.payments.map(paymentBody),
    code: view.code,
    reason: view.reason,
    links: { self, events: `${self}/events`, timeline: `${self}/timeline` },
  };
}

function paymentBody(payment: Payment): ReservationBody["payments"][number] {
  const { paymentId, state, paidAt, recordedAt, refundId } = payment;
  return {
    paymentId,
    state,
    paidAt: maybeIsoTime(paidAt),
    recordedAt: isoTime(recordedAt),
    refundId,
  };
}

/** `traceUrl` leads to where the operator keeps traces, `{traceId}` in it; null: nowhere. */
export function timelineBody(
  id: string,
  steps: readonly TimelineStep[],
  traceUrl: string | null,
): TimelineBody {
  return {
    reservationId: id,
    items: steps.map(({ origin, at, ...step }) => {
      const { requestId = null, traceId = null } = origin ?? {};
      const link = traceId === null ? null : (traceUrl?.replaceAll("{traceId}", traceId) ?? null);
      return { ...step, at: isoTime(at), requestId, traceId, traceUrl: link };
    }),
  };
}

export function saleBody({ sale, levels }: SaleView): SaleBody {
  return {
    saleId: sale.saleId,
    title: sale.title,
    state: sale.state,
    revision: sale.revision,
    opensAt: maybeIsoTime(sale.opensAt),
    closesAt: maybeIsoTime(sale.closesAt),
    holdSeconds: sale.holdMs / 1_000,
    limitPerBuyer: sale.limitPerBuyer,
    createdAt: isoTime(sale.createdAt),
    closedAt: maybeIsoTime(sale.closedAt),
    items: levels.map(levelBody),
  };
}

export function levelBody(view: LevelView): LevelBody {
  const { balances, lane: _lane, ...level } = view;
  return { ...level, ...balances };
}

export function entryBody(entry: EntryRow): EntryBody {
  const { from, to } = moves[entry.operation];
  return {
    sku: entry.sku,
    version: entry.version,
    operation: entry.operation,
    operationId: entry.operationId,
    reservationId: entry.reservationId,
    saleId: entry.saleId,
    buyerId: entry.buyerId,
    quantity: entry.quantity,
    from,
    to,
    after: entry.after,
    actor: entry.actor,
    reason: entry.reason,
    at: isoTime(entry.at),
    previousHash: entry.previousHash,
    hash: entry.hash,
    publication: entry.publication,
  };
}

export function stockChangedBody({ level, entries }: StockChanged): StockChangedBody {
  const bodies = entries.map(entryBody);
  return { level: levelBody(level), entry: bodies.at(-1) ?? null, entries: bodies };
}

export function deadLetterBody(letter: DeadLetter): DeadLetterBody {
  const { body, createdAt, settledAt, ...rest } = letter;
  return {
    ...rest,
    createdAt: isoTime(createdAt),
    settledAt: maybeIsoTime(settledAt),
    bytes: body.length,
  };
}

export function auditBody(record: AuditRecord & { readonly id: number }): AuditRecordBody {
  return { ...record, at: isoTime(record.at) };
}
