import { closeSync, existsSync, openSync, realpathSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { Fault } from "../domain/fault.ts";
import { InvariantError, invariant } from "../domain/invariant.ts";
import { Disturbed } from "./disturbed.ts";
import type {
  Row,
  SchemaSession,
  SqlDatabase,
  SqlParam,
  SqlReader,
  SqlSchema,
  SqlSession,
  SqlValue,
} from "./sql-database.ts";
import { StatementCache } from "./sqlite-statements.ts";
import { Turn, takeTurn } from "./sqlite-turn.ts";

export const memoryPath = ":memory:";

/** Milliseconds that a transaction waits for another process's. */
const busyTimeoutMs = 10_000;
/** Pages of the log that are written back together: random index pages are written once. */
const checkpointPages = 8_192;
/**
 * Pages that a connection keeps: a memory that fills and then stays. What is not in it is read
 * from the system's own cache, which costs microseconds; only the writer comes back to its pages.
 */
const writerCacheKibibytes = 24_576;
const readerCacheKibibytes = 4_096;

export type SqliteOptions = {
  readonly readOnly: boolean;
  /** Called between the statements of long reads, to let everybody else run. */
  readonly pause: () => Promise<void>;
};

type Shared = { readonly turn?: Turn; readonly release?: () => void };

/** One file, or `:memory:` for one process and one life. */
export async function openSqlite(path: string, options: SqliteOptions): Promise<SqliteDatabase> {
  const Driver = await loadDriver();
  const connect = (cacheKibibytes = readerCacheKibibytes): Sqlite.Database =>
    connectTo(Driver, path, { readOnly: options.readOnly, cacheKibibytes });
  try {
    if (path === memoryPath || options.readOnly) return new SqliteDatabase([connect()], options);
    // The file holds secrets: nobody but its owner reads it.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    const shared = takeTurn(realpathSync(path));
    const connections = [connect(writerCacheKibibytes), connect(), connect()];
    return new SqliteDatabase(connections, { ...options, ...shared });
  } catch (error) {
    throw sqliteFault(error, `cannot open ${path}`);
  }
}

/**
 * A transaction is `begin immediate`, so it never fails half-way for another writer. A file has
 * a connection for the writer, one for short and one for long reads; in memory there is one, and
 * whoever reads waits for the transaction in hand.
 */
export class SqliteDatabase implements SqlDatabase, SqlSchema {
  readonly dialect = "sqlite";
  readonly forUpdate = "";
  readonly slow: SqlReader;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #connections: readonly Connection[];
  readonly #release: () => void;

  constructor(databases: readonly Sqlite.Database[], options: SqliteOptions & Shared) {
    const { pause, turn = new Turn(), release = () => {} } = options;
    this.#connections = databases.map((database, index) => {
      return new Connection(database, index === 0 ? turn : new Turn());
    });
    const [first, second = first, third = second] = this.#connections;
    invariant(first !== undefined && second !== undefined && third !== undefined, "no connection");
    this.#release = release;
    this.#writer = first;
    this.#reader = second;
    this.slow = {
      async all(sql, params) {
        await pause();
        return third.read(sql, params);
      },
    };
  }

  all(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    return this.#reader.read(sql, params);
  }

  /** Begun again once when it met a key that is there already: now it is seen. */
  async transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    try {
      return await this.#writer.transaction("begin immediate", work);
    } catch (error) {
      if (!(error instanceof Disturbed)) throw error;
    }
    return this.exclusively(work);
  }

  async exclusively<T>(work: (session: SchemaSession) => Promise<T>): Promise<T> {
    try {
      return await this.#writer.transaction("begin immediate", work);
    } catch (error) {
      throw error instanceof Disturbed ? error.lasting : error;
    }
  }

  snapshot<T>(work: (reader: SqlReader) => Promise<T>): Promise<T> {
    return this.#reader.transaction("begin", work);
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) await connection.close();
    this.#release();
  }
}

/** One connection with its turn: whoever comes during a transaction waits for its end. */
class Connection {
  readonly #database: Sqlite.Database;
  readonly #statements: StatementCache;
  readonly #turn: Turn;

  constructor(database: Sqlite.Database, turn: Turn) {
    this.#database = database;
    this.#statements = new StatementCache(database);
    this.#turn = turn;
  }

  async read(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    while (this.#turn.taken !== null) await this.#turn.taken;
    return attempt("read", () => this.#statements.all(sql, params));
  }

  transaction<T>(begin: string, work: (session: SchemaSession) => Promise<T>): Promise<T> {
    return this.#turn.run(() => this.#transact(begin, work));
  }

  async close(): Promise<void> {
    while (this.#turn.taken !== null) await this.#turn.taken;
    this.#database.close();
  }

  async #transact<T>(begin: string, work: (session: SchemaSession) => Promise<T>): Promise<T> {
    attempt("begin", () => this.#database.exec(begin));
    const session = new Session(this.#database, this.#statements);
    let result: T;
    try {
      result = await work(session);
    } catch (error) {
      session.end();
      if (this.#database.inTransaction) attempt("rollback", () => this.#database.exec("rollback"));
      throw error;
    }
    session.end();
    this.#commit();
    return result;
  }

  #commit(): void {
    try {
      this.#database.exec("commit");
    } catch (error) {
      if (this.#database.inTransaction) attempt("rollback", () => this.#database.exec("rollback"));
      // A key without its row is refused for sure; of anything else nobody knows.
      if (hasCode(error, "SQLITE_CONSTRAINT")) throw sqliteFault(error, "commit");
      throw new Fault("LEDGER_UNKNOWN", "SQLite did not answer the commit", error);
    }
  }
}

class Session implements SchemaSession {
  readonly #database: Sqlite.Database;
  readonly #statements: StatementCache;
  #ended = false;

  constructor(database: Sqlite.Database, statements: StatementCache) {
    this.#database = database;
    this.#statements = statements;
  }

  end(): void {
    this.#ended = true;
  }

  async all(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    return this.#attempt("read", () => this.#statements.all(sql, params));
  }

  async run(sql: string, params: readonly SqlParam[]): Promise<number> {
    return this.#attempt("write", () => this.#statements.run(sql, params));
  }

  async many(sql: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    this.#attempt("write", () => {
      this.#statements.each(sql, rows, ({ changes }, expected) => {
        invariant(changes === expected, `changed ${changes} rows, not ${expected}: ${sql}`);
      });
    });
  }

  async insert(sql: string, rows: readonly (readonly SqlValue[])[]): Promise<readonly number[]> {
    return this.#attempt("write", () => {
      const keys: number[] = [];
      this.#statements.each(sql, rows, ({ lastInsertRowid }, inserted) => {
        // One statement gives out its keys without a gap; it tells the last of them.
        const last = Number(lastInsertRowid);
        for (let key = last - inserted + 1; key <= last; key += 1) keys.push(key);
      });
      return keys;
    });
  }

  async script(sql: string): Promise<void> {
    this.#attempt("script", () => this.#database.exec(sql));
  }

  #attempt<T>(what: string, work: () => T): T {
    invariant(!this.#ended, "a statement after the end of its transaction");
    return attempt(what, work);
  }
}

function attempt<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteFault(error, what);
  }
}

/** What passes by itself, or can be mended from outside. Anything else is our own mistake. */
const passing = [
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_IOERR",
  "SQLITE_FULL",
  "SQLITE_CANTOPEN",
  "SQLITE_READONLY",
  "SQLITE_PROTOCOL",
  "SQLITE_NOMEM",
  "SQLITE_INTERRUPT",
  "SQLITE_PERM",
  "SQLITE_AUTH",
];

const keyIsThere = ["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"];

function sqliteFault(error: unknown, what: string): Error {
  if (error instanceof Fault || error instanceof InvariantError) return error;
  if (error instanceof Disturbed) return error;
  if (!(error instanceof Error)) return new InvariantError(`SQLite: ${what}: ${String(error)}`);
  if (error instanceof TypeError && error.message.includes("not open")) {
    return new Fault("LEDGER_UNAVAILABLE", "the ledger is closed", error);
  }
  if (passing.some((prefix) => hasCode(error, prefix)) || /^E[A-Z]+$/.test(codeOf(error))) {
    return new Fault("LEDGER_UNAVAILABLE", `SQLite: ${what}: ${error.message}`, error);
  }
  if (keyIsThere.some((code) => hasCode(error, code))) {
    return new Disturbed("overtaken", `SQLite: ${what}: ${error.message}`, error);
  }
  return new InvariantError(`SQLite: ${what}: ${error.message}`, { cause: error });
}

function hasCode(error: unknown, prefix: string): boolean {
  return codeOf(error).startsWith(prefix);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

async function loadDriver(): Promise<typeof Sqlite> {
  try {
    return (await import("better-sqlite3")).default;
  } catch (error) {
    throw new Error(
      "the SQLite ledger needs the optional package better-sqlite3: npm install better-sqlite3",
      { cause: error },
    );
  }
}

function connectTo(
  Driver: typeof Sqlite,
  path: string,
  { readOnly, cacheKibibytes }: { readonly readOnly: boolean; readonly cacheKibibytes: number },
): Sqlite.Database {
  const database = new Driver(path, { readonly: readOnly, timeout: busyTimeoutMs });
  database.pragma("foreign_keys = on");
  database.pragma(`cache_size = -${cacheKibibytes}`);
  if (readOnly || path === memoryPath) return database;
  useWriteAheadLog(database);
  database.pragma("synchronous = full");
  database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  return database;
}

/**
 * Changing the journal may fail at once as busy, whatever the time-out; waiting for an empty
 * transaction lets the other process finish first.
 */
function useWriteAheadLog(database: Sqlite.Database): void {
  const attempts = 20;
  for (let n = 1; ; n += 1) {
    try {
      database.pragma("journal_mode = wal");
      return;
    } catch (error) {
      if (n === attempts) throw error;
      database.exec("begin immediate; commit");
    }
  }
}
