import type { Clock } from "../clock.ts";
import type { Lease } from "../domain/lease.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Bell } from "./bell.ts";

/** A holder that dies is followed after this long. */
const termMs = 10_000;
/** Relaying by two is harmless, and a lane without a relay makes its buyers wait. */
const relayTermMs = 1_500;

type Held = { readonly lease: Lease; readonly from: number; readonly until: number };

/**
 * What this process may do that one process at a time does. A lease is wished for by asking for
 * it; `keep` takes what is free and prolongs what is held. The times here only spare the asking:
 * whether a lease still counts is compared by its token, in the store that is written to.
 */
export class Leases {
  readonly #ledger: Pick<Ledger, "hold" | "release">;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #wishes = new Set<string>();
  readonly #held = new Map<string, Held>();
  /** Rings when a lease is wished for. */
  readonly wished = new Bell();
  /** Rings when a lease has come. */
  readonly came = new Bell();
  #released = false;

  constructor(parts: {
    ledger: Pick<Ledger, "hold" | "release">;
    clock: Clock;
    /** Of this life of this process, and of no other. */
    holder: string;
  }) {
    this.#ledger = parts.ledger;
    this.#clock = parts.clock;
    this.#holder = parts.holder;
  }

  /** Null: another acts, or nobody yet; it is wished for from now on. */
  held(name: string): Lease | null {
    if (!this.#wishes.has(name)) {
      this.#wishes.add(name);
      this.wished.ring();
    }
    const held = this.#held.get(name);
    return held !== undefined && this.#clock.mono() < held.until ? held.lease : null;
  }

  /** How many of the names that begin like this are held; wishes for nothing. */
  countOf(prefix: string): number {
    const now = this.#clock.mono();
    const held = [...this.#held].filter(([name, { until }]) => {
      return name.startsWith(prefix) && now < until;
    });
    return held.length;
  }

  /** The store has refused its token: another has it. */
  lost({ name, token }: Lease): void {
    if (this.#held.get(name)?.lease.token === token) this.#held.delete(name);
  }

  /** How many were asked for; those that another has are asked for again each time. */
  async keep(): Promise<number> {
    const from = this.#clock.mono();
    const due = [...this.#wishes].filter((name) => this.#isDue(name, from));
    if (due.length === 0 || this.#released) return 0;
    const wishes = due.map((name) => ({ name, forMs: termOf(name) }));
    const got = await this.#ledger.hold(this.#holder, wishes);
    const found = new Map(got.map((lease) => [lease.name, lease]));
    for (const name of due) {
      const lease = found.get(name);
      if (lease === undefined) this.#held.delete(name);
      else this.#held.set(name, { lease, from, until: from + termOf(name) });
    }
    if (got.length > 0) this.came.ring();
    return due.length;
  }

  /** The process stops: others need not wait for the end of its leases. */
  async release(): Promise<void> {
    this.#released = true;
    const leases = [...this.#held.values()].map(({ lease }) => lease);
    this.#held.clear();
    await this.#ledger.release(leases);
  }

  #isDue(name: string, now: number): boolean {
    const held = this.#held.get(name);
    return held === undefined || now - held.from >= termOf(name) / 3;
  }
}

function termOf(name: string): number {
  return name.startsWith("relay") ? relayTermMs : termMs;
}
