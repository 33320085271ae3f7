import { Gauge, type Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import { buckets } from "../domain/stock.ts";
import type { LaneFlow, LevelView, Oversight, Reconciliation } from "../engine/engine.ts";
import type { LedgerCounts } from "../ledger/ledger.ts";

export const metricPrefix = "holdfast_";

export type GaugeSource = Pick<
  Oversight,
  "reconciliation" | "counts" | "levels" | "lanes" | "givenUp"
>;

type Reading = {
  readonly report: Reconciliation;
  readonly counts: LedgerCounts;
  readonly levels: readonly LevelView[];
  readonly lanes: readonly LaneFlow[];
  readonly givenUp: number | null;
};

/** However often it is scraped, the stores are asked once a second. */
const freshMs = 1_000;

/** Gauges of the state: read from the ledger when somebody asks, never kept beside it. */
export class LedgerGauges {
  readonly #set: (reading: Reading) => void;
  readonly #up: Gauge;
  readonly #clock: Clock;
  readonly #skuLabelsMax: number;
  #reading: Promise<void> | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(registry: Registry, clock: Clock, skuLabelsMax: number) {
    const gauge = makeGauge.bind(null, registry);
    const setTotals = totalGauges(gauge, clock);
    const setUnits = unitGauges(gauge);
    const setFlow = flowGauges(gauge);
    this.#set = (reading) => {
      setTotals(reading);
      setUnits(reading);
      setFlow(reading);
    };
    this.#up = gauge("stores_up", "1: the gauges are of this moment; 0: the stores are away.");
    this.#clock = clock;
    this.#skuLabelsMax = skuLabelsMax;
  }

  async refresh(source: GaugeSource): Promise<void> {
    if (this.#clock.mono() - this.#readAtMs >= freshMs) {
      this.#readAtMs = this.#clock.mono();
      this.#reading = this.#read(source);
    }
    await this.#reading;
  }

  async #read(source: GaugeSource): Promise<void> {
    try {
      const [report, counts, levels, lanes, givenUp] = await Promise.all([
        source.reconciliation(),
        source.counts(),
        source.levels({ after: null, limit: this.#skuLabelsMax }),
        source.lanes(),
        source.givenUp(),
      ]);
      this.#set({ report, counts, levels, lanes, givenUp });
      this.#up.set(1);
    } catch (error) {
      // The counters are still worth a scrape while a store is away.
      if (!(error instanceof Fault)) throw error;
      this.#up.set(0);
    }
  }
}

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge;

function makeGauge(registry: Registry, name: string, help: string, labelNames: string[] = []) {
  // Several processes read the same: one of them tells it.
  const aggregator = "first";
  return new Gauge({
    ...{ registers: [registry], aggregator },
    ...{ name: `${metricPrefix}${name}`, help, labelNames },
  });
}

function totalGauges(gauge: MakeGauge, clock: Clock): (reading: Reading) => void {
  const drift = gauge("drift_units", "Σ of absolute differences between hot stock and ledger.");
  const behind = gauge("behind_versions", "Σ of versions not yet projected to hot stock.");
  const inFlight = gauge("in_flight_units", "Units of tickets that the ledger has not decided.");
  const oldest = gauge("oldest_ticket_age_seconds", "Age of the oldest undecided ticket.");
  const closed = gauge("lanes_closed", "Lanes whose hot stock is closed.");
  const stopped = gauge("skus_stopped", "SKUs that an operator or a broken proof has stopped.");
  const skus = gauge("skus", "SKUs in the ledger.");
  const entries = gauge("ledger_entries", "Entries in the ledger.");
  const letters = gauge("dead_letters", "Dead letters that wait for a person.");
  const unpublished = gauge("unpublished_entries", "Entries whose event is not confirmed yet.");
  const untold = gauge("unpublished_oldest_age_seconds", "Age of the oldest of these entries.");
  const orders = gauge("reservations", "Reservations by state.", ["state"]);
  return ({ report, counts }) => {
    drift.set(report.drift);
    behind.set(report.behind);
    inFlight.set(report.inFlight);
    closed.set(report.closed);
    stopped.set(report.stopped);
    skus.set(counts.skus);
    entries.set(counts.entries);
    letters.set(counts.deadLetters);
    unpublished.set(counts.unpublished);
    const since = counts.unpublishedSince ?? clock.now();
    untold.set(Math.max(0, clock.now() - since) / 1_000);
    oldest.set(report.items.reduce((most, item) => Math.max(most, item.oldestTicketSeconds), 0));
    for (const [state, count] of Object.entries(counts.orders)) orders.set({ state }, count);
  };
}

function flowGauges(gauge: MakeGauge): (reading: Reading) => void {
  const pending = gauge("outbox_pending", "Items that the relay has not sent yet.", ["lane"]);
  const age = gauge("outbox_oldest_age_seconds", "Age of the oldest of them.", ["lane"]);
  const lag = gauge("consumer_lag", "Messages that the ledger writer has not done.", ["lane"]);
  const aside = gauge("bus_given_up_messages", "Messages that the broker itself has set aside.");
  return ({ lanes, givenUp }) => {
    if (givenUp !== null) aside.set(givenUp);
    lag.reset();
    for (const flow of lanes) {
      const lane = String(flow.lane);
      pending.set({ lane }, flow.outboxLength);
      age.set({ lane }, flow.outboxOldestSeconds);
      if (flow.lag !== null) lag.set({ lane }, flow.lag);
    }
  };
}

function unitGauges(gauge: MakeGauge): (reading: Reading) => void {
  const help = "Units by bucket; SKUs over the bound are summed as `other`.";
  const units = gauge("stock_units", help, ["store", "state", "sku"]);
  return ({ report, levels }) => {
    units.reset();
    for (const level of levels) {
      for (const state of buckets) {
        units.set({ store: "ledger", state, sku: level.sku }, level.balances[state]);
      }
    }
    const named = new Set<string>(levels.map(({ sku }) => sku));
    for (const item of report.items) {
      const isNamed = named.has(item.sku);
      const sku = isNamed ? item.sku : "other";
      units.inc({ store: "hot", state: "available", sku }, item.hotAvailable);
      if (isNamed) continue;
      units.inc({ store: "ledger", state: "available", sku }, item.ledgerAvailable);
    }
  };
}
