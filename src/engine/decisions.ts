import type { Clock } from "../clock.ts";
import type { CommandResult } from "../domain/command.ts";

/** Waiters whose time is up are let go in steps of this size. */
const sweepEveryMs = 25;

type Waiter = { readonly deadline: number; readonly done: (result: CommandResult | null) => void };

/** A decision that may come: null when the time is up, or nobody waits for it any longer. */
export type Expectation = {
  readonly result: Promise<CommandResult | null>;
  /** It will not come, or nobody cares: nothing is kept of it. */
  forget(): void;
};

const nothingExpected: Expectation = { result: Promise.resolve(null), forget: () => {} };

/**
 * Who waits for which decision. The group commit tells; a waiter whose time is up gets null and
 * reads for itself. One sleeper serves all waiters, however many there are.
 */
export class Decisions {
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #sweeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Begun before the question is asked, so that the answer cannot come in between. */
  expect(id: string, waitMs: number, signal?: AbortSignal): Expectation {
    if (waitMs <= 0 || signal?.aborted === true) return nothingExpected;
    let forget = (): void => {};
    const result = new Promise<CommandResult | null>((resolve) => {
      const deadline = this.#clock.mono() + waitMs;
      const waiter: Waiter = {
        deadline,
        done: (told) => {
          signal?.removeEventListener("abort", forget);
          resolve(told);
        },
      };
      forget = (): void => this.#release(id, waiter);
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters.add(waiter));
      signal?.addEventListener("abort", forget, { once: true });
    });
    if (!this.#sweeping) void this.#sweep();
    return { result, forget: () => forget() };
  }

  wait(id: string, waitMs: number, signal?: AbortSignal): Promise<CommandResult | null> {
    return this.expect(id, waitMs, signal).result;
  }

  tell(id: string, result: CommandResult): void {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return;
    this.#waiters.delete(id);
    for (const { done } of waiters) done(result);
  }

  /** The process stops: nobody waits any longer. */
  releaseAll(): void {
    for (const [id, waiters] of this.#waiters) {
      this.#waiters.delete(id);
      for (const { done } of waiters) done(null);
    }
  }

  async #sweep(): Promise<void> {
    this.#sweeping = true;
    while (this.#waiters.size > 0) {
      await this.#clock.sleep(sweepEveryMs);
      const now = this.#clock.mono();
      for (const [id, waiters] of this.#waiters) {
        for (const waiter of waiters) if (waiter.deadline <= now) this.#release(id, waiter);
      }
    }
    this.#sweeping = false;
  }

  #release(id: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(id);
    if (waiters?.delete(waiter) !== true) return;
    if (waiters.size === 0) this.#waiters.delete(id);
    waiter.done(null);
  }
}
