import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { createConnection, type ResultSetHeader } from "mysql2/promise";
import { inject } from "vitest";
import { RabbitmqBus } from "../../src/bus/rabbitmq.ts";
import { RedisStreamsBus } from "../../src/bus/redis-streams.ts";
import { systemClock, systemRandom } from "../../src/clock.ts";
import { skuId } from "../../src/domain/values.ts";
import { Keys } from "../../src/hot-stock/keys.ts";
import type { HotSku } from "../../src/hot-stock/lane-state.ts";
import { RedisHotStock } from "../../src/hot-stock/redis.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { engineOverHttp } from "./engine-over-http.ts";
import { createDatabase } from "./ledger-servers.ts";
import { realServer } from "./real-server.ts";
import type { ShopProcess } from "./shop-process.ts";
import type { Hand, SharedStores, ShopWorld, WorldOptions } from "./shop-world.ts";
import { VirtualTime } from "./virtual-time.ts";

export type CaseServers = { readonly redis: string; readonly mariadb: string };

declare module "vitest" {
  interface ProvidedContext {
    readonly caseServers: CaseServers | undefined;
  }
}

/** A consumer that died is followed soon: a case need not wait for it. */
const claimIdleMs = 300;
/** Five times as fast as real time, and slow enough for the workers' calls. */
const stepMs = 5;
/** Longer than the sweep's and the publisher's pauses. */
const roundMs = 250;
/** Virtual milliseconds pass with real ones, while somebody waits. */
const stuckAfterMs = 30_000;

export function caseServers(): CaseServers {
  const servers = inject("caseServers");
  if (servers === undefined) throw new Error("this project has no servers");
  return servers;
}

/**
 * Hot stock and bus on Redis, the ledger on MariaDB, and each process a server that listens: all
 * that a case says goes over HTTP. The clock of processes and ledger is turned by the case; while
 * it waits, its milliseconds are real.
 */
export async function stackWorld(options: WorldOptions): Promise<ShopWorld> {
  const { redis: redisUrl, mariadb } = caseServers();
  const time = new VirtualTime(options.startsAt, { turn: oneMs, stuckAfterMs });
  const database = await createDatabase({ url: mariadb });
  const prefix = `case-${randomBytes(6).toString("hex")}`;
  const { servers = {} } = options;
  const opened: SharedStores[] = [];
  let redis = new Redis(redisUrl);
  let own: PrivateRedis | null = null;
  const open = async (): Promise<SharedStores> => {
    const tools = { clock: time.clock, random: systemRandom, prefix };
    const stores = {
      hot: new RedisHotStock({ ...tools, url: own?.url ?? servers.hot ?? redisUrl }),
      bus:
        servers.rabbitmq === undefined
          ? new RedisStreamsBus({ ...tools, url: redisUrl, claimIdleMs })
          : new RabbitmqBus({ url: servers.rabbitmq, clock: systemClock, prefix }),
      ledger: await openMysqlLedger(database.url, { now: () => time.clock.now() }),
    };
    opened.push(stores);
    return stores;
  };
  let stores = await open();
  /** Another server in its place, with nothing in it; the bus stays where it is. */
  const loseHot = async (): Promise<void> => {
    own = await PrivateRedis.start();
    await redis.quit();
    redis = new Redis(own.url);
    stores = await open();
  };
  const listening = new Map<ShopProcess, () => Promise<void>>();
  const end = async (processes: readonly ShopProcess[]): Promise<void> => {
    for (const process of processes) await listening.get(process)?.();
    await time.drive(Promise.all(processes.map((process) => process.ended())));
  };
  return {
    time,
    prefix,
    stepMs,
    roundMs,
    stores: () => stores,
    ledgerUrl: database.url.replace(/^mysql/, "mariadb"),
    hand: handOn(() => redis, { prefix, url: database.url }),
    storesOfProcess: open,
    joined: async (process, note) => void listening.set(process, await serve(process, time, note)),
    died: async (processes, what) => {
      await end(processes);
      if (what === "is lost") await loseHot();
    },
    close: async (processes) => {
      time.lookNoMore();
      await end(processes);
      await closeAll(opened);
      await redis.quit();
      await own?.stop();
      await database.drop();
    },
  };
}

async function closeAll(opened: readonly SharedStores[]): Promise<void> {
  for (const { hot, bus, ledger } of opened) {
    await Promise.all([hot.close(), bus.close(), ledger.close()]);
  }
}

function oneMs(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Over the process's own engine; from here on it is spoken to over HTTP. */
async function serve(
  process: ShopProcess,
  { clock }: VirtualTime,
  note: (what: string) => void,
): Promise<() => Promise<void>> {
  const app = await realServer({
    engine: process.engine,
    clock,
    log: (error) => note(`http ${String(error)}`),
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  process.isReachedAt(url, engineOverHttp(url));
  return () => app.close();
}

type Place = { readonly prefix: string; readonly url: string };

function handOn(redis: () => Redis, { prefix, url }: Place): Hand {
  const keys = new Keys(prefix);
  const hotKeys = async (): Promise<readonly string[]> => {
    const all = await redis().keys(`${prefix}:*`);
    return all.filter((key) => !key.endsWith(":bus"));
  };
  return {
    editHot: (sku, edit) => editSku(redis(), keys.sku(0, skuId(sku)), edit),
    emptyHot: async () => void (await redis().del(...(await hotKeys()))),
    dropSkus: async () => {
      const own = (await hotKeys()).filter((key) => /:(stock|buyers|ids):/.test(key));
      await redis().del(...own);
    },
    copyHot: async () => {
      const names = [...(await hotKeys())].sort();
      const dumps = names.map(async (key) => (await redis().dumpBuffer(key))?.toString("hex"));
      return [names, await Promise.all(dumps)];
    },
    sql: async (statement, ...params) => {
      const connection = await createConnection(url);
      try {
        await connection.query("set foreign_key_checks = 0");
        const [told] = await connection.execute<ResultSetHeader>(statement, [...params]);
        return told.affectedRows;
      } finally {
        await connection.end();
      }
    },
  };
}

/** What an edit changed of the one in memory is done to the keys; the rest of it stays. */
async function editSku(
  redis: Redis,
  [stock = "", buyers = ""]: readonly string[],
  edit: (sku: HotSku) => void,
): Promise<void> {
  const found = await redis.hget(stock, "a");
  if (found === null) return;
  const had = await redis.hgetall(buyers);
  const counts = Object.entries(had).map(([buyer, units]) => [buyer, Number(units)] as const);
  const sku = { available: Number(found), buyers: new Map(counts) } as unknown as HotSku;
  edit(sku);
  const more = sku.available - Number(found);
  if (more !== 0) await redis.hincrby(stock, "a", more);
  const kept = new Set<string>(sku.buyers.keys());
  const gone = Object.keys(had).filter((buyer) => !kept.has(buyer));
  if (gone.length > 0) await redis.hdel(buyers, ...gone);
}
