import type { Scene } from "./scene.ts";

/** A statement of the ledger's administrator, and what came of it. */
export type Query = Parameters<Parameters<Scene["sql"]>[0]>[0];

/** The last column of each row. */
export async function valuesOf(query: Query, statement: string): Promise<readonly unknown[]> {
  const rows = await query(statement);
  if (!Array.isArray(rows)) throw new Error(`no rows: ${statement}`);
  return rows.map((each: object) => Object.values(each).at(-1));
}

export async function numbersOf(query: Query, statement: string): Promise<readonly number[]> {
  return (await valuesOf(query, statement)).map(Number);
}

export async function textsOf(query: Query, statement: string): Promise<readonly string[]> {
  return (await valuesOf(query, statement)).map(String);
}

/** A counter of the server. */
export async function statusOf(query: Query, name: string): Promise<number> {
  const [value = Number.NaN] = await numbersOf(query, `show global status like '${name}'`);
  return value;
}
