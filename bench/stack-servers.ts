import { createConnection } from "mysql2/promise";
import { startMariadb } from "../stack/mariadb.ts";
import { PrivateRedis } from "../stack/redis.ts";

/** Private servers for the rows that need them: a Redis, a MariaDB that flushes every commit. */
export type Servers = AsyncDisposable & {
  readonly redis: PrivateRedis;
  /** Of their processes. */
  readonly pids: { readonly redis: number; readonly mariadb: number };
  /** Of a database that nobody has used. */
  freshDatabase(): Promise<string>;
};

/** `redisSettings`: as on the command line of its server, after ours. */
export async function startServers(redisSettings: readonly string[] = []): Promise<Servers> {
  const redis = await PrivateRedis.start(redisSettings);
  const mariadb = await startMariadb();
  let databases = 0;
  return {
    redis,
    pids: { redis: redis.pid, mariadb: mariadb.pid },
    async freshDatabase() {
      databases += 1;
      const name = `bench_${databases}`;
      const connection = await createConnection({ uri: mariadb.url });
      if (databases > 1) await connection.query(`drop database bench_${databases - 1}`);
      await connection.query(`create database ${name}`);
      await connection.end();
      return `${mariadb.url.replace(/^\w+/, "mariadb")}/${name}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([redis.stop(), mariadb.stop()]);
    },
  };
}
