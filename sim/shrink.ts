import type { RunOptions, RunReport } from "./world.ts";

type Run = (options: RunOptions) => Promise<RunReport>;

/** Runs that shrinking may take. */
const runsMax = 160;

export type Shrunk = {
  readonly options: RunOptions;
  readonly report: RunReport;
  readonly runs: number;
};

/**
 * Fewer faults and fewer requests that still break the same promise: whole kinds of faults first,
 * then single ones by halves, then the workload.
 */
export async function shrink(run: Run, first: RunReport): Promise<Shrunk> {
  const search = new Search(run, first);
  await search.fewerRequests();
  await search.fewerKinds();
  await search.fewerFaults();
  await search.fewerRequests();
  return search.found();
}

class Search {
  readonly #run: Run;
  readonly #invariant: string | undefined;
  #best: RunReport;
  #options: RunOptions;
  #runs = 0;

  constructor(run: Run, first: RunReport) {
    this.#run = run;
    this.#best = first;
    this.#invariant = first.violation?.invariant;
    const { seed, requests } = first.plan;
    this.#options = { seed, requests, suppressed: new Set(), keepTrace: false };
  }

  async fewerRequests(): Promise<void> {
    for (const share of [0.1, 0.25, 0.5, 0.75, 0.9]) {
      const requests = Math.max(1, Math.floor(this.#best.plan.requests * share));
      if (await this.#try({ ...this.#options, requests })) return this.fewerRequests();
    }
  }

  async fewerKinds(): Promise<void> {
    const kinds = new Set(this.#best.taken.map(kindOf));
    for (const kind of Object.keys(this.#best.plan.rates)) kinds.add(kind);
    for (const kind of kinds) await this.#without([kind]);
  }

  /** Delta debugging by halves: each part that is not needed is left out. */
  async fewerFaults(): Promise<void> {
    let size = Math.ceil(this.#best.taken.length / 2);
    while (size >= 1) {
      for (const part of parts(this.#best.taken, size)) await this.#without(part);
      if (size === 1) return;
      size = Math.ceil(Math.min(size, this.#best.taken.length) / 2);
    }
  }

  async found(): Promise<Shrunk> {
    const report = await this.#run({ ...this.#options, keepTrace: true });
    return { options: this.#options, report, runs: this.#runs };
  }

  #without(names: readonly string[]): Promise<boolean> {
    const suppressed = new Set([...this.#options.suppressed, ...names]);
    return this.#try({ ...this.#options, suppressed });
  }

  async #try(options: RunOptions): Promise<boolean> {
    if (this.#runs >= runsMax || options.requests === this.#best.plan.requests) {
      if (options.suppressed.size === this.#options.suppressed.size) return false;
    }
    if (this.#runs >= runsMax) return false;
    this.#runs += 1;
    const report = await this.#run(options);
    if (report.violation?.invariant !== this.#invariant) return false;
    this.#best = report;
    this.#options = options;
    return true;
  }
}

function kindOf(name: string): string {
  const [kind = name] = name.split("#");
  return kind;
}

function parts(list: readonly string[], size: number): (readonly string[])[] {
  const found: (readonly string[])[] = [];
  for (let from = 0; from < list.length; from += size) found.push(list.slice(from, from + size));
  return found;
}
