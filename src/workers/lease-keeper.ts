import type { Parts } from "../engine/parts.ts";
import type { Worker } from "./worker.ts";

/** A third of the shortest term. */
const everyMs = 500;

/** Keeps the leases of this process, and tells the ledger what its holder elsewhere must mend. */
export class LeaseKeeper implements Worker {
  readonly name = "lease-keeper";
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async step(): Promise<number> {
    const { leases, fences } = this.#parts;
    await leases.keep();
    await fences.tellDoubts();
    return 0;
  }

  idle(signal: AbortSignal): Promise<void> {
    const { leases, clock } = this.#parts;
    return leases.wished.wait(clock, everyMs, signal);
  }
}
