import type { Clock } from "../clock.ts";

/** Wakes whoever waits for work; a ring that nobody waits for is remembered once. */
export class Bell {
  #rung = false;
  #waiting: (() => void)[] = [];
  readonly #onRing: () => void;

  /** `onRing`: who else should hear it. */
  constructor(onRing: () => void = () => {}) {
    this.#onRing = onRing;
  }

  ring(): void {
    this.#onRing();
    this.ringHere();
  }

  /** For a ring that came from elsewhere. */
  ringHere(): void {
    this.#rung = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Until rung, until the signal, or for `maxMs`. */
  async wait(clock: Clock, maxMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const woken = new AbortController();
      // With a reason: without one an error is made, stack and all, for nobody.
      const wake = (): void => woken.abort("rung");
      this.#waiting.push(wake);
      signal.addEventListener("abort", wake, { once: true });
      await clock.sleep(maxMs, woken.signal);
      signal.removeEventListener("abort", wake);
      this.#waiting = this.#waiting.filter((each) => each !== wake);
    }
    this.#rung = false;
  }
}
