import type { LedgerEntry } from "../../src/domain/entry.ts";
import type { ReserveTicket } from "../../src/domain/ticket.ts";
import type { HotLine } from "./hot-line.ts";

type Held = { readonly ticket: ReserveTicket; readonly skus: Set<string> };

/**
 * Hot stock as a person would say it, with nothing kept that can be counted: what the ledger's
 * log says up to a version, less what is in hand. It reads logs and carts and shares no code
 * with any adapter.
 */
export class NaiveHotStock {
  readonly #line: HotLine;
  readonly #limit: number;
  /** SKU → how much of its log has been heard. */
  readonly heard = new Map<string, number>();
  readonly answers = new Map<string, { readonly state: string; readonly content: string | null }>();
  readonly #held = new Map<string, Held>();

  constructor(line: HotLine, limit: number) {
    this.#line = line;
    this.#limit = limit;
  }

  available(sku: string): number {
    const heard = this.heard.get(sku) ?? 0;
    const last = this.#log(sku)[heard - 1];
    return (last?.after.available ?? 0) - this.inFlight(sku);
  }

  inFlight(sku: string): number {
    let sum = 0;
    for (const { ticket, skus } of this.#held.values()) {
      if (skus.has(sku)) sum += unitsOf(ticket, sku);
    }
    return sum;
  }

  /** What it should say to a buyer; admitted, it is in hand. */
  admit(ticket: ReserveTicket): string {
    const answer = this.answers.get(ticket.id);
    if (answer !== undefined) {
      const other = answer.content !== null && answer.content !== ticket.fingerprint;
      return other ? "KEY_REUSED" : `replayed ${answer.state}`;
    }
    const held = this.#held.get(ticket.id);
    if (held !== undefined) {
      return held.ticket.fingerprint === ticket.fingerprint ? "replayed pending" : "KEY_REUSED";
    }
    const skus = ticket.lines.map(({ sku }) => sku);
    if (skus.some((sku) => this.available(sku) < 1)) return "SOLD_OUT";
    const over = skus.some(
      (sku) => this.#owned(sku, ticket.buyerId) + unitsOf(ticket, sku) > this.#limit,
    );
    if (over) return "LIMIT_EXCEEDED";
    if (skus.some((sku) => this.available(sku) < unitsOf(ticket, sku))) return "SOLD_OUT";
    this.#held.set(ticket.id, { ticket, skus: new Set(skus) });
    return "admitted";
  }

  /** An entry is heard if it is the next one of its SKU. */
  hear(entry: LedgerEntry): void {
    if (entry.version !== (this.heard.get(entry.sku) ?? 0) + 1) return;
    this.heard.set(entry.sku, entry.version);
    const id = entry.reservationId ?? "";
    const decides = entry.operation === "reserve" || entry.operation === "reject";
    if (!decides) return;
    this.#letGo(id, entry.sku);
    const state = entry.operation === "reserve" ? "reserved" : "rejected";
    this.#remember(id, state, this.#line.ledger.order(id).fingerprint);
  }

  /** A ticket was decided before: it lets go of what was decided at a version that was heard. */
  settle(id: string): void {
    const order = this.#line.ledger.order(id);
    const early = order.saleId === null;
    const state = order.state === "rejected" ? "rejected" : "reserved";
    this.#remember(id, early ? order.state : state, order.fingerprint);
    for (const sku of [...(this.#held.get(id)?.skus ?? [])]) {
      const line = order.lines.find((each) => each.sku === sku);
      if ((this.heard.get(sku) ?? 0) >= (line?.decidedVersion ?? 0)) this.#letGo(id, sku);
    }
  }

  /** All of the log is heard; undecided tickets stay if they were not lost with the keys. */
  rebuild(lost: boolean): void {
    for (const sku of ["A", "B"]) this.heard.set(sku, this.#log(sku).length);
    this.answers.clear();
    const { orders } = this.#line.ledger.book;
    for (const order of orders.values()) {
      const first = order.state === "rejected" ? "rejected" : "reserved";
      // Decided before its ticket was seen: it is what it was then.
      const state = order.saleId === null ? order.state : first;
      this.#remember(order.id, state, order.fingerprint);
    }
    for (const id of [...this.#held.keys()]) if (lost || orders.has(id)) this.#held.delete(id);
  }

  #remember(id: string, state: string, content: string | null): void {
    if (!this.answers.has(id)) this.answers.set(id, { state, content });
  }

  #letGo(id: string, sku: string): void {
    const held = this.#held.get(id);
    held?.skus.delete(sku);
    if (held?.skus.size === 0) this.#held.delete(id);
  }

  #owned(sku: string, buyer: string): number {
    let units = 0;
    for (const entry of this.#log(sku).slice(0, this.heard.get(sku) ?? 0)) {
      const order = this.#line.ledger.book.orders.get(entry.reservationId ?? "");
      if (order?.buyerId !== buyer) continue;
      if (entry.operation === "reserve") units += entry.quantity;
      if (["cancel", "expire", "refund"].includes(entry.operation)) units -= entry.quantity;
    }
    for (const { ticket, skus } of this.#held.values()) {
      if (ticket.buyerId === buyer && skus.has(sku)) units += unitsOf(ticket, sku);
    }
    return units;
  }

  #log(sku: string): readonly LedgerEntry[] {
    return this.#line.ledger.log.filter((entry) => entry.sku === sku);
  }
}

function unitsOf(ticket: ReserveTicket, sku: string): number {
  return ticket.lines.find((line) => line.sku === sku)?.quantity ?? 0;
}
