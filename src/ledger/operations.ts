import type { OperationRecord } from "../domain/command.ts";
import { operationOf } from "./row-parsers.ts";
import { portions, type SqlReader } from "./sql-database.ts";

const keysMax = 256;

const operationColumns = `
  scope, operation_id, operation, fingerprint, code, detail, versions, content, at_ms, actor, reason`;

const operationsByKey = `
  select ${operationColumns} from operations where (scope, operation_id) in (?)`;

const operationsOfScope = `
  select ${operationColumns} from operations where scope = ? order by at_ms, operation_id`;

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

export async function operationsOf(
  reader: SqlReader,
  scope: string,
): Promise<readonly OperationRecord[]> {
  return (await reader.all(operationsOfScope, [scope])).map(operationOf);
}
