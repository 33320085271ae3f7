import type { RequestRecord } from "../domain/command.ts";
import { type Asked, type RequestOrigin, readOrigin } from "../domain/request-origin.ts";
import { integer, text } from "./rows.ts";
import type { Row, SqlReader, SqlValue } from "./sql-database.ts";

/** Which call changed what. A reservation's own call stands in its order's row. */
export const insertRequest = `
  insert into requests (request_id, trace_id, scope, operation, operation_id, at_ms)
  values (?, ?, ?, ?, ?, ?)`;

const requestsOfScope = `
  select request_id, trace_id, scope, operation, operation_id, at_ms
  from requests where scope = ? order by request_no`;

export function requestValues(record: RequestRecord): readonly SqlValue[] {
  const { origin, scope, operation, operationId, at } = record;
  return [origin.requestId, origin.traceId, scope, operation, operationId, at];
}

/** In the order in which they were decided. */
export async function requestsOf(
  reader: SqlReader,
  scope: string,
): Promise<readonly RequestRecord[]> {
  const rows = await reader.all(requestsOfScope, [scope]);
  return rows.flatMap((row) => {
    const { origin } = originIn(row);
    return origin === undefined ? [] : [requestOf(row, origin)];
  });
}

function requestOf(row: Row, origin: RequestOrigin): RequestRecord {
  return {
    origin,
    scope: text(row, "scope"),
    operation: text(row, "operation"),
    operationId: text(row, "operation_id"),
    at: integer(row, "at_ms"),
  };
}

/** Absent where no call stands. */
export function originIn(row: Row): Asked {
  return readOrigin(row["request_id"], row["trace_id"]);
}
