import { ManualClock } from "../../src/clock.ts";
import type { Instant } from "../../src/domain/values.ts";

export type Pace = {
  /** One turn of everybody who does not wait for the clock. */
  readonly turn: () => Promise<void>;
  /** Virtual milliseconds without a result after which work counts as stuck. */
  readonly stuckAfterMs: number;
};

const embedded: Pace = { turn: quiet, stuckAfterMs: 120_000 };

/**
 * Time that moves only when everybody waits for it. The embedded stores do nothing outside of
 * promises, so after one macrotask whoever still waits, waits for the clock. Over servers a turn
 * is a real millisecond.
 */
export class VirtualTime {
  readonly clock: ManualClock;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #lookers: (() => void)[] = [];
  readonly #pace: Pace;
  #passed = 0;
  #pumping = false;

  constructor(start?: Instant, pace: Pace = embedded) {
    this.clock = new ManualClock(start);
    this.#pace = pace;
  }

  /** Called at every millisecond that passes while work goes on. */
  eachTick(look: () => void): void {
    this.#lookers.push(look);
  }

  /** The case is over. */
  lookNoMore(): void {
    this.#lookers.length = 0;
  }

  /** The result of the work, with as much time as it needs and no more. */
  drive<T>(work: Promise<T>): Promise<T> {
    this.#passed = 0;
    if (!this.#pumping) void this.#pump();
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const end = (): void => {
        this.#waiting.delete(reject);
      };
      work.then(resolve, reject).finally(end);
    });
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.#pace.turn();
  }

  async #pump(): Promise<void> {
    const { turn, stuckAfterMs } = this.#pace;
    this.#pumping = true;
    await turn();
    while (this.#waiting.size > 0) {
      for (const look of this.#lookers) look();
      if (this.#passed++ === stuckAfterMs) {
        const stuck = new Error(`stuck for ${stuckAfterMs} virtual ms`);
        for (const reject of this.#waiting) reject(stuck);
        break;
      }
      await this.pass(1);
    }
    this.#pumping = false;
  }
}

/** Every promise that does not wait for the clock has had its turn. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
