import type { Parts } from "../engine/parts.ts";
import type { Worker } from "./worker.ts";

const everyMs = 50;
/** One question for all who wait; who does not fit in waits for the next. */
const idsMax = 500;

/**
 * Another process may decide what somebody waits for here: the ledger is asked, once for all of
 * them. Who waits is woken and reads for himself, so nothing is believed on the way.
 */
export class AnswerReader implements Worker {
  readonly name = "answer-reader";
  readonly #parts: Pick<Parts, "ledger" | "decisions" | "clock">;

  constructor(parts: Pick<Parts, "ledger" | "decisions" | "clock">) {
    this.#parts = parts;
  }

  async step(): Promise<number> {
    const { ledger, decisions } = this.#parts;
    const ids = decisions.undecided(everyMs, idsMax);
    if (ids.length === 0) return 0;
    // The lane is only repeated in the answers.
    for (const { id } of await ledger.settled(0, ids)) decisions.wake(id);
    return 0;
  }

  idle(signal: AbortSignal): Promise<void> {
    return this.#parts.clock.sleep(everyMs, signal);
  }
}
