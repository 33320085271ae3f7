import type { Bus } from "../../src/bus/bus.ts";
import { MemoryBus } from "../../src/bus/memory.ts";
import { RabbitmqBus } from "../../src/bus/rabbitmq.ts";
import { RedisStreamsBus } from "../../src/bus/redis-streams.ts";
import { ManualClock, systemClock, systemRandom } from "../../src/clock.ts";
import { adaptersHere } from "./adapters-here.ts";
import { sharedRabbitmq } from "./rabbitmq-server.ts";
import { ownPrefix, sharedCluster, sharedRedis } from "./redis-server.ts";
import { newPrefix, openBus, rocketmqServers, warmBus } from "./rocketmq.ts";

/** A bus with what can befall its consumer. */
export type BusSubject = {
  readonly bus: Bus;
  /** The consumer of a lane is gone; another takes its place. */
  consumerDies(lane: number): Promise<void>;
  /** Lets this much time pass for whoever waits. */
  pass(ms: number): Promise<void>;
};

type BusAdapter = { readonly name: string; readonly open: () => Promise<BusSubject> };

/** Every adapter of the port runs the same suite: a new one is a row here. */
export const busAdapters: readonly BusAdapter[] = adaptersHere<BusAdapter>([
  {
    name: "memory",
    open: async () => {
      const clock = new ManualClock();
      const bus = new MemoryBus(clock);
      return {
        bus,
        consumerDies: async (lane) => bus.consumerDied(lane),
        pass: async (ms) => clock.advance(ms),
      };
    },
  },
  { name: "redis streams", open: async () => onStreams((await sharedRedis()).url) },
  { name: "redis streams, cluster", open: async () => onStreams((await sharedCluster()).url) },
  {
    name: "rabbitmq",
    open: async () => {
      const { url } = await sharedRabbitmq();
      const prefix = ownPrefix();
      const open = () => new RabbitmqBus({ url, clock: systemClock, prefix });
      const subject = {
        bus: open(),
        consumerDies: async () => {
          await subject.bus.close();
          subject.bus = open();
        },
        pass: (ms: number) => systemClock.sleep(ms),
      };
      return subject;
    },
  },
  ...rocketmqServers().map(({ url }) => ({
    name: "rocketmq",
    open: async () => {
      const prefix = newPrefix();
      // Longer than the looks of one test together: it comes again only where a consumer dies.
      const hiddenMs = 6_000;
      const subject = {
        bus: await warmBus({ url, prefix, hiddenMs }, 2),
        consumerDies: async (lane: number) => {
          await subject.bus.die();
          subject.bus = openBus({ url, prefix, hiddenMs: 60_000 });
          // Nothing is given back: it is shown to the next one when it has been out long enough.
          const left = await subject.bus.receive(lane, { max: 10, waitMs: 2 * hiddenMs });
          await subject.bus.release(lane, left);
        },
        pass: (ms: number) => systemClock.sleep(ms),
      };
      return subject;
    },
  })),
]);

function onStreams(url: string): BusSubject {
  const own = { url, clock: systemClock, random: systemRandom, prefix: ownPrefix() };
  const open = (claimIdleMs: number) => new RedisStreamsBus({ ...own, claimIdleMs });
  const subject = {
    bus: open(60_000),
    consumerDies: async () => {
      // Nothing is given back: the next one takes over what has been out for long enough.
      subject.bus = open(0);
    },
    pass: (ms: number) => systemClock.sleep(ms),
  };
  return subject;
}
