import { randomBytes } from "node:crypto";
import type { Instant } from "./domain/values.ts";

/** Time comes in as an argument, so that tests and the simulator can turn it. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  now(): Instant;
  /** Monotonic milliseconds from an arbitrary start. */
  mono(): number;
  /** Resolves after `ms`; early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Chance comes in as an argument too. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  bytes(length: number): Buffer;
}

/** RFC 3339 in UTC with milliseconds. */
export function isoTime(at: Instant): string {
  return new Date(at).toISOString();
}

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
    }),
};

/** One turn of the event loop: what has arrived by now is looked at first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const systemRandom: Random = {
  next: () => Math.random(),
  bytes: (length) => randomBytes(length),
};

/** A clock that tests turn by hand: `advance` resolves every sleep that has come due, in order. */
export class ManualClock implements Clock {
  #now: number;
  #mono = 0;
  #sleepers: { due: number; wake: () => void }[] = [];

  constructor(now: Instant = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  mono(): number {
    return this.#mono;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper = { due: this.#mono + ms, wake };
      const abort = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#mono += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= this.#mono);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.due > this.#mono);
    for (const { wake } of due.sort((a, b) => a.due - b.due)) wake();
  }

  /** The wall clock jumps; monotonic time does not. */
  jump(ms: number): void {
    this.#now += ms;
  }
}
