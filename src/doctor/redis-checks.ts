import { type Checks, failWhen, some, warnWhen } from "./check.ts";
import { judgeVersion, leastRedis, leastValkey } from "./versions.ts";

/** A Redis as it says of itself. */
export type RedisFacts = {
  readonly server: "redis" | "valkey";
  readonly version: string;
  readonly role: string;
  readonly policy: string;
  readonly usedBytes: number;
  /** 0: as much as the machine has. */
  readonly maxBytes: number;
  readonly isAppendOnly: boolean;
  readonly isLastWriteGood: boolean;
  /** Null where the server does not let its settings be read. */
  readonly fsync: string | null;
  readonly replicas: readonly RedisReplica[];
  /** Null: not a cluster. */
  readonly cluster: RedisClusterFacts | null;
  readonly keys: number;
  /** Keys of ours that will be gone by themselves. */
  readonly expiring: readonly string[];
  /** Its clock minus ours. */
  readonly aheadMs: number;
};

export type RedisClusterFacts = {
  readonly state: string;
  readonly slots: number;
  /** `cluster-require-full-coverage`; null where settings may not be read. */
  readonly fullCoverage: string | null;
};

export type RedisReplica = { readonly state: string; readonly behindBytes: number };

const memoryShareMax = 0.9;
/** What a failover may lose: some milliseconds of a busy lane. */
const behindBytesMax = 1_000_000;
const clusterSlots = 16_384;

export const redisChecks: Checks<RedisFacts> = {
  "redis.version": {
    look: "redis-cli {at} info server",
    judge: ({ server, version }) => {
      const { state, least } = judgeVersion(version, server === "redis" ? leastRedis : leastValkey);
      return { state, said: { server, version, least } };
    },
  },
  "redis.role": {
    look: "redis-cli {at} role",
    // A cluster may be named by any of its nodes: the primaries are learned from it.
    judge: ({ role, cluster }) => failWhen(role !== "master" && cluster === null, { role }),
  },
  "redis.eviction": {
    look: "redis-cli {at} config get maxmemory-policy",
    isRefused: true,
    judge: ({ policy }) => failWhen(policy !== "noeviction", { policy }),
  },
  "redis.ttl": {
    look: 'redis-cli {at} --scan --pattern "holdfast*"',
    isRefused: true,
    judge: ({ keys, expiring }) =>
      failWhen(expiring.length > 0, { keys, expiring: expiring.length, example: some(expiring) }),
  },
  "redis.aof": {
    look: "redis-cli {at} info persistence",
    isRefused: true,
    judge: ({ isAppendOnly, isLastWriteGood }) =>
      failWhen(!isAppendOnly || !isLastWriteGood, {
        appendonly: isAppendOnly ? "yes" : "no",
        written: isLastWriteGood ? "ok" : "err",
      }),
  },
  "redis.fsync": {
    look: "redis-cli {at} config get appendfsync",
    judge: ({ fsync }) => {
      if (fsync === null) return warnWhen(true, { fsync: "?" });
      return failWhen(fsync !== "always" && fsync !== "everysec", { fsync });
    },
  },
  "redis.memory": {
    look: "redis-cli {at} info memory; redis-cli {at} --bigkeys",
    judge: ({ usedBytes, maxBytes, keys }) =>
      warnWhen(maxBytes > 0 && usedBytes > maxBytes * memoryShareMax, {
        used: megabytes(usedBytes),
        max: maxBytes === 0 ? "∞" : megabytes(maxBytes),
        keys,
      }),
  },
  "redis.replica-lag": {
    look: "redis-cli {at} info replication",
    judge: ({ replicas }) => {
      const behind = replicas.reduce((most, { behindBytes }) => Math.max(most, behindBytes), 0);
      const away = replicas.filter(({ state }) => state !== "online").length;
      const said = { replicas: replicas.length, behind, away };
      return warnWhen(behind > behindBytesMax || away > 0, said);
    },
  },
  "redis.cluster": {
    look: "redis-cli {at} cluster info",
    judge: ({ cluster }) => {
      if (cluster === null) return failWhen(false, { state: "-", slots: "-" });
      const { state, slots } = cluster;
      return failWhen(state !== "ok" || slots !== clusterSlots, { state, slots });
    },
  },
  "redis.coverage": {
    look: "redis-cli {at} config get cluster-require-full-coverage",
    judge: ({ cluster }) => {
      const coverage = cluster === null ? "-" : (cluster.fullCoverage ?? "?");
      return warnWhen(coverage !== "no" && coverage !== "-", { coverage });
    },
  },
};

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}
