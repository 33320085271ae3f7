import type { Instant } from "../domain/values.ts";

export type SqlValue = string | number | Buffer | null;

/**
 * A list stands for one `?` in `in (?)`; a list of lists for the rows of `with k (a, b) as (?)`.
 * The adapter spells it out. A list is never empty.
 *
 * Pairs are joined, not asked for by `(a, b) in …`: SQLite tries every `a` with every `b` there.
 */
export type SqlParam = SqlValue | readonly SqlValue[] | readonly (readonly SqlValue[])[];

export type Row = Readonly<Record<string, unknown>>;

export interface SqlReader {
  all(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]>;
}

/** Statements inside one transaction, done in the order of the calls; of no use after its end. */
export interface SqlSession extends SqlReader {
  /** How many rows were changed. */
  run(sql: string, params: readonly SqlParam[]): Promise<number>;
  /** One statement for many rows; each must change exactly one row. */
  many(sql: string, rows: readonly (readonly SqlValue[])[]): Promise<void>;
  /** Inserts into a table with a generated integer key: the keys, in the order of the rows. */
  insert(sql: string, rows: readonly (readonly SqlValue[])[]): Promise<readonly number[]>;
}

/** A database across the network: what goes on here while it is at work. */
export type Remote = {
  /** Commands that are decided while those before them are written. */
  readonly decidedAhead: number;
  /** Lets answers of the database, and what else has come, in. */
  readonly turn: () => Promise<void>;
};

/**
 * The few things that a ledger needs of a database, so that the statements are written once. A
 * plain read sees committed data only, all of it at one moment. Failures are `Fault`s; a broken
 * constraint is an `InvariantError`, because the rules stand before the write.
 */
export interface SqlDatabase extends SqlReader {
  /** Left out: it is in this process, and nothing goes on while it works. */
  readonly remote?: Remote;
  /** Ends a `select` that locks its rows; empty where a transaction locks the whole database. */
  readonly forUpdate: "" | " for update";
  /** Stands behind `inventory i` where its rows must be found, and so locked, in SKU order. */
  readonly bySku?: " force index (inventory_by_id)";
  /** Long reads go here: they hold up neither writers nor other readers. */
  readonly slow: SqlReader;
  /** Writes are durable when it resolves; none has happened when it throws, unless UNKNOWN. */
  transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /** Several reads that see the database at one moment. */
  snapshot<T>(work: (reader: SqlReader) => Promise<T>): Promise<T>;
  /** The clock that decides, where the database has one of its own. */
  now?(reader: SqlReader): Promise<Instant>;
  close(): Promise<void>;
}

/** What a migration runner needs besides: one caller at a time, over all processes. */
export interface SqlSchema {
  readonly dialect: "sqlite" | "mysql";
  exclusively<T>(work: (session: SchemaSession) => Promise<T>): Promise<T>;
}

export interface SchemaSession extends SqlSession {
  /** Several statements, without parameters. */
  script(sql: string): Promise<void>;
}

/** Lists in portions, so that no statement grows without bound; nothing for an empty list. */
export function portions<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let from = 0; from < list.length; from += size) parts.push(list.slice(from, from + size));
  return parts;
}
