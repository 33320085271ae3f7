import { type Clock, nextTurn, type Random, systemClock, systemRandom } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Instant } from "../domain/values.ts";
import { Disturbed } from "./disturbed.ts";
import {
  type ConnectionContext,
  connectTo,
  type Driver,
  loadDriver,
  type MysqlConnection,
  type MysqlTarget,
  parseMysqlUrl,
} from "./mysql-connection.ts";
import { errnoOf, mysqlFailure } from "./mysql-faults.ts";
import { MysqlPool } from "./mysql-pool.ts";
import { type MysqlServer, prepareSession } from "./mysql-server.ts";
import { MysqlSession } from "./mysql-session.ts";
import { MysqlStatements } from "./mysql-statements.ts";
import { integer } from "./rows.ts";
import type {
  Remote,
  Row,
  SchemaSession,
  SqlDatabase,
  SqlParam,
  SqlReader,
  SqlSchema,
  SqlSession,
} from "./sql-database.ts";

export type MysqlOptions = {
  /** Only for pauses: the clock that decides is the database's. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly queueMax?: number;
  /** Commands decided while the server writes what the ones before have made; 250 by default. */
  readonly decidedAhead?: number;
  /** Instead of the database's clock: for tests that turn time. */
  readonly now?: () => Instant;
};

const decidedAhead = 250;
const slowConnections = 2;
const statementMsMax = 20_000;
const slowStatementMsMax = 300_000;
const queueMaxDefault = 256;
/** A deadlock has a victim, not a fault: it is run again, after a pause that grows. */
const attemptsMax = 20;
const overtakenMax = 4;
const pauseMsMax = 200;
const migrationWaitSeconds = 60;

const nowOfDatabase = "select cast(unix_timestamp(now(3)) * 1000 as signed) as now_ms";
const takeMigrationLock =
  "select get_lock(concat('holdfast.', left(sha2(database(), 256), 40)), ?) as taken";

export async function openMysql(url: string, options: MysqlOptions = {}): Promise<MysqlDatabase> {
  const target = parseMysqlUrl(url);
  const driver = await loadDriver();
  const { clock = systemClock } = options;
  const context = { clock, statementMsMax };
  const { connection, server } = await connect(driver, target, context);
  await connection.end();
  return new MysqlDatabase({ driver, target, server }, options);
}

type Access = {
  readonly driver: Driver;
  readonly target: MysqlTarget;
  readonly server: MysqlServer;
};

/**
 * MySQL and MariaDB. A transaction is READ COMMITTED with its rows locked in SKU order, and run
 * again as a whole when another one was in its way. A connection that is lost before COMMIT is
 * sent leaves nothing behind; from then on the result is UNKNOWN.
 */
export class MysqlDatabase implements SqlDatabase, SqlSchema {
  readonly dialect = "mysql";
  readonly remote: Remote;
  readonly forUpdate = " for update";
  readonly bySku = " force index (inventory_by_id)";
  readonly server: MysqlServer;
  readonly slow: SqlReader;
  readonly #access: Access;
  readonly #statements: MysqlStatements;
  readonly #pool: MysqlPool;
  readonly #slowPool: MysqlPool;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #now: (() => Instant) | undefined;

  constructor(access: Access, options: MysqlOptions) {
    const { driver, target, server } = access;
    const queueMax = options.queueMax ?? queueMaxDefault;
    this.#access = access;
    this.server = server;
    this.remote = { decidedAhead: options.decidedAhead ?? decidedAhead, turn: nextTurn };
    this.#statements = new MysqlStatements((value) => driver.escape(value), server.row);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#now = options.now;
    const open = (limitMs: number) => async (): Promise<MysqlConnection> =>
      (await connect(driver, target, { clock: this.#clock, statementMsMax: limitMs })).connection;
    const { connections } = target;
    this.#pool = new MysqlPool(open(statementMsMax), { connections, queueMax });
    this.#slowPool = new MysqlPool(open(slowStatementMsMax), {
      connections: slowConnections,
      queueMax,
    });
    this.slow = { all: (sql, params) => this.#read(this.#slowPool, sql, params) };
  }

  all(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    return this.#read(this.#pool, sql, params);
  }

  /** Its own statement: `now` is when a statement began, which may have waited for a lock. */
  async now(reader: SqlReader): Promise<Instant> {
    if (this.#now !== undefined) return this.#now();
    const [row = {}] = await reader.all(nowOfDatabase, []);
    return integer(row, "now_ms");
  }

  async transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#pool.use((connection) => this.#once(connection, work));
      } catch (error) {
        if (!(error instanceof Disturbed)) throw error;
        const most = error.trouble === "again" ? attemptsMax : overtakenMax;
        if (attempt >= most) throw error.lasting;
      }
      await this.#clock.sleep(Math.min(pauseMsMax, 2 ** attempt) * this.#random.next());
    }
  }

  snapshot<T>(work: (reader: SqlReader) => Promise<T>): Promise<T> {
    return this.#slowPool.use(async (connection) => {
      await attempt("snapshot", async () => {
        await connection.write("set transaction isolation level repeatable read");
        await connection.write("start transaction with consistent snapshot, read only");
      });
      const session = new MysqlSession(connection, this.#statements, this.server);
      try {
        return await work(session);
      } finally {
        session.end();
        await undo(connection);
      }
    });
  }

  /** A connection of its own, whose end gives the lock back whatever happens. */
  async exclusively<T>(work: (session: SchemaSession) => Promise<T>): Promise<T> {
    const { driver, target } = this.#access;
    // Whoever waits here waits for other processes' definitions, not for a row.
    const context = { clock: this.#clock, statementMsMax: slowStatementMsMax };
    const { connection } = await connect(driver, target, context);
    const session = new MysqlSession(connection, this.#statements, this.server);
    try {
      const [row] = await session.all(takeMigrationLock, [migrationWaitSeconds]);
      if (row?.["taken"] !== 1) {
        const message = `another process has been migrating for ${migrationWaitSeconds} s`;
        throw new Fault("LEDGER_UNAVAILABLE", message);
      }
      // A definition commits by itself; what comes after the last one is one transaction.
      await connection.write("set session autocommit = 0");
      const result = await work(session);
      await connection.write("commit");
      return result;
    } catch (error) {
      const failure = mysqlFailure(error, "migration");
      throw failure instanceof Disturbed ? failure.lasting : failure;
    } finally {
      session.end();
      await connection.end();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#slowPool.close()]);
  }

  #read(pool: MysqlPool, sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    const text = this.#statements.spell(sql, params);
    return pool.use((connection) => attempt("read", () => connection.rows(text)));
  }

  async #once<T>(
    connection: MysqlConnection,
    work: (session: SqlSession) => Promise<T>,
  ): Promise<T> {
    await attempt("begin", () => connection.write("start transaction"));
    const session = new MysqlSession(connection, this.#statements, this.server);
    let result: T;
    try {
      result = await work(session);
    } catch (error) {
      session.end();
      await undo(connection);
      throw error;
    }
    session.end();
    await commit(connection);
    return result;
  }
}

/** Only an answer tells that nothing was committed; silence, or a doubtful answer, does not. */
async function commit(connection: MysqlConnection): Promise<void> {
  try {
    await connection.write("commit");
  } catch (error) {
    const failure = errnoOf(error) === null ? null : mysqlFailure(error, "commit");
    await undo(connection);
    if (failure instanceof Disturbed) throw failure;
    throw new Fault("LEDGER_UNKNOWN", "the ledger did not answer the commit", error);
  }
}

async function undo(connection: MysqlConnection): Promise<void> {
  if (connection.isBroken) return;
  try {
    await connection.write("rollback");
  } catch {
    // What cannot be rolled back by word is rolled back by hanging up.
    connection.destroy();
  }
}

async function connect(
  driver: Driver,
  { options }: MysqlTarget,
  context: ConnectionContext,
): Promise<{ connection: MysqlConnection; server: MysqlServer }> {
  const connection = await attempt("connect", () => connectTo(driver, options, context));
  try {
    const isDeciding = context.statementMsMax === statementMsMax;
    return { connection, server: await prepareSession(connection, { isDeciding }) };
  } catch (error) {
    connection.destroy();
    throw mysqlFailure(error, "prepare a session");
  }
}

async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = mysqlFailure(error, `MySQL: ${what}`);
    throw failure instanceof Disturbed ? failure.lasting : failure;
  }
}
