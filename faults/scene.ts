import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { systemClock } from "../src/clock.ts";
import { type SqlServer, startMariadb } from "../stack/mariadb.ts";
import { PrivateRabbitmq } from "../stack/rabbitmq.ts";
import { PrivateRedis } from "../stack/redis.ts";
import { PrivateRocketmq } from "../stack/rocketmq.ts";
import { RocketmqFakeProxy } from "../stack/rocketmq-fake-proxy.ts";
import { TcpProxy } from "../stack/tcp-proxy.ts";
import type { BusKind, FaultRow } from "./row.ts";
import { ServeProcess } from "./serve-process.ts";

const headStartMs = 3_000;

/** What the rows of a run share: servers that take seconds to come up. */
export class SharedServers {
  #sql: Promise<SqlServer> | null = null;
  #rabbitmq: Promise<PrivateRabbitmq> | null = null;
  #rocketmq: Promise<PrivateRocketmq> | null = null;

  sql(): Promise<SqlServer> {
    this.#sql ??= startMariadb({ settings: ["--max-connections=150"] });
    return this.#sql;
  }

  rabbitmq(): Promise<PrivateRabbitmq> {
    this.#rabbitmq ??= PrivateRabbitmq.start();
    return this.#rabbitmq;
  }

  rocketmq(): Promise<PrivateRocketmq> {
    this.#rocketmq ??= PrivateRocketmq.start();
    return this.#rocketmq;
  }

  /** Killed as by a loss of power, and back on the same files and the same port. */
  async crashSql(): Promise<void> {
    const { port, folder, kill } = await this.sql();
    await kill("SIGKILL");
    this.#sql = startMariadb({ folder, port, settings: ["--max-connections=150"] });
    await this.#sql;
  }

  async stop(): Promise<void> {
    await (await this.#sql)?.stop();
    await (await this.#rabbitmq)?.stop();
    await (await this.#rocketmq)?.stop();
  }
}

/**
 * The stage of one row: private servers, a network between them and Holdfast that can be bent,
 * and a process that serves.
 */
export class Scene {
  readonly shared: SharedServers;
  readonly redis: PrivateRedis;
  readonly #made: Made;
  readonly #more: (() => Promise<void>)[] = [];
  /** How long a fault lasts that could last for any time. */
  readonly faultMs: number;

  private constructor(made: Made, { shared, redis, faultMs }: Given) {
    this.#made = made;
    this.shared = shared;
    this.redis = redis;
    this.faultMs = faultMs;
  }

  static async open(shared: SharedServers, options: SceneOptions): Promise<Scene> {
    const redis = await PrivateRedis.start(["--enable-debug-command", "yes"]);
    const sql = await shared.sql();
    const database = await makeDatabase(sql);
    const hot = await TcpProxy.before(redis.port);
    const broker = await brokerOf(options.bus, { shared, redis });
    const bus = await TcpProxy.before(Number(broker.port));
    // What stands before RocketMQ knows its sends.
    const sends =
      options.bus === "rocketmq" ? await RocketmqFakeProxy.before(Number(broker.port)) : null;
    broker.port = String((sends ?? bus).port);
    const ledger = await TcpProxy.before(sql.port);
    const urls = {
      hot: `redis://127.0.0.1:${hot.port}`,
      bus: broker.href,
      ledger: `mysql://${database.user}:${database.password}@127.0.0.1:${ledger.port}/${database.name}`,
    };
    const { apart } = options;
    // A head start: what one process at a time may do is done by the one behind. Neither may be
    // ready alone, if the roles of both are needed to open hot stock.
    const starting = apart === undefined ? null : ServeProcess.start(urls, apart.behind);
    if (starting !== null) await Promise.race([starting, systemClock.sleep(headStartMs)]);
    const [serve, behind] = await Promise.all([ServeProcess.start(urls, apart?.front), starting]);
    const ledgerUrl = urls.ledger.replace(`:${ledger.port}/`, `:${sql.port}/`);
    const made = { hot, bus, ledger, sends, serve, behind, database, ledgerUrl };
    return new Scene(made, { shared, redis, faultMs: options.faultMs });
  }

  /** Between Holdfast and its hot stock, its bus and its ledger. */
  get network(): { readonly hot: TcpProxy; readonly bus: TcpProxy; readonly ledger: TcpProxy } {
    return this.#made;
  }

  /** As Holdfast's own user, past the network that can be bent. */
  get ledgerUrl(): string {
    return this.#made.ledgerUrl;
  }

  /** Between Holdfast and RocketMQ. */
  get sends(): RocketmqFakeProxy {
    const { sends } = this.#made;
    if (sends === null) throw new Error("the row is not over RocketMQ");
    return sends;
  }

  get serve(): ServeProcess {
    return this.#made.serve;
  }

  /** The second process, or the only one. */
  get behind(): ServeProcess {
    return this.#made.behind ?? this.#made.serve;
  }

  /** As the ledger's administrator, past the network that can be bent. */
  async sql<T>(work: (query: (sql: string) => Promise<unknown>) => Promise<T>): Promise<T> {
    const { url } = await this.shared.sql();
    const uri = `${url}/${this.#made.database.name}`;
    const connection = await createConnection({ uri, multipleStatements: true });
    try {
      return await work(async (text) => (await connection.query(text))[0]);
    } finally {
      connection.destroy();
    }
  }

  /** A replica of the hot stock, in step with it; it ends with the scene. */
  async replica(): Promise<PrivateRedis> {
    const replica = await PrivateRedis.start(["--replicaof", `127.0.0.1 ${this.redis.port}`]);
    this.#more.push(() => replica.stop());
    await this.redis.plain.wait(1, 10_000);
    return replica;
  }

  async close(): Promise<void> {
    const { hot, bus, ledger, sends, serve, behind } = this.#made;
    await serve.stop();
    await behind?.stop();
    for (const end of this.#more) await end();
    for (const proxy of [hot, bus, ledger, sends]) await proxy?.close();
    await this.redis.stop();
    await this.sql((query) => query(`drop database ${this.#made.database.name}`));
  }
}

export type SceneOptions = Pick<FaultRow, "bus" | "apart"> & { readonly faultMs: number };

async function brokerOf(bus: BusKind, { shared, redis }: Omit<Given, "faultMs">): Promise<URL> {
  switch (bus) {
    case "redis":
      return new URL(redis.url);
    case "rabbitmq":
      return new URL((await shared.rabbitmq()).url);
    case "rocketmq":
      return new URL((await shared.rocketmq()).url);
  }
}

type Database = { readonly name: string; readonly user: string; readonly password: string };
type Made = {
  readonly hot: TcpProxy;
  readonly bus: TcpProxy;
  readonly ledger: TcpProxy;
  readonly sends: RocketmqFakeProxy | null;
  readonly serve: ServeProcess;
  readonly behind: ServeProcess | null;
  readonly database: Database;
  readonly ledgerUrl: string;
};
type Given = {
  readonly shared: SharedServers;
  readonly redis: PrivateRedis;
  readonly faultMs: number;
};

/** A database and a user of its own, who may do what Holdfast does in it. */
async function makeDatabase(server: SqlServer): Promise<Database> {
  const name = `faults_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(18).toString("hex");
  const connection = await createConnection({ uri: server.url, multipleStatements: true });
  await connection.query(`create database ${name};
    create user '${name}'@'%' identified by '${password}';
    grant all on ${name}.* to '${name}'@'%';`);
  await connection.end();
  return { name, user: name, password };
}
