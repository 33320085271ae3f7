import type { Clock, Random } from "../clock.ts";
import type { Events } from "../events.ts";

/**
 * What happens without being asked. A step is bounded, safe to repeat and safe to kill between
 * any two awaits; it says how much it did.
 */
export interface Worker {
  readonly name: string;
  step(signal: AbortSignal): Promise<number>;
  /** Until there may be work again. */
  idle(signal: AbortSignal): Promise<void>;
}

const pauseMinMs = 20;
const pauseMaxMs = 2_000;

type Tools = {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  /** Stands before each step: what has arrived by now goes on together, and all get their turn. */
  readonly turn?: () => Promise<void>;
};

/** The loop around every worker, shared and dumb. A failed step is tried again, later each time. */
export async function runWorker(
  worker: Worker,
  { clock, random, events, turn }: Tools,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await turn?.();
      const done = await worker.step(signal);
      failures = 0;
      if (done === 0 && !signal.aborted) await worker.idle(signal);
    } catch (error) {
      events.workerFailed(worker.name, error);
      const pause = Math.min(pauseMaxMs, pauseMinMs * 2 ** failures);
      failures = Math.min(failures + 1, 10);
      await clock.sleep(pause * (0.5 + random.next()), signal);
    }
  }
}
