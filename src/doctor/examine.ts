import type { Clock } from "../clock.ts";
import { type Finding, worstOfEach } from "./check.ts";
import { examineLive, type LiveSource } from "./live-checks.ts";
import { examineMysql } from "./mysql.ts";
import { examineRabbitmq } from "./rabbitmq.ts";
import { examineRedis } from "./redis.ts";
import { examineRocketmq } from "./rocketmq.ts";
import { examineSqlite } from "./sqlite.ts";
import { examineTransport, nodeUrls, type StoreUrls } from "./transport.ts";

export type Look = {
  readonly clock: Clock;
  /** Also what reads a whole ledger file; not for a process that serves from it. */
  readonly isDeep: boolean;
};

/** Every store that a configuration names, over connections of the doctor's own. */
export async function examineStores(urls: StoreUrls, look: Look): Promise<readonly Finding[]> {
  const { ledger, hot, bus } = urls;
  const { clock } = look;
  const redis = new Set([...redisUrlsOf(hot), ...redisUrlsOf(bus)]);
  const found = await Promise.all([
    ledger.kind === "sqlite" ? examineFile(ledger.file, look) : examineMysql(ledger.url, clock),
    ...[...redis].map((url) => examineRedis(url, clock)),
    examineBroker(urls, clock),
  ]);
  return worstOfEach([...examineTransport(urls), ...found.flat()]);
}

/** The running process and its stores: what its engine sees comes first. */
export async function examineServer(
  source: LiveSource,
  stores: { readonly urls: StoreUrls; readonly clock: Clock } | null,
): Promise<readonly Finding[]> {
  const [live, beneath] = await Promise.all([
    examineLive(source),
    stores === null ? [] : examineStores(stores.urls, { clock: stores.clock, isDeep: false }),
  ]);
  return worstOfEach([...live, ...beneath]);
}

/**
 * What `serve` does not start on: settings with which a crash, or only time, loses what was
 * promised. A store that is away is no such thing: it may come back.
 */
export async function refusedSettings(urls: StoreUrls, clock: Clock): Promise<readonly Finding[]> {
  const found = await examineStores(urls, { clock, isDeep: false });
  return found.filter(({ isRefused, state }) => isRefused && state === "fail");
}

/** A bus that is neither memory nor Redis. */
async function examineBroker(
  { bus, lanes, events }: StoreUrls,
  clock: Clock,
): Promise<readonly Finding[]> {
  switch (bus.kind) {
    case "amqp":
    case "amqps":
      return examineRabbitmq(bus.url, clock, lanes ?? null);
    case "rocketmq":
      return examineRocketmq(bus.url, clock, lanes ?? null, events);
    default:
      return [];
  }
}

function examineFile(file: string, look: Look): Promise<readonly Finding[]> {
  return file === ":memory:" ? Promise.resolve([]) : examineSqlite(file, look);
}

const redisKinds: readonly string[] = ["redis", "rediss", "redis-cluster"];

function redisUrlsOf(store: StoreUrls["hot"] | StoreUrls["bus"]): readonly string[] {
  return store.kind !== "memory" && redisKinds.includes(store.kind) ? nodeUrls(store.url) : [];
}
