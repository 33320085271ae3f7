import { PrivateRabbitmq } from "../stack/rabbitmq.ts";
import { PrivateRocketmq } from "../stack/rocketmq.ts";
import { committedOverHttpIn, connectionsTried } from "./http.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { openWorldOn, type World, type WorldStores } from "./world.ts";

const brokers = {
  redis: { name: "Redis Streams", start: null },
  rabbitmq: { name: "RabbitMQ", start: () => PrivateRabbitmq.start() },
  rocketmq: { name: "RocketMQ", start: () => PrivateRocketmq.start() },
} as const;

/** What it costs to tell the world: the same line with its events on the bus, and with none. */
export async function stackEventsRow(scale: Scale, kind: keyof typeof brokers): Promise<Row> {
  const { name, start } = brokers[kind];
  await using servers = await startServers();
  await using broker = start === null ? null : disposable(await start());
  return await eventsRow(scale, { name, busUrl: broker?.url ?? servers.redis.url, servers });
}

type Bus = { readonly name: string; readonly busUrl: string; readonly servers: Servers };

function eventsRow(scale: Scale, { name, busUrl, servers }: Bus): Promise<Row> {
  const plain: Plain = {
    name: `committed over HTTP, events on ${name}`,
    unit: "answers/s",
    baselineName: "no events",
    target: { of: "ratio", is: ">=", bound: 0.9 },
  };
  return guarded(plain, async () => {
    const told: number[] = [];
    const rate = async (eventsOut: "bus" | "none"): Promise<number> => {
      await servers.redis.plain.flushall();
      const stores = { ledgerUrl: await servers.freshDatabase(), hotUrl: servers.redis.url };
      const world = { ...stores, busUrl, eventsOut };
      const note = eventsOut === "bus" ? (share: number) => told.push(share) : () => 0;
      const connections = connectionsTried[0];
      return committedOverHttpIn((metrics) => openNoting(world, metrics, note), {
        ...{ scale, connections },
      });
    };
    const pairs = await inPairs(
      scale.pairs,
      () => rate("bus"),
      () => rate("none"),
    );
    const share = Math.round(100 * Math.min(...told));
    return rowOf(
      { ...plain, note: `at the end at least ${share} % of the events were told` },
      pairs,
    );
  });
}

/** Events that fell behind have not cost anything yet: how many were told is part of the figure. */
async function openNoting(
  stores: WorldStores,
  metrics: Parameters<typeof openWorldOn>[1],
  note: (share: number) => void,
): Promise<World> {
  const world = await openWorldOn(stores, metrics);
  const close = async (): Promise<void> => {
    const { entries, unpublished } = await world.holdfast.ledger.counts();
    note((entries - unpublished) / Math.max(1, entries));
    await world[Symbol.asyncDispose]();
  };
  return { ...world, [Symbol.asyncDispose]: close };
}

type Stopping = { readonly url: string; stop(): Promise<void> };

function disposable(server: Stopping): AsyncDisposable & { readonly url: string } {
  return { url: server.url, [Symbol.asyncDispose]: () => server.stop() };
}
