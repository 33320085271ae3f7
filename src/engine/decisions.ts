import type { Clock } from "../clock.ts";
import type { CommandResult } from "../domain/command.ts";

/** Waiters whose time is up are let go in steps of this size. */
const sweepEveryMs = 25;

type Waiter = { readonly deadline: number; readonly done: (result: CommandResult | null) => void };

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

  wait(id: string, waitMs: number, signal?: AbortSignal): Promise<CommandResult | null> {
    if (waitMs <= 0 || signal?.aborted === true) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiter: Waiter = { deadline: this.#clock.mono() + waitMs, done: resolve };
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters.add(waiter));
      signal?.addEventListener("abort", () => this.#release(id, waiter), { once: true });
      if (!this.#sweeping) void this.#sweep();
    });
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
