import type { Lease } from "../domain/lease.ts";
import type { Instant, ReservationId } from "../domain/values.ts";
import type { Parts } from "../engine/parts.ts";
import type { DueCursor } from "../ledger/ledger.ts";
import type { LeasedWorker } from "./leased.ts";

const everyMs = 100;
const dueMax = 500;
const reportEveryMs = 60_000;
/** The ledger's clock may run away from monotonic time by this much between two steps. */
const jumpMaxMs = 30_000;

/**
 * Writes down what the deadline has decided. One bad order does not stop the sweep: the cursor
 * passes it, and it is tried again on the next round. A jump of the ledger's clock stops the
 * expirer; ten thousand holds that really end at once are no reason.
 */
export class Expirer implements LeasedWorker {
  readonly name = "expirer";
  readonly #parts: Parts;
  #cursor: DueCursor | null = null;
  #last: { now: Instant; mono: number } | null = null;
  #jumped = false;
  readonly #nextReportAt = new Map<ReservationId, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async step(lease: Lease): Promise<number> {
    const { ledger, line, leases } = this.#parts;
    if (await this.#clockJumped()) return 0;
    const due = await ledger.dueHolds(this.#cursor, dueMax);
    this.#cursor = due.length < dueMax ? null : (due.at(-1) ?? null);
    if (due.length === 0) return 0;
    const results = await line.runGivingWay(
      due.map(({ id }) => ({ kind: "expire", id, lease }) as const),
    );
    let done = 0;
    for (const [index, result] of results.entries()) {
      if (result.status === "accepted" && !result.replayed) done += 1;
      if (result.status === "stale") leases.lost(lease);
      const hold = due[index];
      if (result.status === "broken" && hold !== undefined) this.#report(hold.id, result.reason);
    }
    return done;
  }

  /** It is tried on every round, and said now and then. */
  #report(id: ReservationId, reason: string): void {
    const { clock, events } = this.#parts;
    if (clock.mono() < (this.#nextReportAt.get(id) ?? 0)) return;
    this.#nextReportAt.set(id, clock.mono() + reportEveryMs);
    events.alarm("expiry", `hold ${id}: ${reason}`);
  }

  idle(signal: AbortSignal): Promise<void> {
    return this.#parts.clock.sleep(everyMs, signal);
  }

  async #clockJumped(): Promise<boolean> {
    const { ledger, clock, events } = this.#parts;
    const mono = clock.mono();
    const now = await ledger.now();
    const last = this.#last;
    this.#last = { now, mono };
    if (this.#jumped || last === null) return this.#jumped;
    const jump = now - last.now - (mono - last.mono);
    // The call itself takes time, forwards only.
    const slack = clock.mono() - mono;
    if (jump > jumpMaxMs + slack || jump < -jumpMaxMs) {
      this.#jumped = true;
      const detail = `the ledger's clock jumped by ${jump} ms: expiry stopped until a restart`;
      events.alarm("clock", detail);
    }
    return this.#jumped;
  }
}
