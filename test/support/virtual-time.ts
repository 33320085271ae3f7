import { ManualClock } from "../../src/clock.ts";
import type { Instant } from "../../src/domain/values.ts";

/** Virtual milliseconds without a result after which work counts as stuck. */
const patienceMs = 120_000;

/**
 * Time that moves only when everybody waits for it. The embedded stores do nothing outside of
 * promises, so after one macrotask whoever still waits, waits for the clock.
 */
export class VirtualTime {
  readonly clock: ManualClock;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #lookers: (() => void)[] = [];
  #passed = 0;
  #pumping = false;

  constructor(start?: Instant) {
    this.clock = new ManualClock(start);
  }

  /** Called at every millisecond that passes while work goes on. */
  eachTick(look: () => void): void {
    this.#lookers.push(look);
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
    await quiet();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    await quiet();
    while (this.#waiting.size > 0) {
      for (const look of this.#lookers) look();
      if (this.#passed++ === patienceMs) {
        for (const reject of this.#waiting) reject(new Error(`stuck for ${patienceMs} virtual ms`));
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
