import type { Answer, ProjectedEntry, Settled } from "../domain/entry.ts";
import { parseItem } from "../domain/message.ts";
import { type Asked, readOrigin } from "../domain/request-origin.ts";
import type { Line } from "../domain/reservation.ts";
import type { SalePolicy } from "../domain/sale.ts";
import type { AdmittedTicket, LaneItem, TakeTicket, Ticket } from "../domain/ticket.ts";
import {
  buyerId,
  operationId,
  quantity,
  reservationId,
  type SaleId,
  type SkuId,
  saleId,
  skuId,
} from "../domain/values.ts";
import { decimal } from "./scripts.ts";

/**
 * How things are written in Redis: words between spaces, which scripts split at little cost and
 * which take a third of the bytes of JSON. Ids and numbers are words as they are; free text is
 * encoded; "%" is null, which no encoded text can be.
 */
const none = "%";
const empty = "%%";
/** What the same call has said already. */
const same = "=";

export function word(text: string | null): string {
  if (text === null) return none;
  return text === "" ? empty : encodeURIComponent(text);
}

export function unword(text: string | undefined): string | null {
  if (text === undefined || text === none) return null;
  return text === empty ? "" : decodeURIComponent(text);
}

function text(encoded: string | undefined): string {
  return unword(encoded) ?? "";
}

export function numberOrNull(encoded: string | undefined): number | null {
  return encoded === undefined || encoded === none ? null : Number(encoded);
}

function numberWord(number: number | null): string {
  return number === null ? none : decimal(number);
}

// Tickets -------------------------------------------------------------------------------------

const kinds = { reserve: "r", revive: "v", take: "t" } as const satisfies Record<
  Ticket["kind"],
  string
>;

/**
 * kind fingerprint sale buyer sku=units,… and what else the kind has, then the call's id and its
 * trace, if any; the ticket's id stands before it.
 */
export function ticketWords(ticket: Ticket): string {
  const sale = ticket.kind === "take" ? none : ticket.saleId;
  const buyer = ticket.kind === "take" ? none : ticket.buyerId;
  const lines = ticket.lines.map(({ sku, quantity: units }) => `${sku}=${units}`).join(",");
  const head = [kinds[ticket.kind], word(ticket.fingerprint), sale, buyer, lines];
  return [...head, ...restOf(ticket), ...originWords(ticket)].join(" ");
}

function restOf(ticket: Ticket): string[] {
  switch (ticket.kind) {
    case "reserve":
      return [ticket.idempotencyKey];
    case "revive":
      return [ticket.reservationId, ticket.paymentId, numberWord(ticket.paidAt)];
    case "take": {
      const { operation, sku, operationId: id, ifVersion, actor, reason } = ticket;
      return [operation, sku, id, numberWord(ifVersion), word(actor), word(reason)];
    }
  }
}

function originWords({ origin }: Asked): string[] {
  if (origin === undefined) return [];
  return origin.traceId === null ? [origin.requestId] : [origin.requestId, origin.traceId];
}

export function ticketOf(id: string, content: string): Ticket {
  const [kind, fingerprint, sale, buyer, lines, ...rest] = content.split(" ");
  const [first, second, third, fourth, fifth, sixth] = rest;
  const held = { fingerprint: text(fingerprint), lines: linesOf(lines ?? "") };
  const asked = (at: number) => readOrigin(rest[at], rest[at + 1]);
  if (kind === kinds.reserve) {
    const common = { ...held, ...asked(1) };
    const ids = { id: reservationId(id), saleId: saleId(sale), buyerId: buyerId(buyer) };
    return { kind: "reserve", ...common, ...ids, idempotencyKey: operationId(first) };
  }
  if (kind === kinds.revive) {
    const common = { ...held, ...asked(3) };
    const ids = { id, reservationId: reservationId(first), paymentId: operationId(second) };
    const whose = { saleId: saleId(sale), buyerId: buyerId(buyer) };
    return { kind: "revive", ...common, ...ids, ...whose, paidAt: numberOrNull(third) };
  }
  return {
    kind: "take",
    ...held,
    ...asked(6),
    id,
    operation: operationOf(first),
    sku: skuId(second),
    operationId: operationId(third),
    ifVersion: numberOrNull(fourth),
    actor: text(fifth),
    reason: text(sixth),
  };
}

function operationOf(found: string | undefined): TakeTicket["operation"] {
  if (found === "withdraw" || found === "freeze" || found === "adjust_down") return found;
  throw new TypeError(`hot stock holds a taking of an unknown kind: ${found}`);
}

function linesOf(found: string): readonly Line[] {
  return found.split(",").map((line) => {
    const [sku, units] = line.split("=");
    return { sku: skuId(sku), quantity: quantity(Number(units)) };
  });
}

/** A ticket in flight: seq resends held admittedAt content. */
export type TicketRecord = AdmittedTicket & { readonly seq: number; readonly resends: number };

export function recordOf(id: string, record: string): TicketRecord {
  const [seq, resends, , admittedAt] = record.split(" ", 4);
  const at = record.split(" ", 4).join(" ").length + 1;
  const ticket = ticketOf(id, record.slice(at));
  return { ticket, seq: Number(seq), resends: Number(resends), admittedAt: Number(admittedAt) };
}

// What travels --------------------------------------------------------------------------------

export function itemWords(item: LaneItem): string {
  if (item.kind === "marker") return `M ${item.seq}`;
  if (item.kind !== "ticket") return `J ${JSON.stringify(item)}`;
  return `T ${item.ticket.id} ${item.admittedAt} ${ticketWords(item.ticket)}`;
}

export function itemOf(words: string): LaneItem {
  const [kind, id = "", admittedAt] = words.split(" ", 3);
  if (kind === "M") return { kind: "marker", seq: Number(id) };
  if (kind === "J") return parseItem(JSON.parse(words.slice(2)));
  const content = words.slice(`T ${id} ${admittedAt} `.length);
  return { kind: "ticket", ticket: ticketOf(id, content), admittedAt: Number(admittedAt) };
}

// The ledger's news ---------------------------------------------------------------------------

const states = ["reserved", "rejected", "void", "cancelled"] as const satisfies Answer["state"][];

/** id state fingerprint sale skus */
export function answerWords(answer: Answer | null): string {
  if (answer === null) return none;
  const { id, state, fingerprint, skus } = answer;
  return `${id} ${state} ${word(fingerprint)} ${answer.saleId ?? none} ${listWords(skus)}`;
}

function listWords(list: readonly string[]): string {
  return list.length === 0 ? none : list.join(",");
}

export function answerOf(id: string, record: string): Answer {
  const [state, fingerprint, sale, skus = none] = record.split(" ");
  return {
    id,
    state: stateOf(state),
    fingerprint: unword(fingerprint),
    saleId: sale === none ? null : saleId(sale),
    skus: skus === none ? [] : skus.split(",").map(skuId),
  };
}

export function stateOf(found: string | undefined): Answer["state"] {
  const state = states.find((each) => each === found);
  if (state !== undefined) return state;
  throw new TypeError(`hot stock holds an answer of an unknown state: ${found}`);
}

/** `told`: the last hash of each SKU that the same call has said already. */
export function entryWords(entry: ProjectedEntry, told: Map<SkuId, string>): string {
  const { sku, version, previousHash, hash, availableDelta, ticketId, saleId: sale } = entry;
  const previous = told.get(sku) === previousHash ? same : word(previousHash);
  told.set(sku, hash);
  const chain = `${decimal(version)} ${previous} ${word(hash)} ${decimal(availableDelta)}`;
  const buyer = `${ticketId ?? none} ${sale ?? none} ${entry.buyerId ?? none}`;
  return `E ${sku} ${chain} ${buyer} ${decimal(entry.unitsDelta)} ${entryAnswerWords(entry)}`;
}

function entryAnswerWords({ answer, ticketId, saleId: sale, sku }: ProjectedEntry): string {
  if (answer === null) return none;
  const id = answer.id === ticketId ? same : answer.id;
  const of = answer.saleId === sale ? same : (answer.saleId ?? none);
  const isOfThis = answer.skus.length === 1 && answer.skus[0] === sku;
  const skus = isOfThis ? same : listWords(answer.skus);
  return `${id} ${answer.state} ${word(answer.fingerprint)} ${of} ${skus}`;
}

export function settledWords({ id, answer, versions }: Settled): string {
  const decided = [...versions].map(([sku, version]) => `${sku}=${decimal(version)}`).join(",");
  return `S ${id} ${answerWords(answer)} ${decided === "" ? none : decided}`;
}

export function policyWords(policy: SalePolicy): string {
  const { revision, state, opensAt, closesAt, limitPerBuyer, skus } = policy;
  const bounds = [opensAt, closesAt, limitPerBuyer].map(numberWord).join(" ");
  return `${decimal(revision)} ${state} ${bounds} ${skus.length === 0 ? none : skus.join(",")}`;
}

export function saleOrNull(found: string | undefined): SaleId | null {
  return found === undefined || found === none ? null : saleId(found);
}

export function skusOf(entry: ProjectedEntry | Settled): readonly SkuId[] {
  const answered = entry.answer?.skus ?? [];
  return "versions" in entry ? [...entry.versions.keys(), ...answered] : [entry.sku, ...answered];
}
