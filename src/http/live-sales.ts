import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Instant, SaleId } from "../domain/values.ts";
import type { Engine, LaneFlow, LevelView, SaleView } from "../engine/engine.ts";
import type { SaleTraffic, Traffic } from "./sale-traffic.ts";

/** A sale as it is watched: both stores, what the buyers were told, and the lane between. */
export type LiveSale = {
  readonly at: Instant;
  readonly view: SaleView;
  readonly traffic: Traffic;
  /** Null while it cannot be asked. */
  readonly lane: LaneFlow | null;
};

/** However many watch, the stores are asked once a second. */
const freshMs = 900;
const salesMax = 100;

type Read = { readonly atMs: number; readonly sale: Promise<LiveSale | null> };
type LanesRead = { readonly atMs: number; readonly flows: Promise<readonly LaneFlow[]> };

export class LiveSales {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #traffic: SaleTraffic;
  readonly #reads = new Map<SaleId, Read>();
  #lanes: LanesRead | null = null;

  constructor(engine: Engine, clock: Clock, traffic: SaleTraffic) {
    this.#engine = engine;
    this.#clock = clock;
    this.#traffic = traffic;
  }

  /** Null while a store is away: the watcher sees that nothing comes. */
  sale(id: SaleId): Promise<LiveSale | null> {
    const atMs = this.#clock.mono();
    const known = this.#reads.get(id);
    if (known !== undefined && atMs - known.atMs < freshMs) return known.sale;
    if (this.#reads.size >= salesMax) this.#reads.clear();
    const sale = this.#read(id).catch(nothingWhileAway);
    this.#reads.set(id, { atMs, sale });
    return sale;
  }

  async #read(id: SaleId): Promise<LiveSale | null> {
    const view = await this.#engine.merchandising.sale(id);
    if (view === null) return null;
    const lane = (await this.#flows()).find((flow) => flow.lane === view.sale.lane) ?? null;
    return { at: this.#clock.now(), view, traffic: this.#traffic.of(id), lane };
  }

  #flows(): Promise<readonly LaneFlow[]> {
    const atMs = this.#clock.mono();
    if (this.#lanes === null || atMs - this.#lanes.atMs >= freshMs) {
      const flows = this.#engine.oversight.lanes().catch((error) => nothingWhileAway(error) ?? []);
      this.#lanes = { atMs, flows };
    }
    return this.#lanes.flows;
  }
}

function nothingWhileAway(error: unknown): null {
  if (error instanceof Fault) return null;
  throw error;
}

/** Nothing that is shown of it has changed. */
export function isSameLevel(one: LevelView | undefined, other: LevelView): boolean {
  return (
    one !== undefined &&
    one.version === other.version &&
    one.hash === other.hash &&
    one.status === other.status &&
    one.statusReason === other.statusReason &&
    one.saleId === other.saleId &&
    one.drift === other.drift &&
    one.behind === other.behind &&
    one.oldestTicketSeconds === other.oldestTicketSeconds &&
    one.hot?.version === other.hot?.version &&
    one.hot?.available === other.hot?.available &&
    one.hot?.inFlight === other.hot?.inFlight
  );
}
