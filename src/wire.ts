import type { Bus, DecisionNews } from "./bus/bus.ts";
import { MemoryBus } from "./bus/memory.ts";
import { type Clock, nextTurn, type Random, systemClock, systemRandom } from "./clock.ts";
import { type EventsMode, type Role, roleNames } from "./config-values.ts";
import type { LanePlace } from "./doctor/transport.ts";
import { ledgerName } from "./domain/ledger-name.ts";
import type { MessageKey } from "./domain/message.ts";
import { assemble } from "./engine/assemble.ts";
import type { Engine } from "./engine/engine.ts";
import type { Parts } from "./engine/parts.ts";
import { type Events, silentEvents } from "./events.ts";
import type { HotStock } from "./hot-stock/hot-stock.ts";
import { MemoryHotStock } from "./hot-stock/memory.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { MigrationError, type MigrationStatus } from "./ledger/migrate.ts";
import { migrateMysql, openMysqlLedger } from "./ledger/mysql-ledger.ts";
import { migrateSqlite, openSqliteLedger } from "./ledger/sqlite-ledger.ts";
import { checkBack } from "./outlet/check-back.ts";
import type { Outlet } from "./outlet/outlet.ts";
import { AnswerReader } from "./workers/answer-reader.ts";
import { Expirer } from "./workers/expirer.ts";
import { LeaseKeeper } from "./workers/lease-keeper.ts";
import { Leased, type LeasedWorker } from "./workers/leased.ts";
import { LedgerWriter } from "./workers/ledger-writer.ts";
import { Publisher } from "./workers/publisher.ts";
import { Rebuilder } from "./workers/rebuilder.ts";
import { Reconciler } from "./workers/reconciler.ts";
import { Relay } from "./workers/relay.ts";
import { runWorker, type Worker } from "./workers/worker.ts";

export { MigrationError };

export type OpenOptions = {
  /** `sqlite:FILE`, `sqlite::memory:`, `mysql://…` or `mariadb://…`. */
  readonly ledgerUrl: string;
  /** `memory:`, `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly hotUrl?: string;
  /** `memory:`, `redis://…`, `rediss://…`, `redis-cluster://…`, `amqp(s)://…` or `rocketmq://…` */
  readonly busUrl?: string;
  readonly messageKeys?: readonly MessageKey[];
  readonly events: Events;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Where the events of entries go; before `eventsOut`. */
  readonly outlet?: Outlet;
  /** The broker of the bus, or nobody, as by default and where the bus is in memory. */
  readonly eventsOut?: EventsMode;
  /** What this process does of the work; all of it by default. Somebody must do the rest. */
  readonly roles?: readonly Role[];
  /** False: what other processes decide is only asked for, every 50 ms; to measure against. */
  readonly hearsDecisions?: boolean;
};

/** One process of Holdfast: the engine, its stores and its workers. */
export interface Holdfast extends AsyncDisposable {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly parts: Parts;
  readonly lanePlace: LanePlace;
  /** Where the events of entries are read, in the broker's words; null: nobody is told. */
  readonly eventsPlace: string | null;
  /** Runs the workers and waits until hot stock is open. */
  start(): Promise<void>;
  /** Waits until nothing is in flight; false when the deadline passed first. */
  drain(deadlineMs: number): Promise<boolean>;
}

const memoryUrl = "memory:";
const redisUrl = /^(rediss?|redis-cluster):\/\//;
const rabbitmqUrl = /^amqps?:\/\//;
const openWithinMs = 30_000;
const pollMs = 5;
const sqlitePrefix = "sqlite:";

/** The composition root: the only file that knows which adapters exist. */
export async function openHoldfast(options: OpenOptions): Promise<Holdfast> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const { events } = options;
  const ledger = await openLedger(options.ledgerUrl, clock);
  const messageKeys = options.messageKeys ?? [
    { kid: "ledger", secret: await ledger.secret("messages") },
  ];
  const tools = { clock, random, prefix: await prefixOf(ledger) };
  const hot = await openHotStock(options.hotUrl ?? memoryUrl, tools);
  const lanes = (await ledger.lanes()).length;
  const bus = await openBus(options.busUrl ?? memoryUrl, { ...tools, lanes });
  // Hot stock in memory is this process's own, so no other can be at work.
  const isAlone = (options.hotUrl ?? memoryUrl) === memoryUrl;
  const isHeard = !isAlone && options.hearsDecisions !== false;
  const news = isHeard ? await openNews(options.hotUrl ?? memoryUrl, tools) : null;
  const stores = { hot, ledger, bus, clock, random, events, messageKeys, news, turn: nextTurn };
  if (isAlone) await ledger.releaseAll();
  const { engine, parts } = await assemble(stores);
  const outlet = options.outlet ?? (await outletOf(options, ledger, tools));
  const workers = makeWorkers(parts, outlet, options.roles);
  if (!isAlone) workers.push(new AnswerReader(parts));
  const lanePlace = { prefix: tools.prefix, count: lanes };
  return new Process({ engine, parts, lanePlace, workers, random, news, outlet });
}

type Tools = { readonly clock: Clock; readonly random: Random; readonly prefix: string };

/** Each ledger's own: two on one Redis would fence each other's lanes for ever. */
async function prefixOf(ledger: Ledger): Promise<string> {
  return `holdfast-${ledgerName(await ledger.secret("reservation-ids"))}`;
}

async function openHotStock(url: string, tools: Tools): Promise<HotStock> {
  if (url === memoryUrl) return new MemoryHotStock(tools);
  if (!redisUrl.test(url)) throw new Error("hot stock: expected memory: or redis://…");
  const { RedisHotStock } = await import("./hot-stock/redis.ts");
  return new RedisHotStock({ url, ...tools });
}

async function openNews(url: string, tools: Tools): Promise<DecisionNews> {
  const { DecisionChannel } = await import("./bus/redis-decision-channel.ts");
  return new DecisionChannel({ url, ...tools });
}

async function openBus(url: string, tools: Tools & { readonly lanes: number }): Promise<Bus> {
  if (url === memoryUrl) return new MemoryBus(tools.clock);
  if (rabbitmqUrl.test(url)) {
    const { RabbitmqBus } = await import("./bus/rabbitmq.ts");
    return new RabbitmqBus({ url, ...tools });
  }
  if (url.startsWith("rocketmq:")) return openRocketmq(url, tools);
  if (!redisUrl.test(url)) {
    throw new Error("bus: expected memory:, redis://…, amqp://… or rocketmq://…");
  }
  const { RedisStreamsBus } = await import("./bus/redis-streams.ts");
  return new RedisStreamsBus({ url, ...tools });
}

/** What is missing is said now, and not by a lane that stays closed. */
async function openRocketmq(url: string, tools: Tools & { readonly lanes: number }): Promise<Bus> {
  const { RocketmqBus } = await import("./bus/rocketmq.ts");
  const bus = new RocketmqBus({ url, ...tools });
  await bus.requireLanes(tools.lanes);
  return bus;
}

/** Whoever does not relay tells nobody. */
async function outletOf(
  { busUrl = memoryUrl, eventsOut = "none", roles = roleNames }: OpenOptions,
  ledger: Ledger,
  tools: Tools,
): Promise<Outlet | null> {
  if (busUrl === memoryUrl || eventsOut === "none" || !roles.includes("relay")) return null;
  return openOutlet(busUrl, { mode: eventsOut, ledger, tools });
}

type Telling = {
  readonly mode: Exclude<EventsMode, "none">;
  readonly ledger: Ledger;
  readonly tools: Tools;
};

async function openOutlet(url: string, { mode, ledger, tools }: Telling): Promise<Outlet | null> {
  if (rabbitmqUrl.test(url)) {
    const { RabbitmqOutlet } = await import("./outlet/rabbitmq.ts");
    return new RabbitmqOutlet({ url, ...tools });
  }
  if (url.startsWith("rocketmq:")) {
    const { RocketmqOutlet } = await import("./outlet/rocketmq.ts");
    const isAsked = mode === "transactions";
    const judge = isAsked ? { checkBack: (body: Uint8Array) => checkBack(ledger, body) } : {};
    const outlet = new RocketmqOutlet({ url, ...tools, ...judge });
    await outlet.prepare();
    return outlet;
  }
  if (!redisUrl.test(url)) return null;
  const { RedisOutlet } = await import("./outlet/redis.ts");
  return new RedisOutlet({ url, ...tools });
}

export function makeWorkers(
  parts: Parts,
  outlet: Outlet | null,
  roles: readonly Role[] = roleNames,
): Worker[] {
  const leased: LeasedWorker[] = [];
  const writers: Worker[] = [];
  if (roles.includes("reconciler")) leased.push(new Rebuilder(parts), new Reconciler(parts));
  if (roles.includes("expirer")) leased.push(new Expirer(parts));
  if (roles.includes("relay")) leased.push(new Publisher(parts, outlet));
  for (let lane = 0; lane < parts.lanes; lane += 1) {
    if (roles.includes("relay")) leased.push(new Relay(parts, lane));
    // The bus has one reader for each lane, so there is one writer at a time without a lease.
    if (roles.includes("writer")) writers.push(new LedgerWriter(parts, lane));
  }
  const leasing = leased.map((worker) => new Leased(parts, worker));
  return [new LeaseKeeper(parts), ...leasing, ...writers];
}

class Process implements Holdfast {
  readonly engine: Engine;
  readonly parts: Parts;
  readonly ledger: Ledger;
  readonly lanePlace: LanePlace;
  readonly eventsPlace: string | null;
  readonly #outlet: Outlet | null;
  readonly #workers: readonly Worker[];
  readonly #random: Random;
  readonly #news: DecisionNews | null;
  readonly #stop = new AbortController();
  #running: Promise<void>[] = [];

  constructor(made: {
    engine: Engine;
    parts: Parts;
    lanePlace: LanePlace;
    workers: readonly Worker[];
    random: Random;
    news: DecisionNews | null;
    outlet: Outlet | null;
  }) {
    this.#outlet = made.outlet;
    this.eventsPlace = made.outlet?.place ?? null;
    this.lanePlace = made.lanePlace;
    this.engine = made.engine;
    this.parts = made.parts;
    this.ledger = made.parts.ledger;
    this.#workers = made.workers;
    this.#random = made.random;
    this.#news = made.news;
  }

  async start(): Promise<void> {
    const { clock, events } = this.parts;
    const tools = { clock, random: this.#random, events, turn: nextTurn };
    this.#running = this.#workers.map((worker) => runWorker(worker, tools, this.#stop.signal));
    await this.#until(async () => (await this.engine.oversight.health()).ready, openWithinMs);
  }

  async drain(deadlineMs: number): Promise<boolean> {
    return this.#until(async () => {
      const { inFlight, behind, closed } = await this.engine.oversight.reconciliation();
      return inFlight === 0 && behind === 0 && closed === 0;
    }, deadlineMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.parts.decisions.releaseAll();
    await Promise.all(this.#running);
    await this.#release();
    await this.#news?.close();
    await this.#outlet?.close?.();
    await this.parts.bus.close();
    await this.parts.hot.close();
    await this.ledger.close();
  }

  /** A ledger that is away keeps them until their time is over. */
  async #release(): Promise<void> {
    const { leases, events } = this.parts;
    try {
      await leases.release();
    } catch (error) {
      events.workerFailed("leases", error);
    }
  }

  async #until(holds: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
    const { clock } = this.parts;
    const deadline = clock.mono() + deadlineMs;
    while (!(await holds())) {
      if (clock.mono() >= deadline) return false;
      await clock.sleep(pollMs, this.#stop.signal);
    }
    return true;
  }
}

export type MigrateOptions = {
  /** Says what is pending, and changes nothing. */
  readonly dryRun: boolean;
  /** How many lanes a new ledger has; one that exists keeps its own. */
  readonly lanes?: number;
};

/** Brings a ledger's schema up to date. */
export function migrateLedger(url: string, options: MigrateOptions): Promise<MigrationStatus> {
  const file = sqliteFile(url);
  return file === null
    ? migrateMysql(url, options)
    : migrateSqlite(file, { clock: systemClock, ...options });
}

/**
 * Makes what lanes and events need on a broker that has to be told before: queues and an exchange
 * on RabbitMQ, topics and groups on RocketMQ. The ledger says how many lanes there are, and under
 * which name. Answers where the events are read.
 */
export async function prepareBus(
  busUrl: string,
  ledgerUrl: string,
  eventsOut: EventsMode,
): Promise<string | null> {
  const clock = systemClock;
  const ledger = await openLedger(ledgerUrl, clock);
  try {
    const [prefix, lanes] = [await prefixOf(ledger), (await ledger.lanes()).length];
    const tools = { clock, random: systemRandom, prefix };
    await prepareLanes(busUrl, { ...tools, lanes });
    const asked = { ledgerUrl, busUrl, eventsOut, events: silentEvents };
    const outlet = await outletOf(asked, ledger, tools);
    await outlet?.prepare?.();
    await outlet?.close?.();
    return outlet?.place ?? null;
  } finally {
    await ledger.close();
  }
}

async function prepareLanes(url: string, tools: Tools & { readonly lanes: number }): Promise<void> {
  if (url.startsWith("rocketmq:")) return (await openRocketmq(url, tools)).close();
  if (!rabbitmqUrl.test(url)) return;
  const { RabbitmqBus } = await import("./bus/rabbitmq.ts");
  const bus = new RabbitmqBus({ url, ...tools });
  try {
    await bus.declareLanes(tools.lanes);
  } finally {
    await bus.close();
  }
}

/** How the queues of this ledger are named on a broker; null when it cannot be read. */
export async function lanePlaceOf(ledgerUrl: string): Promise<LanePlace | null> {
  try {
    const ledger = await openLedgerToRead(ledgerUrl);
    try {
      return { prefix: await prefixOf(ledger), count: (await ledger.lanes()).length };
    } finally {
      await ledger.close();
    }
  } catch {
    return null;
  }
}

/** A connection beside the others, which neither migrates nor writes. */
export function openLedgerToRead(url: string): Promise<Ledger> {
  const [file, clock] = [sqliteFile(url), systemClock];
  return file === null
    ? openMysqlLedger(url, { clock, readOnly: true })
    : openSqliteLedger(file, { clock, readOnly: true });
}

/** SQLite has its time from this process; a server has a clock of its own, which decides. */
function openLedger(url: string, clock: Clock): Promise<Ledger> {
  const file = sqliteFile(url);
  return file === null ? openMysqlLedger(url, { clock }) : openSqliteLedger(file, { clock });
}

function sqliteFile(url: string): string | null {
  if (url.startsWith(sqlitePrefix)) return url.slice(sqlitePrefix.length);
  if (/^(mysql|mariadb):/.test(url)) return null;
  throw new Error(`expected ${sqlitePrefix}FILE, mysql://… or mariadb://…`);
}
