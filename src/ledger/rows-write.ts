import { invariant } from "../domain/invariant.ts";
import type { SqlSession, SqlValue } from "./sql-database.ts";

export type Values = readonly SqlValue[];

export async function write(
  session: SqlSession,
  sql: string,
  rows: readonly Values[],
): Promise<void> {
  if (rows.length > 0) await session.many(sql, rows);
}

export function known<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  invariant(value !== undefined, () => `${String(key)} is not in the working set`);
  return value;
}

export function keyAt(keys: readonly number[], index: number): number {
  const key = keys[index];
  invariant(key !== undefined, () => `expected more than ${keys.length} keys`);
  return key;
}
