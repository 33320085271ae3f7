import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { systemClock } from "../src/clock.ts";
import { migrateLedger } from "../src/wire.ts";
import { type SqlServer, startMariadb } from "../stack/mariadb.ts";
import { PrivateRabbitmq } from "../stack/rabbitmq.ts";
import { PrivateRedis } from "../stack/redis.ts";
import type { PrivateRedisCluster } from "../stack/redis-cluster.ts";
import { PrivateRocketmq } from "../stack/rocketmq.ts";
import { RocketmqFakeProxy } from "../stack/rocketmq-fake-proxy.ts";
import type { SmallDisk } from "../stack/small-disk.ts";
import { TcpProxy } from "../stack/tcp-proxy.ts";
import type { TurnedClock } from "../stack/turned-clock.ts";
import type { BusKind, FaultRow } from "./row.ts";
import { ServeProcess, type ServeUrls } from "./serve-process.ts";
import { StageServers, startsOf } from "./stage.ts";

const headStartMs = 3_000;
const clusterLanes = 16;

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

  private constructor(made: Made, shared: SharedServers, faultMs: number) {
    this.#made = made;
    this.shared = shared;
    this.redis = made.servers.redis;
    this.faultMs = faultMs;
  }

  static async open(shared: SharedServers, options: SceneOptions): Promise<Scene> {
    const { apart, bus, stage = {}, faultMs } = options;
    const servers = await StageServers.open(stage);
    const sql = servers.ledger ?? (await shared.sql());
    const database = await makeDatabase(sql);
    const broker = await brokerOf(bus, shared, servers.redis);
    const ports = { hot: servers.redis.port, bus: Number(broker.port), ledger: sql.port };
    const network = await networkBefore(ports);
    const networkBehind = stage.split === true ? await networkBefore(ports) : network;
    // What stands before RocketMQ knows its sends.
    const sends = bus === "rocketmq" ? await RocketmqFakeProxy.before(ports.bus) : null;
    const urlsOf = ({ hot, bus: line, ledger }: Network): ServeUrls => ({
      hot: servers.cluster?.url ?? `redis://127.0.0.1:${hot.port}`,
      bus: at(broker, (sends ?? line).port),
      ledger: ledgerUrlOf(database, ledger.port),
    });
    const ledgerUrl = ledgerUrlOf(database, sql.port);
    if (servers.cluster !== null) {
      await migrateLedger(ledgerUrl, { dryRun: false, lanes: clusterLanes });
    }
    // A head start: what one process at a time may do is done by the one behind. Neither may be
    // ready alone, if the roles of both are needed to open hot stock.
    const starts = startsOf(stage, servers);
    const starting =
      apart === undefined
        ? null
        : ServeProcess.start(urlsOf(networkBehind), { ...starts.behind, roles: apart.behind });
    if (starting !== null) await Promise.race([starting, systemClock.sleep(headStartMs)]);
    const fronting = ServeProcess.start(urlsOf(network), {
      ...starts.front,
      roles: apart?.front ?? "all",
    });
    const [serve, behind] = await Promise.all([fronting, starting]);
    const made = {
      servers,
      sql,
      database,
      ledgerUrl,
      network,
      networkBehind,
      sends,
      serve,
      behind,
    };
    return new Scene(made, shared, faultMs);
  }

  /** Between Holdfast and its hot stock, its bus and its ledger. */
  get network(): Network {
    return this.#made.network;
  }

  /** The same of the second process; its own where the stage is split. */
  get networkBehind(): Network {
    return this.#made.networkBehind;
  }

  /** As Holdfast's own user, past the network that can be bent. */
  get ledgerUrl(): string {
    return this.#made.ledgerUrl;
  }

  /** Between Holdfast and RocketMQ. */
  get sends(): RocketmqFakeProxy {
    return there(this.#made.sends, "RocketMQ");
  }

  get cluster(): PrivateRedisCluster {
    return there(this.#made.servers.cluster, "a cluster");
  }

  get disk(): SmallDisk {
    return there(this.#made.servers.disk, "a disk of its own");
  }

  /** The first is that of the buyers' process, or of the ledger. */
  get clocks(): readonly TurnedClock[] {
    return this.#made.servers.clocks;
  }

  /** The server of the ledger, and which database of it. */
  get ledger(): { readonly server: SqlServer; readonly database: string; readonly user: string } {
    const { sql, database } = this.#made;
    return { server: sql, database: database.name, user: database.user };
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
    const { sql, database } = this.#made;
    const uri = `${sql.url}/${database.name}`;
    const connection = await createConnection({ uri, multipleStatements: true });
    try {
      return await work(async (text) => (await connection.query(text))[0]);
    } finally {
      connection.destroy();
    }
  }

  /** A replica of the hot stock, in step with it; it ends with the scene. `from`: another port. */
  async replica(from = this.redis.port): Promise<PrivateRedis> {
    const replica = await PrivateRedis.start(["--replicaof", `127.0.0.1 ${from}`]);
    this.onClose(() => replica.stop());
    await this.redis.plain.wait(1, 10_000);
    return replica;
  }

  onClose(end: () => Promise<void>): void {
    this.#more.push(end);
  }

  async close(): Promise<void> {
    const { network, networkBehind, sends, serve, behind, database, servers } = this.#made;
    await serve.stop();
    await behind?.stop();
    for (const end of this.#more) await end();
    const proxies = new Set([...Object.values(network), ...Object.values(networkBehind)]);
    for (const proxy of proxies) await proxy.close();
    await sends?.close();
    // A ledger of the row's own ends with it, in whatever state the fault has left it.
    if (servers.ledger === null) {
      await this.sql((query) => query(`drop database ${database.name}`));
    }
    await servers.close();
  }
}

export type SceneOptions = Pick<FaultRow, "bus" | "apart" | "stage"> & {
  readonly faultMs: number;
};

export type Network = {
  readonly hot: TcpProxy;
  readonly bus: TcpProxy;
  readonly ledger: TcpProxy;
};

type Ports = { readonly hot: number; readonly bus: number; readonly ledger: number };

async function networkBefore({ hot, bus, ledger }: Ports): Promise<Network> {
  return {
    hot: await TcpProxy.before(hot),
    bus: await TcpProxy.before(bus),
    ledger: await TcpProxy.before(ledger),
  };
}

async function brokerOf(bus: BusKind, shared: SharedServers, redis: PrivateRedis): Promise<URL> {
  switch (bus) {
    case "redis":
      return new URL(redis.url);
    case "rabbitmq":
      return new URL((await shared.rabbitmq()).url);
    case "rocketmq":
      return new URL((await shared.rocketmq()).url);
  }
}

function at(broker: URL, port: number): string {
  const url = new URL(broker);
  url.port = String(port);
  return url.href;
}

function there<T>(found: T | null, what: string): T {
  if (found === null) throw new Error(`the row's stage does not have ${what}`);
  return found;
}

type Database = { readonly name: string; readonly user: string; readonly password: string };
type Made = {
  readonly servers: StageServers;
  readonly sql: SqlServer;
  readonly database: Database;
  readonly ledgerUrl: string;
  readonly network: Network;
  readonly networkBehind: Network;
  readonly sends: RocketmqFakeProxy | null;
  readonly serve: ServeProcess;
  readonly behind: ServeProcess | null;
};

function ledgerUrlOf({ name, user, password }: Database, port: number): string {
  return `mysql://${user}:${password}@127.0.0.1:${port}/${name}`;
}

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
