import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { Events } from "../events.ts";
import { type FleetFamilies, ownSeries } from "./fleet-metrics.ts";
import { type GaugeSource, LedgerGauges, metricPrefix } from "./ledger-gauges.ts";

export type ReserveResult = "reserved" | "pending" | "refused" | "replayed" | "fault";

/** The counters of the business (`Events`), those of HTTP, and gauges read from the ledger. */
export interface Metrics extends Events {
  /** Success is counted at the ledger; this is what the callers of one route were told. */
  reserveAnswered(result: ReserveResult, seconds: number): void;
  requestAnswered(request: { route: string; method: string; status: number }): void;
  /** Where the gauges are read from, once the engine is there. */
  observe(source: GaugeSource): void;
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** For whoever sums over several processes; those that were not asked tell of themselves only. */
  families(isAsked: boolean): Promise<FleetFamilies>;
}

export type MetricsOptions = {
  readonly clock: Clock;
  readonly version: string;
  /** Event loop, heap, garbage collection: with timers of their own, so not in tests. */
  readonly processMetrics: boolean;
  /** A label per SKU only for so many; the rest is summed as `other`. */
  readonly skuLabelsMax?: number;
};

export function prometheusMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const counters = businessCounters(registry);
  const answers = httpSeries(registry);
  const gauges = new LedgerGauges(registry, options.clock, options.skuLabelsMax ?? 20);
  const build = new Gauge({
    registers: [registry],
    name: `${metricPrefix}build_info`,
    aggregator: "first",
    help: "The running version.",
    labelNames: ["version"],
  });
  build.set({ version: options.version }, 1);
  if (options.processMetrics) collectDefaultMetrics({ register: registry, prefix: metricPrefix });
  let source: GaugeSource | null = null;
  const refresh = async (): Promise<void> => {
    if (source !== null) await gauges.refresh(source);
  };
  return {
    ...counters,
    ...answers,
    observe: (given) => {
      source = given;
    },
    render: async () => {
      await refresh();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    families: async (isAsked) => {
      if (isAsked) await refresh();
      const families = await registry.getMetricsAsJSON();
      return isAsked ? families : ownSeries(families);
    },
  };
}

function counter(registry: Registry, name: string, help: string, labelNames: string[] = []) {
  return new Counter({ registers: [registry], name: `${metricPrefix}${name}`, help, labelNames });
}

function businessCounters(registry: Registry): Events {
  const count = counter.bind(null, registry);
  const admission = count("admissions_total", "What hot stock answered.", ["result", "code"]);
  const decisions = count("decisions_total", "What the ledger decided.", ["result", "code"]);
  const settled = count("settlements_total", "What became of holds.", ["result"]);
  const repairs = count("repairs_total", "Acts of healing that had a cause.", ["kind"]);
  const rebuilds = count("rebuilds_total", "Rebuilds of a lane's hot stock.");
  const closings = count("lane_closings_total", "How often a lane's hot stock was closed.");
  const dead = count("dead_lettered_total", "Messages that could not be decided.");
  const stops = count("sku_stops_total", "SKUs that were stopped because a proof is broken.");
  const unknown = count("unknown_outcomes_total", "Calls whose effect was unknown.", ["where"]);
  const failures = count("worker_failures_total", "Steps of a worker that failed.", ["worker"]);
  const alarms = count("alarms_total", "What an operator should look at.");
  const latest = latencies(registry);
  return {
    admitted: (n) => admission.inc({ result: "admitted", code: "" }, n),
    replayed: (n) => admission.inc({ result: "replayed", code: "" }, n),
    refused: (code, n) => admission.inc({ result: "refused", code }, n),
    committed: (n) => decisions.inc({ result: "reserved", code: "" }, n),
    rejected: (code, n) => decisions.inc({ result: "rejected", code }, n),
    voided: (n) => decisions.inc({ result: "void", code: "" }, n),
    confirmed: (n) => settled.inc({ result: "confirmed" }, n),
    cancelled: (n) => settled.inc({ result: "cancelled" }, n),
    expired: (n, lagMs) => {
      settled.inc({ result: "expired" }, n);
      latest.expiryLag.observe(lagMs / 1_000);
    },
    refunded: (n) => settled.inc({ result: "refunded" }, n),
    batchCommitted: (commands, ms) => {
      latest.commit.observe(ms / 1_000);
      latest.batch.observe(commands);
    },
    laneClosed: () => closings.inc(),
    rebuilt: (_lane, { ms, repair }) => {
      rebuilds.inc();
      latest.rebuild.observe(ms / 1_000);
      if (repair) repairs.inc({ kind: "rebuild" });
    },
    resent: (_lane, ids) => repairs.inc({ kind: "resend" }, ids.length),
    deadLettered: () => dead.inc(),
    skuStopped: () => stops.inc(),
    unknownOutcome: (where) => unknown.inc({ where }),
    workerFailed: (worker) => failures.inc({ worker }),
    alarm: () => alarms.inc(),
  };
}

const fastSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

function latencies(registry: Registry) {
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ registers: [registry], name: `${metricPrefix}${name}`, help, buckets });
  return {
    commit: histogram("commit_duration_seconds", "One transaction of the ledger.", fastSeconds),
    batch: histogram("commit_batch_size", "Commands in one transaction.", [1, 10, 100, 500, 1000]),
    expiryLag: histogram("expiry_lag_seconds", "From a hold's deadline to its end.", [
      ...fastSeconds,
      ...[10, 30, 60],
    ]),
    rebuild: histogram("rebuild_duration_seconds", "One rebuild.", fastSeconds),
  };
}

function httpSeries(registry: Registry): Pick<Metrics, "reserveAnswered" | "requestAnswered"> {
  const help = "Answers to POST /v1/reservations.";
  const reserved = counter(registry, "reserve_requests_total", help, ["result"]);
  const duration = new Histogram({
    registers: [registry],
    name: `${metricPrefix}reserve_duration_seconds`,
    help: "From the parsed request to the answer, waiting included.",
    buckets: fastSeconds,
  });
  const labels = ["route", "method", "status"];
  const requests = counter(registry, "http_requests_total", "Answers of the server.", labels);
  return {
    reserveAnswered: (result, seconds) => {
      reserved.inc({ result });
      duration.observe(seconds);
    },
    requestAnswered: (request) => requests.inc(request),
  };
}
