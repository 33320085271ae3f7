import { createConnection } from "mysql2/promise";
import { startComposed } from "./compose.ts";
import { type SqlServer, startMariadb } from "./mariadb.ts";
import { startMysql } from "./mysql.ts";
import { NotHere } from "./packages.ts";
import { PrivateRabbitmq } from "./rabbitmq.ts";
import { PrivateRedis } from "./redis.ts";
import { PrivateRedisCluster } from "./redis-cluster.ts";
import { PrivateRocketmq } from "./rocketmq.ts";

/** A server that runs: where, as the flags of `serve` take it, and how it ends. */
export type Started = {
  readonly url: string;
  stop(): Promise<void>;
};

const database = "holdfast";

/** Every server of the stack. A new one is a row here. */
export const starters = {
  redis: () => orComposed("redis", () => PrivateRedis.start()),
  mysql: () => orComposed("mysql", async () => withDatabase("mysql", await startMysql())),
  mariadb: () => orComposed("mariadb", async () => withDatabase("mariadb", await startMariadb())),
  rabbitmq: () => orComposed("rabbitmq", () => PrivateRabbitmq.start()),
  cluster: () => PrivateRedisCluster.start(),
  rocketmq: () => orComposed("rocketmq", () => PrivateRocketmq.start()),
} as const satisfies Readonly<Record<string, () => Promise<Started>>>;

export type ServerName = keyof typeof starters;

export function isServerName(word: string): word is ServerName {
  return Object.hasOwn(starters, word);
}

/** What is here comes first, then what can be installed, then Docker. */
async function orComposed(name: string, start: () => Promise<Started>): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof NotHere) return startComposed(name, error);
    throw error;
  }
}

/** A ledger lives in a database that exists: the server comes with an empty one. */
async function withDatabase(scheme: string, server: SqlServer): Promise<Started> {
  const connection = await createConnection({ uri: server.url });
  await connection.query(`create database if not exists ${database}`);
  await connection.end();
  const url = `${server.url.replace(/^\w+/, scheme)}/${database}`;
  return { url, stop: server.stop };
}
