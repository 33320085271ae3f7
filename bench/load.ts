import { setTimeout as sleep } from "node:timers/promises";

export type Tally = { readonly answered: number; readonly seconds: number };

/**
 * A closed loop: so many callers, each with its next call when the last was answered. The rate
 * counts what was answered inside the time, the tail after it only ends.
 */
export async function closedLoop(
  options: { readonly callers: number; readonly seconds: number },
  call: (n: number) => Promise<void>,
): Promise<Tally> {
  const from = performance.now();
  const until = from + options.seconds * 1000;
  let next = 0;
  let answered = 0;
  let lastAt = from;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      await call(next++);
      answered += 1;
      lastAt = performance.now();
    }
  };
  await Promise.all(Array.from({ length: options.callers }, caller));
  return { answered, seconds: (lastAt - from) / 1000 };
}

/** The same for a number of calls instead of a time. */
export async function countedLoop(
  options: { readonly callers: number; readonly count: number },
  call: (n: number) => Promise<void>,
): Promise<Tally> {
  const from = performance.now();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < options.count) await call(next++);
  };
  await Promise.all(Array.from({ length: options.callers }, caller));
  return { answered: next, seconds: (performance.now() - from) / 1000 };
}

export function rateOf({ answered, seconds }: Tally): number {
  return answered / seconds;
}

/**
 * An open loop: calls start when they are meant to, however late the answers are; milliseconds
 * are counted from the intended start, so a stall is paid for by all that it delayed.
 */
export async function openLoop(
  options: { readonly perSecond: number; readonly seconds: number; readonly signal?: AbortSignal },
  call: (n: number) => Promise<void>,
): Promise<number[]> {
  const { perSecond, seconds, signal } = options;
  const from = performance.now();
  const total = Math.ceil(perSecond * seconds);
  const latencies: number[] = [];
  const open = new Set<Promise<void>>();
  for (let n = 0; n < total && signal?.aborted !== true; ) {
    const due = Math.min(total, Math.floor(((performance.now() - from) / 1000) * perSecond) + 1);
    for (; n < due; n += 1) {
      const intended = from + (n / perSecond) * 1000;
      const done = call(n).then(() => {
        latencies.push(performance.now() - intended);
        open.delete(done);
      });
      open.add(done);
    }
    await sleep(1);
  }
  await Promise.all(open);
  return latencies;
}
