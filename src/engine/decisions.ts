import type { Clock } from "../clock.ts";
import type { CommandResult } from "../domain/command.ts";

/** Waiters whose time is up are let go in steps of this size. */
const sweepEveryMs = 25;

/** A decision that may come: null when the time is up, or nobody waits for it any longer. */
export type Expectation = {
  readonly result: Promise<CommandResult | null>;
  /** It will not come, or nobody cares: nothing is kept of it. */
  readonly forget: () => void;
};

type Waiter = Expectation & {
  readonly since: number;
  /** For the first decision under the id, or for whatever comes next. */
  readonly what: "decision" | "change";
  readonly deadline: number;
  readonly tell: (result: CommandResult | null) => void;
};

const nothingExpected: Expectation = { result: Promise.resolve(null), forget: () => {} };

/**
 * Who waits for which decision. The group commit tells; a waiter whose time is up gets null and
 * reads for itself. One sleeper serves all waiters, however many there are.
 */
export class Decisions {
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Waiter[]>();
  #sweeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Begun before the question is asked, so that the answer cannot come in between. */
  expect(id: string, waitMs: number, signal?: AbortSignal): Expectation {
    return this.#expect("decision", id, waitMs, signal);
  }

  /** Until the next thing that is decided about the id. */
  wait(id: string, waitMs: number, signal?: AbortSignal): Promise<CommandResult | null> {
    return this.#expect("change", id, waitMs, signal).result;
  }

  #expect(
    what: Waiter["what"],
    id: string,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Expectation {
    if (waitMs <= 0 || signal?.aborted === true) return nothingExpected;
    let tell: Waiter["tell"] = () => {};
    const result = new Promise<CommandResult | null>((resolve) => {
      tell = (told): void => {
        signal?.removeEventListener("abort", forget);
        resolve(told);
      };
    });
    const forget = (): void => this.#release(id, waiter);
    const since = this.#clock.mono();
    const waiter: Waiter = { result, forget, tell, what, since, deadline: since + waitMs };
    const others = this.#waiters.get(id);
    if (others === undefined) this.#waiters.set(id, [waiter]);
    else others.push(waiter);
    signal?.addEventListener("abort", forget, { once: true });
    if (!this.#sweeping) void this.#sweep();
    return waiter;
  }

  /** Whether anybody has waited for it here. */
  tell(id: string, result: CommandResult): boolean {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return false;
    this.#waiters.delete(id);
    for (const { tell } of waiters) tell(result);
    return true;
  }

  /** Ids whose first decision somebody has waited for so long, the oldest first. */
  undecided(forMs: number, max: number): readonly string[] {
    const before = this.#clock.mono() - forMs;
    const ids: string[] = [];
    for (const [id, waiters] of this.#waiters) {
      if (ids.length === max) break;
      if (waiters.some(({ what, since }) => what === "decision" && since <= before)) ids.push(id);
    }
    return ids;
  }

  /** It is decided, elsewhere: whoever waits reads for himself. */
  wake(id: string): void {
    const waiters = this.#waiters.get(id);
    this.#waiters.delete(id);
    for (const { tell } of waiters ?? []) tell(null);
  }

  /** Another process says that these are decided: whoever waits for that reads for himself. */
  wakeDecided(ids: readonly string[]): void {
    for (const id of ids) {
      const isAwaited = this.#waiters.get(id)?.some(({ what }) => what === "decision") ?? false;
      if (isAwaited) this.wake(id);
    }
  }

  /** The process stops: nobody waits any longer. */
  releaseAll(): void {
    for (const [id, waiters] of this.#waiters) {
      this.#waiters.delete(id);
      for (const { tell } of waiters) tell(null);
    }
  }

  async #sweep(): Promise<void> {
    this.#sweeping = true;
    while (this.#waiters.size > 0) {
      await this.#clock.sleep(sweepEveryMs);
      const now = this.#clock.mono();
      for (const waiters of this.#waiters.values()) {
        for (const { forget } of waiters.filter(({ deadline }) => deadline <= now)) forget();
      }
    }
    this.#sweeping = false;
  }

  #release(id: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(id);
    const at = waiters?.indexOf(waiter) ?? -1;
    if (waiters === undefined || at < 0) return;
    if (waiters.length === 1) this.#waiters.delete(id);
    else waiters.splice(at, 1);
    waiter.tell(null);
  }
}
