import type { AuditRecord } from "../domain/command.ts";
import type { AuditQuery } from "../ledger/ledger.ts";
import type { AuditRecordBody } from "./contract.ts";
import { csvField } from "./entries-export.ts";
import { isoTime } from "./input.ts";

type Numbered = AuditRecord & { readonly id: number };

/** Where an export reads from: one page at a time, the newest first. */
export type AuditPages = {
  readonly read: (query: AuditQuery) => Promise<readonly Numbered[]>;
  readonly query: Omit<AuditQuery, "limit">;
  /** Null: to the end. */
  readonly limit: number | null;
};

const pageRows = 500;

export async function* auditAsLines(pages: AuditPages): AsyncGenerator<string> {
  for await (const records of auditPages(pages)) {
    yield `${records.map((record) => JSON.stringify(record)).join("\n")}\n`;
  }
}

/** RFC 4180 with CRLF; the byte order mark makes Excel read UTF-8. */
export async function* auditAsCsv(pages: AuditPages, bom: boolean): AsyncGenerator<string> {
  yield `${bom ? "\ufeff" : ""}${columns.join(",")}\r\n`;
  for await (const records of auditPages(pages)) {
    yield records.map((record) => `${csvRow(record)}\r\n`).join("");
  }
}

const columns = ["id", "at", "actor", "action", "subject", "reason", "before", "after"] as const;

function csvRow(record: AuditRecordBody): string {
  return columns
    .map((name) => {
      const value = record[name];
      const isPlain = typeof value === "string" || typeof value === "number";
      return csvField(isPlain ? value : jsonOf(value));
    })
    .join(",");
}

function jsonOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function auditBody(record: Numbered): AuditRecordBody {
  return { ...record, at: isoTime(record.at) };
}

async function* auditPages(pages: AuditPages): AsyncGenerator<readonly AuditRecordBody[]> {
  let { before } = pages.query;
  let left = pages.limit ?? Number.MAX_SAFE_INTEGER;
  while (left > 0) {
    const limit = Math.min(left, pageRows);
    const records = await pages.read({ ...pages.query, before, limit });
    if (records.length > 0) yield records.map(auditBody);
    if (records.length < limit) return;
    before = records.at(-1)?.id ?? before;
    left -= records.length;
  }
}
