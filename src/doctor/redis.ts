import { RedisClient } from "../bus/redis-client.ts";
import type { Clock } from "../clock.ts";
import { type Finding, judgeAll } from "./check.ts";
import { examineClock } from "./clock-checks.ts";
import { probed } from "./probe.ts";
import {
  type RedisClusterFacts,
  type RedisFacts,
  type RedisReplica,
  redisChecks,
} from "./redis-checks.ts";

const commandTimeoutMs = 4_000;
const scanCount = "500";
/** Keys of ours that are looked at: a sample is enough to find a habit. */
const keysMax = 20_000;
const ourKeys = "holdfast*";

/** A Redis that keeps hot stock, or the bus. Its own connection: the adapters refuse a bad one. */
export function examineRedis(url: string, clock: Clock): Promise<readonly Finding[]> {
  const at = redisPlace(url);
  return probed("redis.reachable", {
    clock,
    look: `redis-cli ${at} ping`,
    work: async (over) => {
      const client = new RedisClient({ place: async () => url, commandTimeoutMs });
      over.addEventListener("abort", () => void client.close());
      try {
        const facts = await redisFacts(client, clock);
        const said = `${facts.server} ${facts.version}`;
        const clocks = examineClock(
          { store: facts.server, aheadMs: facts.aheadMs },
          `redis-cli ${at} time`,
        );
        return { said, findings: [...judgeAll(redisChecks, facts, at), ...clocks] };
      } finally {
        await client.close();
      }
    },
  });
}

/** As `redis-cli` is told; never the password. */
export function redisPlace(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const tls = protocol === "rediss:" ? " --tls" : "";
  return `-h ${hostname} -p ${port === "" ? "6379" : port}${tls}`;
}

async function redisFacts(client: RedisClient, clock: Clock): Promise<RedisFacts> {
  const info = infoOf(await client.call("INFO"));
  const before = clock.now();
  const time = await client.call("TIME");
  const ours = (before + clock.now()) / 2;
  const isCluster = info("cluster_enabled") === "1";
  const isMaster = info("role") === "master";
  return {
    server: info("valkey_version") === "" ? "redis" : "valkey",
    version: info("valkey_version") || info("redis_version"),
    role: info("role"),
    policy: info("maxmemory_policy"),
    usedBytes: Number(info("used_memory")),
    maxBytes: Number(info("maxmemory")),
    isAppendOnly: info("aof_enabled") === "1",
    isLastWriteGood: info("aof_last_write_status") === "ok",
    fsync: await settingOf(client, "appendfsync"),
    replicas: isMaster ? replicasOf(info) : [],
    cluster: isCluster ? await clusterOf(client) : null,
    // A replica of a cluster sends whoever asks for a key to its primary.
    ...(isCluster && !isMaster ? { keys: 0, expiring: [] } : await keysOf(client)),
    aheadMs: Math.round(millisecondsOf(time) - ours),
  };
}

type Info = (name: string) => string;

function infoOf(reply: unknown): Info {
  const text = String(reply);
  return (name) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1] ?? "";
}

/** A server that is rented may keep its settings to itself. */
/** Null where the server does not let its settings be read. */
async function settingOf(client: RedisClient, name: string): Promise<string | null> {
  try {
    const [, value] = listOf(await client.call("CONFIG", "GET", name)).map(String);
    return value ?? null;
  } catch {
    return null;
  }
}

function replicasOf(info: Info): readonly RedisReplica[] {
  const written = Number(info("master_repl_offset"));
  const count = Number(info("connected_slaves"));
  return Array.from({ length: count }, (_, n) => {
    const line = info(`slave${n}`);
    const field = (name: string): string =>
      new RegExp(`(?:^|,)${name}=([^,]*)`).exec(line)?.[1] ?? "";
    return { state: field("state"), behindBytes: Math.max(0, written - Number(field("offset"))) };
  });
}

async function clusterOf(client: RedisClient): Promise<RedisClusterFacts> {
  const info = infoOf(await client.call("CLUSTER", "INFO"));
  const fullCoverage = await settingOf(client, "cluster-require-full-coverage");
  return { state: info("cluster_state"), slots: Number(info("cluster_slots_ok")), fullCoverage };
}

async function keysOf(client: RedisClient): Promise<Pick<RedisFacts, "keys" | "expiring">> {
  const expiring: string[] = [];
  let keys = 0;
  let cursor = "0";
  do {
    const reply = await client.call("SCAN", cursor, "MATCH", ourKeys, "COUNT", scanCount);
    const [next, found] = listOf(reply);
    const names = listOf(found).map(String);
    const ends = await Promise.all(names.map((name) => client.call("PTTL", name)));
    expiring.push(...names.filter((_, index) => Number(ends[index]) >= 0));
    keys += names.length;
    cursor = String(next);
  } while (cursor !== "0" && keys < keysMax);
  return { keys, expiring };
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

function millisecondsOf(reply: unknown): number {
  const [seconds, micros] = listOf(reply).map(Number);
  return (seconds ?? 0) * 1000 + (micros ?? 0) / 1000;
}
