import { invariant } from "../domain/invariant.ts";
import type { Row } from "./sql-database.ts";

/**
 * Columns of a row as the types they must have. What the ledger holds was checked before it was
 * written, so anything else here is damage.
 */
export function text(row: Row, column: string): string {
  const value = row[column];
  invariant(
    typeof value === "string",
    () => `column ${column}: expected text, found ${typeof value}`,
  );
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  invariant(
    typeof value === "number" && Number.isSafeInteger(value),
    () => `column ${column}: expected a safe integer, found ${String(value)}`,
  );
  return value;
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

export function bytes(row: Row, column: string): Buffer {
  const value = row[column];
  invariant(Buffer.isBuffer(value), `column ${column}: expected bytes, found ${typeof value}`);
  return value;
}

export function json(row: Row, column: string): unknown {
  const value: unknown = JSON.parse(text(row, column));
  return value;
}

export function jsonObject(row: Row, column: string): Readonly<Record<string, unknown>> {
  const value = json(row, column);
  invariant(isObject(value), `column ${column}: expected a JSON object`);
  return value;
}

/** A column parsed by a rule of the domain; null stays null. */
export function parsed<T>(row: Row, column: string, parse: (value: string) => T): T | null {
  const value = textOrNull(row, column);
  return value === null ? null : parse(value);
}

export function member<T extends string>(
  row: Row,
  column: string,
  isMember: (value: string) => value is T,
): T {
  const value = text(row, column);
  invariant(isMember(value), () => `column ${column}: unexpected "${value}"`);
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
