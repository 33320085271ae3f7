import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** What an export reads: one page at a time, each after the last row of the one before. */
export type Listing<Row> = {
  readonly read: (after: Row | null, limit: number) => Promise<readonly Row[]>;
  /** Null: to the end. */
  readonly limit: number | null;
};

export type Column<Row> = readonly [name: string, value: (row: Row) => CsvValue];
type CsvValue = string | number | null;

export type ExportForm<Row> = {
  readonly format: "csv" | "ndjson";
  readonly columns: readonly Column<Row>[];
  /** The byte order mark makes Excel read UTF-8. */
  readonly bom: boolean;
  /** The file's name without what its format adds. */
  readonly name: string;
};

export const pageRows = 500;

/** All that match, as fast as it is read. */
export function sendExport<Row>(
  reply: FastifyReply,
  listing: Listing<Row>,
  { format, columns, bom, name }: ExportForm<Row>,
): FastifyReply {
  const isCsv = format === "csv";
  const text = isCsv ? asCsv(listing, columns, bom) : asLines(listing);
  return reply
    .type(isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8")
    .header("content-disposition", `attachment; filename="${name}.${format}"`)
    .send(Readable.from(text, { objectMode: false }));
}

export async function* asLines<Row>(listing: Listing<Row>): AsyncGenerator<string> {
  for await (const rows of pagesOf(listing)) {
    yield `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
  }
}

/** RFC 4180 with CRLF. */
export async function* asCsv<Row>(
  listing: Listing<Row>,
  columns: readonly Column<Row>[],
  bom: boolean,
): AsyncGenerator<string> {
  yield `${bom ? "\ufeff" : ""}${columns.map(([name]) => name).join(",")}\r\n`;
  for await (const rows of pagesOf(listing)) {
    yield rows
      .map((row) => `${columns.map(([, value]) => csvField(value(row))).join(",")}\r\n`)
      .join("");
  }
}

async function* pagesOf<Row>({ read, limit }: Listing<Row>): AsyncGenerator<readonly Row[]> {
  let after: Row | null = null;
  let left = limit ?? Number.MAX_SAFE_INTEGER;
  while (left > 0) {
    const asked = Math.min(left, pageRows);
    const rows: readonly Row[] = await read(after, asked);
    if (rows.length > 0) yield rows;
    if (rows.length < asked) return;
    after = rows.at(-1) ?? after;
    left -= rows.length;
  }
}

/** A spreadsheet runs what begins like a formula: such text gets an apostrophe in front. */
export function csvField(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
