import { Fault } from "../src/domain/fault.ts";
import type { SqlDatabase, SqlReader, SqlSession } from "../src/ledger/sql-database.ts";
import type { Stream } from "./random.ts";

/** A database whose next transaction may be told to fail at one of its statements. */
export class FailingDatabase implements SqlDatabase {
  readonly forUpdate: SqlDatabase["forUpdate"];
  readonly slow: SqlReader;
  readonly #raw: SqlDatabase;
  readonly #chance: Stream;
  #armed = false;

  constructor(raw: SqlDatabase, chance: Stream) {
    this.#raw = raw;
    this.#chance = chance;
    this.forUpdate = raw.forUpdate;
    this.slow = raw.slow;
  }

  arm(): void {
    this.#armed = true;
  }

  all(sql: string, params: Parameters<SqlReader["all"]>[1]): ReturnType<SqlReader["all"]> {
    return this.#raw.all(sql, params);
  }

  transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    if (!this.#armed) return this.#raw.transaction(work);
    this.#armed = false;
    const failAt = this.#chance.between(1, 16);
    return this.#raw.transaction((session) => work(failing(session, failAt)));
  }

  snapshot<T>(work: (reader: SqlReader) => Promise<T>): Promise<T> {
    return this.#raw.snapshot(work);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }
}

/** Runs the first statements, then fails: the transaction must leave nothing behind. */
function failing(session: SqlSession, failAt: number): SqlSession {
  let left = failAt;
  const next = (): void => {
    left -= 1;
    if (left === 0) throw new Fault("LEDGER_UNAVAILABLE", "a deadlock: rolled back");
  };
  return {
    async all(sql, params) {
      next();
      return session.all(sql, params);
    },
    async run(sql, params) {
      next();
      return session.run(sql, params);
    },
    async many(sql, rows) {
      next();
      return session.many(sql, rows);
    },
    async insert(sql, rows) {
      next();
      return session.insert(sql, rows);
    },
  };
}
