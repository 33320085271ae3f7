import type { Lease } from "../domain/lease.ts";
import type { Parts } from "../engine/parts.ts";
import type { Worker } from "./worker.ts";

/** A worker of which one acts at a time, in whatever process. */
export interface LeasedWorker {
  readonly name: string;
  step(lease: Lease, signal: AbortSignal): Promise<number>;
  idle(signal: AbortSignal): Promise<void>;
}

const waitMs = 1_000;

/** Steps while this process has the lease that is named like the worker; waits for it otherwise. */
export class Leased implements Worker {
  readonly name: string;
  readonly #parts: Pick<Parts, "leases" | "clock">;
  readonly #worker: LeasedWorker;

  constructor(parts: Pick<Parts, "leases" | "clock">, worker: LeasedWorker) {
    this.name = worker.name;
    this.#parts = parts;
    this.#worker = worker;
  }

  async step(signal: AbortSignal): Promise<number> {
    const lease = this.#parts.leases.held(this.name);
    return lease === null ? 0 : this.#worker.step(lease, signal);
  }

  idle(signal: AbortSignal): Promise<void> {
    const { leases, clock } = this.#parts;
    if (leases.held(this.name) !== null) return this.#worker.idle(signal);
    return leases.came.wait(clock, waitMs, signal);
  }
}
