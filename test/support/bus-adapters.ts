import type { Bus } from "../../src/bus/bus.ts";
import { MemoryBus } from "../../src/bus/memory.ts";
import { ManualClock } from "../../src/clock.ts";

/** A bus with what can befall its consumer. */
export type BusSubject = {
  readonly bus: Bus;
  /** The consumer of a lane is gone; another takes its place. */
  consumerDies(lane: number): Promise<void>;
  /** Lets this much time pass for whoever waits. */
  pass(ms: number): Promise<void>;
};

/** Every adapter of the port runs the same suite: a new one is a row here. */
export const busAdapters: readonly {
  readonly name: string;
  readonly open: () => Promise<BusSubject>;
}[] = [
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
];
