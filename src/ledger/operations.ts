import type { OperationRecord } from "../domain/command.ts";
import { operationOf } from "./row-parsers.ts";
import { portions, type SqlReader } from "./sql-database.ts";

const keysMax = 256;

const operationColumns = `
  p.scope, p.operation_id, p.operation, p.fingerprint, p.code, p.detail, p.versions, p.content,
  p.at_ms, p.actor, p.reason`;

const operationsByKey = `
  with k (scope, operation_id) as (?)
  select ${operationColumns}
  from k cross join operations p on p.scope = k.scope and p.operation_id = k.operation_id`;

const operationsOfScopes = `
  select ${operationColumns} from operations p
  where p.scope in (?) order by p.at_ms, p.operation_id`;

export type OperationKey = { readonly scope: string; readonly operationId: string };

export async function operationsBy(
  reader: SqlReader,
  keys: readonly OperationKey[],
): Promise<readonly OperationRecord[]> {
  const found: OperationRecord[] = [];
  for (const part of portions(keys, keysMax)) {
    const pairs = part.map(({ scope, operationId }) => [scope, operationId]);
    found.push(...(await reader.all(operationsByKey, [pairs])).map(operationOf));
  }
  return found;
}

/** By scope, each scope's in order of time. */
export async function operationsOf(
  reader: SqlReader,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, readonly OperationRecord[]>> {
  const found = new Map<string, OperationRecord[]>();
  for (const part of portions(scopes, keysMax)) {
    for (const row of await reader.all(operationsOfScopes, [part])) {
      const operation = operationOf(row);
      const others = found.get(operation.scope);
      if (others === undefined) found.set(operation.scope, [operation]);
      else others.push(operation);
    }
  }
  return found;
}
