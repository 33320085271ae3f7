import type { Epoch, Lane } from "../domain/values.ts";
import type { Events } from "../events.ts";
import type { ClosedReason, Fence } from "../hot-stock/hot-stock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Bell } from "./bell.ts";

/**
 * Which hot stock this process believes in, per lane: the epoch and the incarnation that the
 * ledger has registered. Every call carries it, and any other hot stock answers "closed".
 */
export class Fences {
  readonly #ledger: Pick<Ledger, "lanes" | "doubt">;
  readonly #events: Events;
  readonly #fences = new Map<Lane, Fence>();
  readonly #causes = new Map<Lane, string>();
  /** Rings when a lane is in doubt: the rebuilder looks. */
  readonly doubts = new Bell();
  #refreshing: Promise<void> | null = null;

  constructor(ledger: Pick<Ledger, "lanes" | "doubt">, events: Events) {
    this.#ledger = ledger;
    this.#events = events;
  }

  get(lane: Lane): Fence | null {
    return this.#fences.get(lane) ?? null;
  }

  /** Asks the ledger, where this process knows of none yet. */
  async known(lane: Lane): Promise<Fence | null> {
    if (!this.#fences.has(lane)) await this.refresh();
    return this.get(lane);
  }

  /** Of that epoch or a later one: another process may have rebuilt the lane since. */
  async since(lane: Lane, epoch: Epoch): Promise<Fence | null> {
    if ((this.get(lane)?.epoch ?? -1) < epoch) await this.refresh();
    return this.get(lane);
  }

  /** Reads what the ledger says; calls that come together share one read. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Hot stock answered "closed": another process may have rebuilt it, or nobody has yet. */
  async closed(lane: Lane, why: ClosedReason): Promise<void> {
    this.#events.laneClosed(lane, why);
    await this.refresh();
    this.doubts.ring();
  }

  /** Something in hot stock is not as the ledger says: rebuild the lane, and say why. */
  doubt(lane: Lane, cause: string): void {
    if (!this.#causes.has(lane)) this.#causes.set(lane, cause);
    this.doubts.ring();
  }

  /** The process that rebuilds may be another: what this one doubts is told to the ledger. */
  async tellDoubts(): Promise<void> {
    for (const [lane, cause] of this.#causes) {
      const fence = await this.known(lane);
      if (fence !== null) await this.#ledger.doubt(fence, cause);
      this.#causes.delete(lane);
    }
  }

  /** Why the lane is in doubt; asking does not settle it. */
  cause(lane: Lane): string | null {
    return this.#causes.get(lane) ?? null;
  }

  settle(lane: Lane): void {
    this.#causes.delete(lane);
  }

  async #read(): Promise<void> {
    for (const { lane, epoch, incarnation } of await this.#ledger.lanes()) {
      if (incarnation !== null) this.#fences.set(lane, { lane, epoch, incarnation });
    }
  }
}
