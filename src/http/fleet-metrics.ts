import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import { metricPrefix } from "./ledger-gauges.ts";

/** Series of one process, as the library hands them between processes. */
export type FleetFamilies = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/**
 * The series of several processes as one: counters and histograms are summed, what a process
 * measures of itself is summed, averaged or left out as it says, and what all read from the same
 * stores is told by one. What a process has counted stays counted when it ends.
 */
export class FleetMetrics {
  readonly #own = new Registry();
  readonly #processes: Gauge;
  readonly #restarts: Counter;
  #gone: Promise<FleetFamilies> = Promise.resolve([]);

  constructor() {
    const registers = [this.#own];
    const help = "Processes of this server that are alive.";
    this.#processes = new Gauge({ registers, name: `${metricPrefix}processes`, help });
    this.#restarts = new Counter({
      registers,
      name: `${metricPrefix}process_restarts_total`,
      help: "Processes that ended without being told to.",
    });
  }

  restarted(): void {
    this.#restarts.inc();
  }

  /** Of a process that has ended: a sum that went down would be taken for a restart of all. */
  gone(families: FleetFamilies): void {
    const counted = families.filter(({ type }) => isCounted(String(type)));
    this.#gone = this.#gone.then((before) => sumOf([before, counted]).getMetricsAsJSON());
  }

  async render(
    told: readonly FleetFamilies[],
    alive: number,
  ): Promise<{ readonly contentType: string; readonly body: string }> {
    this.#processes.set(alive);
    const all = sumOf([...told, await this.#gone]);
    const body = `${await all.metrics()}\n${await this.#own.metrics()}`;
    return { contentType: this.#own.contentType, body };
  }
}

/** Of a process that was not asked itself: nothing that all read alike from the stores. */
export function ownSeries(families: FleetFamilies): FleetFamilies {
  return families.filter(({ aggregator }) => aggregator !== "first");
}

function isCounted(type: string): boolean {
  return type === "counter" || type === "histogram";
}

function sumOf(parts: readonly FleetFamilies[]): Registry {
  return AggregatorRegistry.aggregate(parts.filter((part) => part.length > 0));
}
