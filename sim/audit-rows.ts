/** Rows as the database gives them: the auditor shares neither types nor rules with the engine. */
export type Rows = (sql: string, params?: readonly (string | number)[]) => Promise<readonly Row[]>;
export type Row = Readonly<Record<string, unknown>>;

export function num(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw new Error(`column ${column} holds ${String(value)}, not a number`);
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new Error(`column ${column} holds ${String(value)}, not a text`);
}
