import type { Clock } from "../clock.ts";
import type { Problem } from "./problem.ts";

/**
 * So many calls a second for each caller, a second's worth at once (GCRA): a key, a user, or an
 * address where there is neither. In the memory of this process, so a limit is per process, and
 * it holds whatever store is away.
 */
export type RateLimit = {
  /** Null: it may pass. */
  readonly problem: Problem | null;
  readonly headers: Readonly<Record<string, string>>;
};

const callersMax = 50_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #intervalMs: number;
  /** When the caller's next call would come if all came evenly; in order of last use. */
  readonly #nextMs = new Map<string, number>();

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#intervalMs = 1_000 / perSecond;
  }

  take(caller: string): RateLimit {
    const nowMs = this.#clock.mono();
    const nextMs = Math.max(this.#nextMs.get(caller) ?? nowMs, nowMs);
    const aheadMs = nextMs + this.#intervalMs - nowMs;
    const burstMs = 1_000;
    const isOver = aheadMs > burstMs + rounding;
    if (!isOver) this.#keep(caller, nextMs + this.#intervalMs);
    const left = isOver ? 0 : Math.floor((burstMs - aheadMs) / this.#intervalMs + rounding);
    const waitMs = isOver ? aheadMs - burstMs : 0;
    return { headers: this.#headers(left, waitMs), problem: isOver ? tooMany(waitMs) : null };
  }

  /** The one that has been silent longest is forgotten: it has its whole allowance again. */
  #keep(caller: string, nextMs: number): void {
    this.#nextMs.delete(caller);
    this.#nextMs.set(caller, nextMs);
    if (this.#nextMs.size <= callersMax) return;
    const [silent] = this.#nextMs.keys();
    if (silent !== undefined) this.#nextMs.delete(silent);
  }

  #headers(left: number, waitMs: number): Record<string, string> {
    return {
      "ratelimit-policy": `"caller";q=${this.#perSecond};w=1`,
      ratelimit: `"caller";r=${left};t=${waitMs > 0 ? secondsOf(waitMs) : 1}`,
    };
  }
}

/** Sums of thirds and sevenths of a second are not exact. */
const rounding = 1e-6;

function tooMany(waitMs: number): Problem {
  const retryAfterSeconds = secondsOf(waitMs);
  const detail = "more calls a second than this server takes from one caller";
  return { code: "TOO_MANY", detail, retryAfterSeconds };
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
