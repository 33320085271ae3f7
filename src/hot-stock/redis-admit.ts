import { isRejection } from "../domain/rejection.ts";
import type { Ticket } from "../domain/ticket.ts";
import { type Instant, type SkuId, skuId } from "../domain/values.ts";
import type { Admission } from "./hot-stock.ts";
import { stateOf, ticketWords } from "./redis-words.ts";

/** What one script call admits: bounds how long it keeps the server from all others. */
const ticketsMax = 100;
const linesMax = 1_000;

export type Batch = { readonly skus: readonly SkuId[]; readonly words: readonly string[] };

/** In order; a batch ends where the next ticket would make it too long. */
export function* batchesOf(tickets: readonly Ticket[]): Generator<Batch> {
  let skus = new Set<SkuId>();
  let words: string[] = [];
  let lines = 0;
  for (const ticket of tickets) {
    const isFull = words.length >= 2 * ticketsMax || lines + ticket.lines.length > linesMax;
    if (isFull && words.length > 0) {
      yield { skus: [...skus], words };
      skus = new Set();
      words = [];
      lines = 0;
    }
    for (const { sku } of ticket.lines) skus.add(sku);
    words.push(ticket.id, ticketWords(ticket));
    lines += ticket.lines.length;
  }
  if (words.length > 0) yield { skus: [...skus], words };
}

/** A script's word about one ticket. */
export function admissionOf(words: string, now: Instant): Admission {
  const [word = "", first, second] = words.split(" ");
  switch (word) {
    case "ADMITTED":
      return { kind: "admitted", admittedAt: now };
    case "REPLAYED":
      return { kind: "replayed", state: first === "pending" ? "pending" : stateOf(first) };
    case "BUSY":
      return { kind: "busy" };
    case "MISSING":
      return first === "sale"
        ? { kind: "missing", what: "sale", sku: null }
        : { kind: "missing", what: "sku", sku: skuId(second) };
    default:
      if (!isRejection(word)) throw new TypeError(`admit.lua: an unknown word: ${word}`);
      return { kind: "refused", code: word, sku: first === undefined ? null : skuId(first) };
  }
}
