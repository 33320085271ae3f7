import type Sqlite from "better-sqlite3";
import { invariant } from "../domain/invariant.ts";
import type { Row, SqlParam, SqlValue } from "./sql-database.ts";

type Values = readonly SqlValue[];
type RunResult = { readonly changes: number; readonly lastInsertRowid: number | bigint };
type Statement = Sqlite.Statement<unknown[], Row>;

/** As many as are there of the first, then of the second; the rest one by one. */
const rowsAtOnce = [64, 16];
const insertedTuple = /^\s*insert into [^)]*\)\s+values (\(.*\))$/s;

/**
 * Prepared statements, kept by their text. A list is padded to a power of two, so a statement
 * has few lengths and each is prepared once.
 */
export class StatementCache {
  readonly #database: Sqlite.Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #parts = new Map<string, readonly string[]>();

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  all(sql: string, params: readonly SqlParam[]): readonly Row[] {
    const { statement, values } = this.#expand(sql, params);
    return statement.all(values);
  }

  run(sql: string, params: readonly SqlParam[]): number {
    const { statement, values } = this.#expand(sql, params);
    return statement.run(values).changes;
  }

  /**
   * Runs an `insert … values (…)` for several rows at a time, which saves a quarter of its cost,
   * and any other statement for one. Tells each run with the number of its rows.
   *
   * Of several rows SQLite would copy every page that they touch, to undo the statement alone;
   * nobody here goes on after a failed one, so `or rollback` undoes the transaction instead. It
   * needs all foreign keys of the table to be looked at when the transaction ends.
   */
  each(sql: string, rows: readonly Values[], ran: (result: RunResult, rows: number) => void): void {
    const tuple = insertedTuple.exec(sql)?.[1];
    let next = 0;
    if (tuple !== undefined) {
      for (const size of rowsAtOnce) {
        if (next + size > rows.length) continue;
        const text = sql + `, ${tuple}`.repeat(size - 1);
        const statement = this.plain(text.replace("insert", "insert or rollback"));
        for (; next + size <= rows.length; next += size) {
          ran(statement.run(valuesOf(rows, next, size)), size);
        }
      }
    }
    const statement = this.plain(sql);
    for (const row of rows.slice(next)) ran(statement.run(row), 1);
  }

  /** A statement without lists. */
  plain(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare<unknown[], Row>(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #expand(
    sql: string,
    params: readonly SqlParam[],
  ): { readonly statement: Statement; readonly values: readonly SqlParam[] } {
    if (!params.some(isList)) return { statement: this.plain(sql), values: params };
    const parts = this.#partsOf(sql);
    invariant(parts.length === params.length + 1, `${params.length} parameters for: ${sql}`);
    let text = parts[0] ?? "";
    const values: SqlValue[] = [];
    params.forEach((param, index) => {
      text += isList(param) ? placeholders(param, values) : "?";
      if (!isList(param)) values.push(param);
      text += parts[index + 1] ?? "";
    });
    return { statement: this.plain(text), values };
  }

  #partsOf(sql: string): readonly string[] {
    const known = this.#parts.get(sql);
    if (known !== undefined) return known;
    const parts = sql.split("?");
    this.#parts.set(sql, parts);
    return parts;
  }
}

/** The values of some of the rows, one after the other; in loops, being called for every order. */
function valuesOf(rows: readonly Values[], from: number, size: number): Values {
  const width = rows[from]?.length ?? 0;
  const values = new Array<SqlValue>(size * width);
  let at = 0;
  for (let index = from; index < from + size; index += 1) {
    const row = rows[index] ?? [];
    for (let column = 0; column < width; column += 1) values[at++] = row[column] ?? null;
  }
  return values;
}

type List = readonly SqlValue[] | readonly (readonly SqlValue[])[];

function isList(param: SqlParam): param is List {
  return Array.isArray(param);
}

function placeholders(list: List, values: SqlValue[]): string {
  const last = list.at(-1);
  invariant(last !== undefined, "an empty list in a statement");
  const length = 2 ** Math.ceil(Math.log2(list.length));
  for (const member of list) {
    if (isRow(member)) values.push(...member);
    else values.push(member);
  }
  if (!isRow(last)) {
    for (let n = list.length; n < length; n += 1) values.push(last);
    return repeat("?", length);
  }
  // A row that is said twice would be joined twice; nothing equals null.
  for (let n = list.length * last.length; n < length * last.length; n += 1) values.push(null);
  return `values ${repeat(`(${repeat("?", last.length)})`, length)}`;
}

function isRow(member: SqlValue | readonly SqlValue[]): member is readonly SqlValue[] {
  return Array.isArray(member);
}

function repeat(text: string, times: number): string {
  return new Array<string>(times).fill(text).join(", ");
}
