import type { CommandResult } from "../domain/command.ts";
import { accepted, type Outcome, refused, replayed } from "../domain/outcome.ts";
import { originOf } from "../domain/request-origin.ts";
import type { Order, Payment, ReservationState } from "../domain/reservation.ts";
import { sumLines } from "../domain/reservation.ts";
import { makeReservationId } from "../domain/reservation-id.ts";
import type { Sale } from "../domain/sale.ts";
import type { ReserveTicket } from "../domain/ticket.ts";
import { quantity, type SaleId } from "../domain/values.ts";
import type { AdmissionReply } from "./admission.ts";
import type { Buyers, ReservationView, ReserveRequest, Wait } from "./engine.ts";
import { genuine, lookUp } from "./lookup.ts";
import type { Parts } from "./parts.ts";
import { timelineOf } from "./timeline.ts";
import { freshView, pendingView, viewOf } from "./views.ts";

export function makeBuyers(parts: Parts): Buyers {
  const sales = new SaleLanes(parts);
  return {
    reserve: (request, wait) => reserve(parts, sales, request, wait),
    reservation: async (id, wait) => {
      const found = genuine(parts, id);
      return found === null ? null : lookUp(parts, found, wait);
    },
    watch: (id, signal) => watch(parts, id, signal),
    timeline: async (id) => {
      const found = genuine(parts, id);
      return found === null ? null : timelineOf(parts, found);
    },
  };
}

/**
 * A sale's lane never changes while it is open, so it is read once; by one of those who come
 * together, or the first rush on a fresh process would be a rush on the ledger.
 */
class SaleLanes {
  readonly #parts: Parts;
  readonly #lanes = new Map<SaleId, number>();
  readonly #reading = new Map<SaleId, Promise<number | null>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  known(saleId: SaleId): number | undefined {
    return this.#lanes.get(saleId);
  }

  read(saleId: SaleId): Promise<number | null> {
    const underway = this.#reading.get(saleId);
    if (underway !== undefined) return underway;
    const reading = this.#read(saleId).finally(() => this.#reading.delete(saleId));
    this.#reading.set(saleId, reading);
    return reading;
  }

  async #read(saleId: SaleId): Promise<number | null> {
    const sale = await this.#parts.ledger.sale(saleId);
    if (sale === null) return null;
    this.#lanes.set(saleId, sale.lane);
    return sale.lane;
  }
}

async function reserve(
  parts: Parts,
  sales: SaleLanes,
  request: ReserveRequest,
  wait: Wait,
): Promise<Outcome<ReservationView>> {
  const lane = sales.known(request.saleId) ?? (await sales.read(request.saleId));
  if (lane === null) return refused("SALE_NOT_FOUND", `sale ${request.saleId} does not exist`);
  const ticket = ticketOf(parts, request, lane);
  const told = parts.decisions.expect(ticket.id, wait.waitMs, wait.signal);
  try {
    const admission = await parts.admissions.admit(lane, ticket);
    return await answerTo(parts, ticket, admission, told.result);
  } finally {
    told.forget();
  }
}

function answerTo(
  parts: Parts,
  ticket: ReserveTicket,
  admission: AdmissionReply,
  told: Promise<CommandResult | null>,
): Outcome<ReservationView> | Promise<Outcome<ReservationView>> {
  switch (admission.kind) {
    case "admitted":
      return afterAdmission(parts, ticket, admission.admittedAt, told);
    case "replayed":
      return afterReplay(parts, ticket, admission.state, told);
    case "refused": {
      const on = admission.sku === null ? "" : ` (SKU ${admission.sku})`;
      return refused(admission.code, `${reasons[admission.code] ?? admission.code}${on}`);
    }
    case "busy":
      return refused("BUSY", "too many tickets are in flight; try again");
    case "missing":
    case "closed":
      return whatTheLedgerKnows(parts, ticket, admission);
  }
}

const reasons: Readonly<Partial<Record<string, string>>> = {
  KEY_REUSED: "the key was told with other content",
  SALE_NOT_OPEN: "the sale is not open yet",
  SALE_PAUSED: "the sale is paused",
  SALE_ENDED: "the sale has ended",
  SKU_NOT_FOUND: "the SKU is not in this sale",
  SOLD_OUT: "sold out",
  LIMIT_EXCEEDED: "over the limit for one buyer",
};

function ticketOf(parts: Parts, request: ReserveRequest, lane: number): ReserveTicket {
  const { saleId, buyerId, idempotencyKey } = request;
  const lines = sumLines(request.lines, quantity);
  return {
    kind: "reserve",
    id: makeReservationId(parts.idSecret, { lane, saleId, buyerId, idempotencyKey }),
    fingerprint: lines.map(({ sku, quantity: units }) => `${sku}*${units}`).join(" "),
    lines,
    saleId,
    buyerId,
    idempotencyKey,
    ...originOf(request),
  };
}

async function afterAdmission(
  parts: Parts,
  ticket: ReserveTicket,
  admittedAt: number,
  told: Promise<CommandResult | null>,
): Promise<Outcome<ReservationView>> {
  const result = await told;
  if (result?.status === "accepted" || result?.status === "rejected") {
    const { order, payments } = result.subject;
    if (order !== undefined) return freshOutcome(ticket, order, payments ?? []);
  }
  const pending = pendingView(ticket.id, { ticket, admittedAt });
  const decided = result === null ? await decidedFor(parts, ticket, false) : null;
  return decided ?? accepted(pending);
}

function freshOutcome(
  ticket: ReserveTicket,
  order: Order,
  payments: readonly Payment[],
): Outcome<ReservationView> {
  return isOther(order, ticket)
    ? keyReused(ticket)
    : decidedOutcome(freshView(order, payments), false);
}

/** The first status, with the reservation as it is now. */
async function afterReplay(
  parts: Parts,
  ticket: ReserveTicket,
  state: ReservationState,
  told: Promise<CommandResult | null>,
): Promise<Outcome<ReservationView>> {
  if (state === "pending") await told;
  const decided = await decidedFor(parts, ticket, true);
  if (decided !== null) return decided;
  const found = await parts.hot.lookup(laneOf(ticket), ticket.id);
  return replayed(pendingView(ticket.id, found.kind === "pending" ? found.ticket : null));
}

function laneOf(ticket: ReserveTicket): number {
  return Number(ticket.id.slice(0, ticket.id.indexOf(".")));
}

/** What the ledger has decided under the ticket's id, if anything. */
async function decidedFor(
  parts: Parts,
  ticket: ReserveTicket,
  isReplay: boolean,
): Promise<Outcome<ReservationView> | null> {
  const found = await parts.ledger.order(ticket.id);
  if (found === null) return null;
  return isOther(found.order, ticket) ? keyReused(ticket) : decidedOutcome(viewOf(found), isReplay);
}

/** After a loss of hot stock, other content may have been decided first under an id. */
function isOther({ fingerprint }: Order, ticket: ReserveTicket): boolean {
  return fingerprint !== null && fingerprint !== ticket.fingerprint;
}

function decidedOutcome(view: ReservationView, isReplay: boolean): Outcome<ReservationView> {
  if (view.state === "rejected" || view.state === "void") {
    const code = view.code ?? "VOID";
    const detail = view.reason ?? code;
    return { ...refused(code, detail, { reservation: view }), replayed: isReplay };
  }
  return isReplay ? replayed(view) : accepted(view);
}

/**
 * Hot stock is closed, or lacks the sale or a SKU: what exists is known from the ledger. Its
 * decision under the id is the answer for ever, so it is looked at before any refusal.
 */
async function whatTheLedgerKnows(
  parts: Parts,
  ticket: ReserveTicket,
  admission: Extract<AdmissionReply, { kind: "missing" | "closed" }>,
): Promise<Outcome<ReservationView>> {
  const decided = await decidedFor(parts, ticket, true);
  if (decided !== null) return decided;
  if (admission.kind === "closed") return refused("STOCK_CLOSED", "hot stock is being rebuilt");
  const sale = await parts.ledger.sale(ticket.saleId);
  const refusal = sale === null ? null : refusalOf(sale, ticket);
  if (refusal !== null) return refusal;
  parts.fences.doubt(laneOf(ticket), `${admission.what} of ${ticket.saleId} is missing`);
  return refused("STOCK_CLOSED", "hot stock does not have this sale; it is being rebuilt");
}

function refusalOf(sale: Sale, ticket: ReserveTicket): Outcome<ReservationView> | null {
  const stranger = ticket.lines.find(({ sku }) => !sale.skus.includes(sku));
  if (stranger !== undefined) {
    return refused("SKU_NOT_FOUND", `SKU ${stranger.sku} is not in this sale`);
  }
  if (sale.state === "draft") return refused("SALE_NOT_OPEN", "the sale is not open yet");
  if (sale.state === "closed") return refused("SALE_ENDED", "the sale has ended");
  return null;
}

function keyReused(ticket: ReserveTicket): Outcome<ReservationView> {
  return refused("KEY_REUSED", `key ${ticket.idempotencyKey} was told with other content`);
}

const ended: ReadonlySet<ReservationState> = new Set([
  "rejected",
  "cancelled",
  "expired",
  "void",
  "refunded",
]);
/** Changes made by other processes are seen this late. */
const watchEveryMs = 1000;

async function* watch(
  parts: Parts,
  text: string,
  signal: AbortSignal,
): AsyncIterable<ReservationView> {
  const found = genuine(parts, text);
  if (found === null) return;
  let last: string | null = null;
  while (!signal.aborted) {
    const changed = parts.decisions.wait(found.id, watchEveryMs, signal);
    const view = await lookUp(parts, found, { waitMs: 0 });
    const key = `${view.state} ${view.expiresAt} ${view.refunds.length} ${view.payments.length}`;
    if (key !== last) yield view;
    last = key;
    if (ended.has(view.state)) return;
    await changed;
  }
}
