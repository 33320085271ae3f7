import { invariant } from "../domain/invariant.ts";
import type { SqlParam, SqlValue } from "./sql-database.ts";

type Values = readonly SqlValue[];
type List = Values | readonly Values[];

/** Rows and characters of one statement: the server takes no packet without bound. */
const rowsMax = 500;
const charactersMax = 1_000_000;

const insertOfValues = /^(\s*insert into \w+\s*\()([^)]*)(\)\s+values\s+\()(.*)\)\s*$/s;
const updateByKeys = /^\s*update (\w+)\s+set\s+(.*)\s+where\s+(.*)$/s;
const oneColumn = /^\s*(\w+) = \?\s*$/;
const hexLiteral = "x'";
const isHex = /^([0-9a-f]{2})*$/;

type Update = {
  readonly table: string;
  readonly set: readonly string[];
  readonly where: readonly string[];
};
/** A statement and how many of the rows it is for. */
export type Batch = { readonly text: string; readonly rows: number };

/**
 * Statements with their values spelled out, so that one of any length is one round trip. Each
 * value has one of four types, checked here; the driver escapes what is text.
 */
export class MysqlStatements {
  readonly #escape: (text: string) => string;
  /** `values row(…)` on MySQL, `values (…)` on MariaDB. */
  readonly #row: "row" | "";
  readonly #updates = new Map<string, Update | null>();
  /** What stands between the values, by statement: there are as many as the ledger has. */
  readonly #parts = new Map<string, readonly string[]>();

  constructor(escapeText: (text: string) => string, row: "row" | "") {
    this.#escape = escapeText;
    this.#row = row;
  }

  spell(sql: string, params: readonly SqlParam[]): string {
    const parts = this.#partsOf(sql);
    invariant(parts.length === params.length + 1, () => `${params.length} parameters for: ${sql}`);
    let text = parts[0] ?? "";
    for (const [index, param] of params.entries()) {
      const isInHex = parts[index]?.endsWith(hexLiteral) === true;
      if (isInHex) text += hexDigits(param);
      else text += isList(param) ? this.#list(param) : this.#value(param);
      text += parts[index + 1] ?? "";
    }
    return text;
  }

  #partsOf(sql: string): readonly string[] {
    const known = this.#parts.get(sql);
    if (known !== undefined) return known;
    const parts = sql
      // In SQLite `cross join` keeps its order; here that has a name of its own.
      .replaceAll("cross join", "straight_join")
      // Two literals instead of two calls for every row of the log.
      .replaceAll("unhex(?)", `${hexLiteral}?'`)
      .split("?");
    this.#parts.set(sql, parts);
    return parts;
  }

  /**
   * One statement for many rows, or for each portion of them. A statement that cannot be spelled so
   * is refused: as one a row it would only be slow, and nobody would hear of it.
   */
  many(sql: string, rows: readonly Values[]): Iterable<Batch> {
    const insert = insertOfValues.exec(sql);
    if (insert !== null) return this.#inserts(insert, rows);
    const update = this.#updateOf(sql);
    invariant(update !== null, () => `a statement that cannot take many rows: ${sql}`);
    if (rows.length > 1) return this.#updatesOf(update, rows);
    return rows.map((row) => ({ text: this.spell(sql, row), rows: 1 }));
  }

  /** A column that is null in every row is left out: to read it costs the server as much. */
  *#inserts(
    [, head = "", columns = "", middle = "", places = ""]: RegExpExecArray,
    all: readonly Values[],
  ): Generator<Batch> {
    const isUsed = (_: unknown, index: number): boolean => all.some((row) => row[index] !== null);
    const used = places.split(",").map(isUsed);
    const only = <T>(list: readonly T[]): readonly T[] => list.filter((_, index) => used[index]);
    const [kept, tuple] = [only(columns.split(",")), `(${only(places.split(",")).join(",")})`];
    const start = `${head}${kept.join(",")}${middle.slice(0, -1)}`;
    const rows = used.every(Boolean) ? all : all.map(only);
    yield* inBatches(rows, (row, isFirst) => {
      return `${isFirst ? start : ", "}${this.spell(tuple, row)}`;
    });
  }

  /** Each row is looked up by its keys, from a table that the statement brings along. */
  *#updatesOf({ table, set, where }: Update, rows: readonly Values[]): Generator<Batch> {
    const at = (index: number): string => `k.c${index}`;
    const keys = where.map((column, index) => `t.${column} = ${at(set.length + index)}`);
    const assignments = set.map((column, index) => `t.${column} = ${at(index)}`).join(", ");
    const tail = `) k straight_join ${table} t on ${keys.join(" and ")} set ${assignments}`;
    const texts = inBatches(rows, (row, isFirst, isSecond) => {
      if (!isFirst) return `${isSecond ? " union all values " : ", "}${this.#rowOf(row)}`;
      const columns = row.map((value, index) => `${this.#value(value)} as c${index}`);
      return ["select", columns.join(", ")].join(" ");
    });
    for (const { text, rows: count } of texts) {
      yield { text: ["update (", text, tail].join(""), rows: count };
    }
  }

  #updateOf(sql: string): Update | null {
    const known = this.#updates.get(sql);
    if (known !== undefined) return known;
    const [, table, set = "", where = ""] = updateByKeys.exec(sql) ?? [];
    const [columns, keys] = [columnsOf(set.split(",")), columnsOf(where.split(" and "))];
    const isPlain = table !== undefined && columns !== null && keys !== null;
    const update = isPlain ? { table, set: columns, where: keys } : null;
    this.#updates.set(sql, update);
    return update;
  }

  #list(list: List): string {
    invariant(list.length > 0, "an empty list in a statement");
    const members = list.map((each) => (isRow(each) ? this.#rowOf(each) : this.#value(each)));
    return `${isRow(list[0]) ? "values " : ""}${members.join(", ")}`;
  }

  #rowOf(row: Values): string {
    return `${this.#row}(${row.map((value) => this.#value(value)).join(", ")})`;
  }

  #value(value: unknown): string {
    if (value === null) return "null";
    if (typeof value === "string") return this.#escape(value);
    if (typeof value === "number") {
      invariant(Number.isSafeInteger(value), `${value} in a statement: expected a safe integer`);
      return String(value);
    }
    invariant(Buffer.isBuffer(value), `a ${typeof value} in a statement`);
    return `x'${value.toString("hex")}'`;
  }
}

function hexDigits(param: SqlParam | undefined): string {
  invariant(typeof param === "string" && isHex.test(param), "expected hex digits in a statement");
  return param;
}

function* inBatches(
  rows: readonly Values[],
  spell: (row: Values, isFirst: boolean, isSecond: boolean) => string,
): Generator<Batch> {
  let text = "";
  let count = 0;
  for (const row of rows) {
    text += spell(row, count === 0, count === 1);
    count += 1;
    if (count < rowsMax && text.length < charactersMax) continue;
    yield { text, rows: count };
    text = "";
    count = 0;
  }
  if (count > 0) yield { text, rows: count };
}

function columnsOf(parts: readonly string[]): readonly string[] | null {
  const columns = parts.map((part) => oneColumn.exec(part)?.[1]);
  const known = columns.filter((column) => column !== undefined);
  return known.length === parts.length ? known : null;
}

function isList(param: SqlParam): param is List {
  return Array.isArray(param);
}

function isRow(member: SqlValue | Values | undefined): member is Values {
  return Array.isArray(member);
}
