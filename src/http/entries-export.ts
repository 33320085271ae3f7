import { Readable } from "node:stream";
import type { EntryQuery, EntryRow } from "../ledger/ledger.ts";
import { entryBody } from "./bodies.ts";
import type { EntryBody } from "./contract.ts";

/** Where an export reads from: one page of the ledger at a time, after the last version. */
export type EntryPages = {
  readonly read: (query: EntryQuery) => Promise<readonly EntryRow[]>;
  readonly query: Omit<EntryQuery, "limit">;
  /** Null: to the end. */
  readonly limit: number | null;
};

const pageRows = 500;

export function exportStream(text: AsyncIterable<string>): Readable {
  return Readable.from(text, { objectMode: false });
}

export async function* entriesAsLines(pages: EntryPages): AsyncGenerator<string> {
  for await (const entries of entryPages(pages)) {
    yield `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`;
  }
}

/** RFC 4180 with CRLF; the byte order mark makes Excel read UTF-8. */
export async function* entriesAsCsv(pages: EntryPages, bom: boolean): AsyncGenerator<string> {
  yield `${bom ? "\ufeff" : ""}${columns.map(([name]) => name).join(",")}\r\n`;
  for await (const entries of entryPages(pages)) {
    yield entries.map((entry) => `${csvRow(entry)}\r\n`).join("");
  }
}

async function* entryPages(pages: EntryPages): AsyncGenerator<readonly EntryBody[]> {
  let { after } = pages.query;
  let left = pages.limit ?? Number.MAX_SAFE_INTEGER;
  while (left > 0) {
    const limit = Math.min(left, pageRows);
    const entries = await pages.read({ ...pages.query, after, limit });
    if (entries.length > 0) yield entries.map(entryBody);
    if (entries.length < limit) return;
    after = entries.at(-1)?.version ?? after;
    left -= entries.length;
  }
}

type Column = readonly [name: string, value: (entry: EntryBody) => string | number | null];

const columns: readonly Column[] = [
  ["sku", (entry) => entry.sku],
  ["version", (entry) => entry.version],
  ["operation", (entry) => entry.operation],
  ["operationId", (entry) => entry.operationId],
  ["reservationId", (entry) => entry.reservationId],
  ["saleId", (entry) => entry.saleId],
  ["buyerId", (entry) => entry.buyerId],
  ["quantity", (entry) => entry.quantity],
  ["from", (entry) => entry.from],
  ["to", (entry) => entry.to],
  ["available", (entry) => entry.after.available],
  ["reserved", (entry) => entry.after.reserved],
  ["sold", (entry) => entry.after.sold],
  ["frozen", (entry) => entry.after.frozen],
  ["lost", (entry) => entry.after.lost],
  ["actor", (entry) => entry.actor],
  ["reason", (entry) => entry.reason],
  ["at", (entry) => entry.at],
  ["previousHash", (entry) => entry.previousHash],
  ["hash", (entry) => entry.hash],
  ["publication", (entry) => entry.publication],
];

function csvRow(entry: EntryBody): string {
  return columns.map(([, value]) => csvField(value(entry))).join(",");
}

/** A spreadsheet runs what begins like a formula: such text gets an apostrophe in front. */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
