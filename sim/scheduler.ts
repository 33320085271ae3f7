import type { Clock } from "../src/clock.ts";
import type { Instant } from "../src/domain/values.ts";

/** Where the virtual clocks begin. */
export const epochMs = 1_700_000_000_000;

/** Whoever events happen to: a process, or nobody (stores and clients never die). */
export interface Host {
  /** False: its events never happen. */
  readonly alive: boolean;
  /** Its events come no earlier than this: it stands still. */
  readonly pausedUntil: number;
}

type Event = {
  at: number;
  readonly seq: number;
  readonly host: Host | null;
  readonly act: () => void;
  cancelled: boolean;
};

/**
 * Virtual time: a binary heap of events by (time, sequence). After each event all promises
 * settle before the next one, so a run is a function of the seed.
 */
export class Scheduler {
  now = 0;
  events = 0;
  #seq = 0;
  #live = 0;
  readonly #heap: Event[] = [];

  /** Events that still wait, without the cancelled ones. */
  get waiting(): number {
    return this.#live;
  }

  after(ms: number, host: Host | null, act: () => void): () => void {
    const at = this.now + Math.max(0, ms);
    const event: Event = { at, seq: this.#seq++, host, act, cancelled: false };
    this.#push(event);
    this.#live += 1;
    return () => {
      if (event.cancelled) return;
      event.cancelled = true;
      this.#live -= 1;
    };
  }

  /** Runs until `until` says so, or nothing waits, or the time is over; true if it said so. */
  async run(until: () => boolean, endMs: number): Promise<boolean> {
    await settle();
    while (!until()) {
      const event = this.#next(endMs);
      if (event === null) return false;
      this.now = Math.max(this.now, event.at);
      this.events += 1;
      event.act();
      await settle();
    }
    return true;
  }

  #next(endMs: number): Event | null {
    for (;;) {
      const [event] = this.#heap;
      if (event === undefined || event.at > endMs) return null;
      this.#pop();
      if (event.cancelled) continue;
      const { host } = event;
      if (host?.alive === true && host.pausedUntil > event.at) {
        event.at = host.pausedUntil;
        this.#push(event);
        continue;
      }
      event.cancelled = true;
      this.#live -= 1;
      if (host === null || host.alive) return event;
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !before(event, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const goRight = right !== undefined && before(right, left);
      const child = goRight ? right : left;
      if (!before(child, last)) break;
      heap[at] = child;
      at = 2 * at + (goRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

/**
 * Until no promise that can settle is left: a tick comes when the queue of promises is empty, and
 * costs no turn of the event loop.
 */
function settle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function before(a: Event, b: Event): boolean {
  return a.at === b.at ? a.seq < b.seq : a.at < b.at;
}

/** Sleeps up to this long are polls: how late they end is for the seed to say. */
const pollMaxMs = 250;

/**
 * The clock of one process or store: its wall clock is skewed, its timers come late, and its
 * sleeps die with it.
 */
export class VirtualClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #host: Host | null;
  readonly #skewMs: number;
  readonly #laziness: number;
  /** Sleeps that have not ended: a leak if one is left after everything has stopped. */
  sleeping = 0;

  constructor(
    scheduler: Scheduler,
    host: Host | null,
    { skewMs, laziness }: { readonly skewMs: number; readonly laziness: number },
  ) {
    this.#scheduler = scheduler;
    this.#host = host;
    this.#skewMs = skewMs;
    this.#laziness = laziness;
  }

  now(): Instant {
    return epochMs + Math.floor(this.#scheduler.now + this.#skewMs);
  }

  mono(): number {
    return this.#scheduler.now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      this.sleeping += 1;
      const late = ms > pollMaxMs ? 1 : this.#laziness;
      const done = (): void => {
        this.sleeping -= 1;
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const cancel = this.#scheduler.after(ms * late, this.#host, done);
      const stop = (): void => {
        cancel();
        done();
      };
      signal?.addEventListener("abort", stop, { once: true });
    });
  }
}
