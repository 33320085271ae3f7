import { invariant } from "../domain/invariant.ts";
import { Disturbed } from "./disturbed.ts";
import type { MysqlConnection, Written } from "./mysql-connection.ts";
import { mysqlFailure } from "./mysql-faults.ts";
import type { MysqlServer } from "./mysql-server.ts";
import type { Batch, MysqlStatements } from "./mysql-statements.ts";
import type { Row, SchemaSession, SqlParam, SqlValue } from "./sql-database.ts";

type Statements = Pick<MysqlConnection, "rows" | "write">;
type Rows = readonly (readonly SqlValue[])[];

/**
 * The statements of one transaction, on the one connection that it has: in the order of the calls,
 * each when the one before has succeeded. Behind one that has failed the server may not be in the
 * transaction any more, and would commit what comes next by itself.
 */
export class MysqlSession implements SchemaSession {
  readonly #connection: Statements;
  readonly #statements: MysqlStatements;
  readonly #server: MysqlServer;
  #last: Promise<unknown> = Promise.resolve();
  #ended = false;

  constructor(connection: Statements, statements: MysqlStatements, server: MysqlServer) {
    this.#connection = connection;
    this.#statements = statements;
    this.#server = server;
  }

  end(): void {
    this.#ended = true;
  }

  all(sql: string, params: readonly SqlParam[]): Promise<readonly Row[]> {
    const text = this.#statements.spell(sql, params);
    return this.#attempt("read", () => this.#connection.rows(text));
  }

  async run(sql: string, params: readonly SqlParam[]): Promise<number> {
    const text = this.#statements.spell(sql, params);
    return (await this.#attempt("write", () => this.#connection.write(text))).affected;
  }

  async many(sql: string, rows: Rows): Promise<void> {
    await this.#each(sql, rows, ({ affected }, batch) => {
      if (affected === batch.rows) return;
      const counted = `changed ${affected} rows, not ${batch.rows}: ${sql}`;
      // Fewer: somebody else has changed what was asked for since it was read.
      invariant(affected < batch.rows, counted);
      throw new Disturbed("overtaken", counted);
    });
  }

  async insert(sql: string, rows: Rows): Promise<readonly number[]> {
    const keys: number[] = [];
    await this.#each(sql, rows, ({ affected, firstKey }, batch) => {
      invariant(affected === batch.rows, `inserted ${affected} rows, not ${batch.rows}: ${sql}`);
      invariant(Number.isSafeInteger(firstKey) && firstKey > 0, `no key for: ${sql}`);
      // InnoDB gives one statement of known length its keys without a gap, and tells the first.
      for (let n = 0; n < batch.rows; n += 1) keys.push(firstKey + n * this.#server.keyStep);
    });
    return keys;
  }

  /** The next is spelled out while the server has the last in hand. */
  async #each(
    sql: string,
    rows: Rows,
    written: (result: Written, batch: Batch) => void,
  ): Promise<void> {
    const all: Promise<void>[] = [];
    for (const batch of this.#statements.many(sql, rows)) {
      const sent = this.#attempt("write", () => this.#connection.write(batch.text));
      all.push(sent.then((result) => written(result, batch)));
    }
    await Promise.all(all);
  }

  async script(sql: string): Promise<void> {
    const statements = sql.replaceAll(/--.*$/gm, "").split(";");
    for (const statement of statements) {
      const text = statement.trim().replaceAll("collate bytewise", this.#collate());
      if (text !== "") await this.#attempt("script", () => this.#connection.write(text));
    }
  }

  #collate(): string {
    return `collate ${this.#server.collation}`;
  }

  #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    const sent = this.#last.then(async () => {
      invariant(!this.#ended, "a statement after the end of its transaction");
      try {
        return await work();
      } catch (error) {
        throw mysqlFailure(error, `MySQL: ${what}`);
      }
    });
    this.#last = sent;
    // Whoever asked for it hears of it; nobody else has to.
    sent.catch(() => undefined);
    return sent;
  }
}
