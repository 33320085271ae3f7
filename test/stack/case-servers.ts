import type { TestProject } from "vitest/node";
import { startMariadb } from "../../stack/mariadb.ts";
import { PrivateRedis } from "../../stack/redis.ts";

/** One of each for all cases; each shop has keys and a database of its own in them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [redis, mariadb] = await Promise.all([PrivateRedis.start(), startMariadb()]);
  project.provide("caseServers", { redis: redis.url, mariadb: mariadb.url });
  return async () => {
    await Promise.all([redis.stop(), mariadb.stop()]);
  };
}
