import type { Static } from "typebox";
import type { AuditPage } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { csvOf } from "./csv.ts";

type Listed = Static<typeof AuditPage>;
type Audited = Listed["items"][number];

const columns = ["id", "at", "actor", "action", "subject", "reason", "before", "after"] as const;

/** Everything that the filters let pass, page by page, into one file. */
export async function exportAudit(path: string, format: "csv" | "ndjson"): Promise<void> {
  const records: Audited[] = [];
  for (let next: string | null = path; next !== null; ) {
    const page: Listed = await call<Listed>(next);
    records.push(...page.items);
    next = page.next;
  }
  const text =
    format === "csv"
      ? csvOf(
          columns,
          records.map((record) => columns.map((name) => record[name])),
        )
      : records.map((record) => `${JSON.stringify(record)}\n`).join("");
  save(text, { name: `audit-log.${format}`, type: format === "csv" ? "text/csv" : "text/plain" });
}

function save(text: string, { name, type }: { name: string; type: string }): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
