import { afterAll } from "vitest";
import { PrivateRedis } from "../../stack/redis.ts";
import { PrivateRedisCluster } from "../../stack/redis-cluster.ts";

const more = ["--enable-debug-command", "yes"];
let running: Promise<PrivateRedis> | null = null;
let cluster: Promise<PrivateRedisCluster> | null = null;
let prefixes = 0;

/** One server for all tests of a file; each test has keys of its own. */
export function sharedRedis(): Promise<PrivateRedis> {
  running ??= PrivateRedis.start(more);
  return running;
}

/** Three primaries for all tests of a file. */
export function sharedCluster(): Promise<PrivateRedisCluster> {
  cluster ??= PrivateRedisCluster.start({ more });
  return cluster;
}

export function ownPrefix(): string {
  prefixes += 1;
  return `test-${prefixes}`;
}

afterAll(async () => {
  await (await running)?.stop();
  await (await cluster)?.stop();
  running = null;
  cluster = null;
});
