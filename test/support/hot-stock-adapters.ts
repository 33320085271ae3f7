import { ManualClock, systemClock, systemRandom } from "../../src/clock.ts";
import type { HotStock } from "../../src/hot-stock/hot-stock.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import { RedisHotStock } from "../../src/hot-stock/redis.ts";
import { adaptersHere } from "./adapters-here.ts";
import { ownPrefix, sharedCluster, sharedRedis } from "./redis-server.ts";

/** A hot stock with what can befall its server. */
export type HotSubject = {
  readonly hot: HotStock;
  /** It lives on under another incarnation, with all that it had. */
  reborn(): Promise<void>;
  /** All keys are gone; the server is the same. */
  flush(): Promise<void>;
};

export type HotStockAdapter = {
  readonly name: string;
  /** An empty one of its own; `ticketsMax` bounds what a lane may hold in flight. */
  readonly open: (options?: { readonly ticketsMax?: number }) => Promise<HotSubject>;
};

/** Every adapter of the port runs the same suites: a new one is a row here. */
export const hotStockAdapters: readonly HotStockAdapter[] = adaptersHere([
  {
    name: "memory",
    open: async (options = {}) => {
      const hot = new MemoryHotStock({
        clock: new ManualClock(),
        random: systemRandom,
        ...options,
      });
      return {
        hot,
        reborn: async () => hot.restart(hot.copy()),
        flush: async () => hot.flush(),
      };
    },
  },
  {
    name: "redis",
    open: async (options = {}) => {
      const redis = await sharedRedis();
      const { url } = redis;
      const own = { url, clock: systemClock, random: systemRandom, prefix: ownPrefix() };
      return {
        hot: new RedisHotStock({ ...own, ...options }),
        // As after a failover: the server is the same, and its replication id is not.
        reborn: async () => void (await redis.plain.call("DEBUG", "CHANGE-REPL-ID")),
        flush: async () => void (await redis.plain.flushall()),
      };
    },
  },
  {
    name: "redis cluster",
    open: async (options = {}) => {
      const cluster = await sharedCluster();
      const { url } = cluster;
      const own = { url, clock: systemClock, random: systemRandom, prefix: ownPrefix() };
      return {
        hot: new RedisHotStock({ ...own, ...options }),
        reborn: async () => {
          for (const { plain } of cluster.primaries) await plain.call("DEBUG", "CHANGE-REPL-ID");
        },
        flush: () => cluster.flush(),
      };
    },
  },
]);
