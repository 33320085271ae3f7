import { invariant } from "../domain/invariant.ts";
import { Disturbed } from "./disturbed.ts";
import type { MysqlConnection } from "./mysql-connection.ts";
import { mysqlFailure } from "./mysql-faults.ts";
import type { MysqlServer } from "./mysql-server.ts";
import type { MysqlStatements } from "./mysql-statements.ts";
import type { Row, SchemaSession, SqlParam, SqlValue } from "./sql-database.ts";

type Rows = readonly (readonly SqlValue[])[];

/** The statements of one transaction, on the one connection that it has. */
export class MysqlSession implements SchemaSession {
  readonly #connection: MysqlConnection;
  readonly #statements: MysqlStatements;
  readonly #server: MysqlServer;
  #ended = false;

  constructor(connection: MysqlConnection, statements: MysqlStatements, server: MysqlServer) {
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
    for (const batch of this.#statements.many(sql, rows)) {
      const { affected } = await this.#attempt("write", () => this.#connection.write(batch.text));
      if (affected === batch.rows) continue;
      const counted = `changed ${affected} rows, not ${batch.rows}: ${sql}`;
      // Fewer: somebody else has changed what was asked for since it was read.
      invariant(affected < batch.rows, counted);
      throw new Disturbed("overtaken", counted);
    }
  }

  async insert(sql: string, rows: Rows): Promise<readonly number[]> {
    const keys: number[] = [];
    for (const batch of this.#statements.many(sql, rows)) {
      const { affected, firstKey } = await this.#attempt("write", () =>
        this.#connection.write(batch.text),
      );
      invariant(affected === batch.rows, `inserted ${affected} rows, not ${batch.rows}: ${sql}`);
      invariant(Number.isSafeInteger(firstKey) && firstKey > 0, `no key for: ${sql}`);
      // InnoDB gives one statement of known length its keys without a gap, and tells the first.
      for (let n = 0; n < batch.rows; n += 1) keys.push(firstKey + n * this.#server.keyStep);
    }
    return keys;
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

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    invariant(!this.#ended, "a statement after the end of its transaction");
    try {
      return await work();
    } catch (error) {
      throw mysqlFailure(error, `MySQL: ${what}`);
    }
  }
}
