import { readFileSync } from "node:fs";
import type { Connection, ConnectionOptions, FieldPacket } from "mysql2";
import type { Clock } from "../clock.ts";
import { invariant } from "../domain/invariant.ts";
import { endsConnection } from "./mysql-faults.ts";
import { type Asking, watchSilence } from "./mysql-silence.ts";
import type { Row } from "./sql-database.ts";

export type Driver = {
  readonly createConnection: (options: ConnectionOptions) => Connection;
  readonly escape: (value: string) => string;
};

export type StatementLimits = {
  readonly statementMsMax: number;
  /** How the server is asked why this connection hears nothing; null: it is not. */
  readonly asking: Asking | null;
};

export type Written = { readonly affected: number; readonly firstKey: number };

/** The type number of a decimal, which is what the server makes of a sum. */
const decimalType = 0xf6;
const connectMsMax = 5_000;
const askMsMax = 5_000;

/** One connection of the driver: one statement at a time, each with a time limit. */
export class MysqlConnection {
  readonly #connection: Connection;
  readonly #limits: StatementLimits;
  #isBroken = false;

  constructor(connection: Connection, limits: StatementLimits) {
    this.#connection = connection;
    this.#limits = limits;
    // Without a listener a connection that dies while nobody uses it would end the process. It
    // is not destroyed here: the driver would not tell the statement in hand any more.
    const died = (): void => {
      this.#isBroken = true;
    };
    connection.on("error", died);
    connection.on("end", died);
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  async rows(text: string): Promise<readonly Row[]> {
    const { result, fields } = await this.#query(text);
    invariant(isRows(result), `expected rows: ${text.slice(0, 80)}`);
    const sums = fields.filter(({ columnType }) => columnType === decimalType);
    return sums.length === 0 ? result : result.map((row) => withIntegers(row, sums));
  }

  /** `affected` counts the rows that were found, as in SQLite, changed or not. */
  async write(text: string): Promise<Written> {
    const { result } = await this.#query(text);
    invariant(isHeader(result), `expected no rows: ${text.slice(0, 80)}`);
    return { affected: result.affectedRows, firstKey: result.insertId };
  }

  /** At once and without a word: the server undoes what was not committed. */
  destroy(): void {
    this.#isBroken = true;
    this.#connection.destroy();
  }

  end(): Promise<void> {
    if (this.#isBroken) return Promise.resolve();
    this.#isBroken = true;
    return new Promise((resolve) => {
      this.#connection.once("error", () => resolve());
      this.#connection.end(() => resolve());
    });
  }

  #query(text: string): Promise<{ result: unknown; fields: readonly FieldPacket[] }> {
    return new Promise((resolve, reject) => {
      const failed = (error: unknown): void => {
        stop();
        if (endsConnection(error)) this.destroy();
        reject(error);
      };
      const stop = this.#watch(text, failed);
      const options = { sql: text, timeout: this.#limits.statementMsMax };
      this.#connection.query(options, (error: unknown, result: unknown, fields) => {
        if (error !== null) return failed(error);
        stop();
        resolve({ result, fields: fields ?? [] });
      });
    });
  }

  #watch(text: string, died: (error: Error) => void): () => void {
    const { asking } = this.#limits;
    if (asking === null) return () => undefined;
    const { threadId: id } = this.#connection;
    const received = () => bytesRead(this.#connection);
    return watchSilence({ id, characters: text.length, received, died }, asking);
  }
}

export type ConnectionContext = { readonly clock: Clock; readonly statementMsMax: number };

export async function connectTo(
  driver: Driver,
  options: ConnectionOptions,
  { clock, statementMsMax }: ConnectionContext,
): Promise<MysqlConnection> {
  const open = async (): Promise<MysqlConnection> =>
    new MysqlConnection(await connect(driver, options), {
      statementMsMax: askMsMax,
      asking: null,
    });
  const asking = { clock, open };
  return new MysqlConnection(await connect(driver, options), { statementMsMax, asking });
}

async function connect(driver: Driver, options: ConnectionOptions): Promise<Connection> {
  const connection = driver.createConnection(options);
  await new Promise<void>((resolve, reject) => {
    connection.once("error", reject);
    connection.connect((error) => (error === null ? resolve() : reject(error)));
  });
  return connection;
}

/** Of its socket, which the driver's types do not show. */
function bytesRead(connection: object): number {
  const stream: unknown = "stream" in connection ? connection.stream : null;
  if (typeof stream !== "object" || stream === null || !("bytesRead" in stream)) return 0;
  return typeof stream.bytesRead === "number" ? stream.bytesRead : 0;
}

/** A URL that cannot be used as it stands. */
export class MysqlUrlError extends Error {
  override readonly name = "MysqlUrlError";
}

export type MysqlTarget = {
  readonly options: ConnectionOptions;
  readonly connections: number;
};

/**
 * `mysql://USER:PASSWORD@HOST:PORT/DATABASE?connections=10&ca=FILE`. `ca` asks for TLS with a
 * certificate that this file vouches for; `tls=on` for one that the system trusts.
 */
export function parseMysqlUrl(text: string): MysqlTarget {
  const url = URL.canParse(text) ? new URL(text) : null;
  const database = decodeURIComponent(url?.pathname.slice(1) ?? "");
  if (url === null || database === "" || database.includes("/")) {
    throw new MysqlUrlError("expected mysql://USER:PASSWORD@HOST:PORT/DATABASE");
  }
  const { connections = "10", tls = "off", ca, ...others } = Object.fromEntries(url.searchParams);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new MysqlUrlError(`${unknown}: only connections, tls and ca may stand after the "?"`);
  }
  if (!/^[1-9]\d{0,2}$/.test(connections)) {
    throw new MysqlUrlError("connections: expected an integer from 1 to 999");
  }
  if (tls !== "on" && tls !== "off") throw new MysqlUrlError("tls: expected on or off");
  const secure = ca === undefined ? {} : { ca: readFileSync(ca) };
  const options: ConnectionOptions = {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    charset: "utf8mb4_general_ci",
    timezone: "Z",
    // A number that a double cannot hold comes as text, and no parser takes it for a number.
    supportBigNumbers: true,
    multipleStatements: false,
    // The values stand in the statement already; the driver would look through it for more places.
    queryFormat: (sql) => sql,
    connectTimeout: connectMsMax,
    enableKeepAlive: true,
    ...(tls === "on" || ca !== undefined ? { ssl: secure } : {}),
  };
  return { options, connections: Number(connections) };
}

export async function loadDriver(): Promise<Driver> {
  try {
    return (await import("mysql2")).default;
  } catch (error) {
    throw new Error("a MySQL ledger needs the optional package mysql2: npm install mysql2", {
      cause: error,
    });
  }
}

function withIntegers(row: Row, sums: readonly FieldPacket[]): Row {
  const changed: Record<string, unknown> = { ...row };
  for (const { name } of sums) {
    const value = row[name];
    if (typeof value === "string" && Number.isSafeInteger(Number(value))) {
      changed[name] = Number(value);
    }
  }
  return changed;
}

function isRows(result: unknown): result is readonly Row[] {
  return Array.isArray(result);
}

function isHeader(result: unknown): result is { affectedRows: number; insertId: number } {
  return typeof result === "object" && result !== null && "affectedRows" in result;
}
