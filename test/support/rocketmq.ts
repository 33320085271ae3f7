import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { RocketmqBus, type RocketmqOptions } from "../../src/bus/rocketmq.ts";
import { systemClock } from "../../src/clock.ts";
import type { RocketmqOptions as ServerOptions } from "../../stack/rocketmq.ts";

const firstTriesMax = 5;

export type RocketmqHere = { readonly url: string; readonly brokerPort: number };

declare module "vitest" {
  interface ProvidedContext {
    /** Started once for the whole project; null when it could not be, and was left out. */
    readonly rocketmq: RocketmqHere | null | undefined;
  }
}

/** A server that lets tests wait less than it would let others. */
export const impatient = {
  broker: {
    // It asks soon what became of half a message, and does not tire of asking.
    ...{ transactionTimeOut: "1000", transactionCheckInterval: "1000" },
    transactionCheckMax: "1000",
  },
  proxy: {
    minInvisibleTimeMillsForRecv: 500,
    grpcClientConsumerMinLongPollingTimeoutMillis: 300,
  },
} as const satisfies ServerOptions;

/** The server that this project has started; none when it was left out, as was said loudly. */
export function rocketmqServers(): readonly RocketmqHere[] {
  const here = inject("rocketmq");
  return here ? [here] : [];
}

export function newPrefix(): string {
  return `t-${randomBytes(6).toString("hex")}`;
}

export function openBus(
  options: Pick<RocketmqOptions, "url"> & Partial<RocketmqOptions>,
): RocketmqBus {
  return new RocketmqBus({ clock: systemClock, pollMs: 1_000, lookMs: 1_500, ...options });
}

/** Its lanes are made, and the client has started in each: what follows does not wait for that. */
export async function warmBus(
  options: Parameters<typeof openBus>[0],
  lanes: number,
): Promise<RocketmqBus> {
  const bus = openBus(options);
  await bus.requireLanes(lanes);
  for (let lane = 0; lane < lanes; lane += 1) {
    const sent = await publishedAtLast(bus, lane);
    for (let came = 0; came < sent; ) {
      const found = await bus.receive(lane, { max: sent, waitMs: 20_000 });
      if (found.length === 0 && came === 0) throw new Error(`lane ${lane} brings nothing`);
      if (found.length === 0) break;
      await bus.acknowledge(lane, found);
      came += found.length;
    }
  }
  return bus;
}

/** A server that has only just begun may take longer for its first answer than the client waits. */
async function publishedAtLast(bus: RocketmqBus, lane: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      await bus.publish(lane, Buffer.from("first"));
      return tries;
    } catch (error) {
      if (tries === firstTriesMax) throw error;
    }
  }
}
