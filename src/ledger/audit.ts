import type { AuditRecord } from "../domain/command.ts";
import type { AuditQuery } from "./ledger.ts";
import { auditOf } from "./row-parsers.ts";
import type { SqlReader, SqlValue } from "./sql-database.ts";

export const insertAudit = `
  insert into audit_log (at_ms, actor, action, subject, reason, state_before, state_after)
  values (?, ?, ?, ?, ?, ?, ?)`;

/** A filter that is null lets everything pass. */
const auditsNewestFirst = `
  select id, at_ms, actor, action, subject, reason, state_before, state_after from audit_log
  where id < ?
    and (? is null or actor = ?)
    and (? is null or action = ?)
    and (? is null or subject = ?)
    and at_ms between ? and ?
  order by id desc limit ?`;

export function auditValues(record: AuditRecord): readonly SqlValue[] {
  return [
    record.at,
    record.actor,
    record.action,
    record.subject,
    record.reason,
    JSON.stringify(record.before ?? null),
    JSON.stringify(record.after ?? null),
  ];
}

export async function auditLog(
  reader: SqlReader,
  query: AuditQuery,
): Promise<readonly (AuditRecord & { readonly id: number })[]> {
  const { actor, action, subject } = query;
  const rows = await reader.all(auditsNewestFirst, [
    query.before ?? Number.MAX_SAFE_INTEGER,
    actor,
    actor,
    action,
    action,
    subject,
    subject,
    query.from ?? 0,
    query.to ?? Number.MAX_SAFE_INTEGER,
    query.limit,
  ]);
  return rows.map(auditOf);
}
