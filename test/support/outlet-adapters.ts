import { makeGroup } from "../../src/bus/rocketmq-admin.ts";
import { systemClock } from "../../src/clock.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "../../src/outlet/outlet.ts";
import { RabbitmqOutlet } from "../../src/outlet/rabbitmq.ts";
import { RedisOutlet } from "../../src/outlet/redis.ts";
import { RocketmqOutlet, type RocketmqOutletOptions } from "../../src/outlet/rocketmq.ts";
import { RocketmqFakeProxy } from "../../stack/rocketmq-fake-proxy.ts";
import { TcpProxy } from "../../stack/tcp-proxy.ts";
import { adaptersHere } from "./adapters-here.ts";
import { EventsReader } from "./events-reader.ts";
import { sharedRabbitmq } from "./rabbitmq-server.ts";
import { ownPrefix, sharedCluster, sharedRedis } from "./redis-server.ts";
import { newPrefix, type RocketmqHere, rocketmqServers } from "./rocketmq.ts";

/** An outlet, whoever reads behind it, and what can befall the broker between them. */
export type OutletSubject = {
  readonly outlet: Outlet;
  /** False: whoever reads must sort by version himself. */
  readonly isOrdered: boolean;
  /** Once a reader has been given all of these: everything that it was given, in that order. */
  seen(ids: readonly string[]): Promise<readonly CloudEvent[]>;
  /** The broker does not answer, or answers again. */
  silence(isSilent: boolean): Promise<void>;
  close(): Promise<void>;
};

type OutletAdapter = { readonly name: string; readonly open: () => Promise<OutletSubject> };

const answerWithinMs = 1_500;

/** Every adapter of the port runs the same suite: a new one is a row here. */
export const outletAdapters: readonly OutletAdapter[] = adaptersHere<OutletAdapter>([
  { name: "memory", open: async () => inMemory() },
  { name: "redis", open: onRedis },
  { name: "redis cluster", open: onCluster },
  { name: "rabbitmq", open: onRabbitmq },
  ...rocketmqServers().flatMap((here) => [
    { name: "rocketmq, ordered", open: () => onRocketmq(here, "ordered") },
    { name: "rocketmq, transactions", open: () => onRocketmq(here, "transactions") },
  ]),
]);

/** The least that keeps the promises. */
function inMemory(): OutletSubject {
  const given: CloudEvent[] = [];
  let isSilent = false;
  const deliver = async (events: readonly CloudEvent[]): Promise<void> => {
    if (isSilent) throw new NotAllTold(new Set(), new Error("silent"));
    given.push(...events);
  };
  return {
    outlet: { deliver },
    isOrdered: true,
    seen: async () => given,
    silence: async (silent) => {
      isSilent = silent;
    },
    close: async () => undefined,
  };
}

async function onRedis(): Promise<OutletSubject> {
  const server = await sharedRedis();
  const proxy = await TcpProxy.before(server.port);
  const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
  const outlet = new RedisOutlet({ url, prefix: ownPrefix(), commandTimeoutMs: answerWithinMs });
  const reader = await readerOf(server.url, outlet);
  return {
    ...{ outlet, isOrdered: true },
    seen: (ids) => reader.seen(ids),
    silence: async (isSilent) => {
      proxy.weather = isSilent ? "black-hole" : "pass";
    },
    close: async () => {
      await Promise.all([reader.end(), outlet.close()]);
      await proxy.close();
    },
  };
}

/** The primaries say themselves where they are: what stands still is each of them. */
async function onCluster(): Promise<OutletSubject> {
  const cluster = await sharedCluster();
  const outlet = new RedisOutlet({
    ...{ url: cluster.url, prefix: ownPrefix(), commandTimeoutMs: answerWithinMs },
  });
  const home = await homeOf(outlet);
  const reader = await readerOf(home, outlet);
  const each = (...command: readonly [string, ...string[]]) =>
    Promise.all(cluster.primaries.map(({ plain }) => plain.call(...command)));
  return {
    ...{ outlet, isOrdered: true },
    seen: (ids) => reader.seen(ids),
    silence: async (isSilent) => {
      if (isSilent) await each("CLIENT", "PAUSE", "600000", "WRITE");
      else await each("CLIENT", "UNPAUSE");
    },
    close: async () => {
      await Promise.all([reader.end(), outlet.close()]);
    },
  };
}

/** The one of the primaries that has the stream. */
async function homeOf({ place }: RedisOutlet): Promise<string> {
  const key = place.replace("stream ", "");
  for (const { plain, url } of (await sharedCluster()).primaries) {
    const isHere = await plain.exists(key).then(
      () => true,
      () => false,
    );
    if (isHere) return url;
  }
  throw new Error(`nobody has ${key}`);
}

function readerOf(url: string, { place }: RedisOutlet): Promise<EventsReader> {
  return EventsReader.start("redis", {
    URL_OF_BROKER: url,
    STREAM: place.replace("stream ", ""),
  });
}

async function onRabbitmq(): Promise<OutletSubject> {
  const server = await sharedRabbitmq();
  const proxy = await TcpProxy.before(server.port);
  const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const prefix = ownPrefix();
  const outlet = new RabbitmqOutlet({ url, prefix, clock: systemClock, answerWithinMs });
  await outlet.prepare();
  const reader = await EventsReader.start("rabbitmq", {
    ...{ URL_OF_BROKER: server.url, EXCHANGE: `${prefix}.events`, QUEUE: `${prefix}.reader` },
  });
  return {
    ...{ outlet, isOrdered: true },
    seen: (ids) => reader.seen(ids),
    silence: async (isSilent) => {
      proxy.weather = isSilent ? "black-hole" : "pass";
    },
    close: async () => {
      await Promise.all([reader.end(), outlet.close()]);
      await proxy.close();
    },
  };
}

type Mode = "ordered" | "transactions";

async function onRocketmq(here: RocketmqHere, mode: Mode): Promise<OutletSubject> {
  const proxy = await RocketmqFakeProxy.before(Number(new URL(here.url).port));
  const url = `rocketmq://127.0.0.1:${proxy.port}?broker=127.0.0.1:${here.brokerPort}`;
  const isOrdered = mode === "ordered";
  const checkBack = async () => "commit" as const;
  const more = isOrdered ? {} : { checkBack };
  const { outlet, reader } = await readRocketmq(here, { url, prefix: newPrefix(), ...more });
  return {
    ...{ outlet, isOrdered },
    seen: (ids) => reader.seen(ids),
    silence: async (isSilent) => {
      proxy.isSilent = isSilent;
    },
    close: async () => {
      await Promise.all([reader.end(), outlet.close()]);
      await proxy.close();
    },
  };
}

/** An outlet whose topic is there, and a reader who goes to the server itself. */
export async function readRocketmq(
  { url, brokerPort }: RocketmqHere,
  options: Omit<RocketmqOutletOptions, "clock">,
): Promise<{ outlet: RocketmqOutlet; reader: EventsReader }> {
  const outlet = new RocketmqOutlet({ ...options, clock: systemClock });
  const group = `${options.prefix}-readers`;
  const isOrdered = options.checkBack === undefined;
  await makeGroup({ host: "127.0.0.1", port: brokerPort }, group, { isOrdered });
  await outlet.prepare();
  const reader = await EventsReader.start("rocketmq", {
    ...{ PROXY: `127.0.0.1:${new URL(url).port}`, GROUP: group },
    TOPIC: outlet.place.replace("topic ", ""),
  });
  return { outlet, reader };
}
