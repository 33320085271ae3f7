import { planInWords } from "./plan.ts";
import { type Shrunk, shrink } from "./shrink.ts";
import { type RunOptions, type RunReport, World } from "./world.ts";

export type Totals = {
  seeds: number;
  events: number;
  virtualSeconds: number;
  violations: number;
  firstViolation: {
    readonly seed: number;
    readonly invariant: string;
    readonly message: string;
  } | null;
};

/** One seed, from the drawn plan to the proof at rest. */
export async function runSeed(options: RunOptions): Promise<RunReport> {
  const world = await World.open(options);
  const lost = (error: unknown): void => {
    world.complain("thrown", error instanceof Error ? (error.stack ?? "") : String(error));
  };
  process.on("unhandledRejection", lost);
  try {
    return await world.run();
  } finally {
    process.off("unhandledRejection", lost);
  }
}

export function plainRun(seed: number): RunOptions {
  return { seed, requests: null, suppressed: new Set(), keepTrace: false };
}

/** Every so many seeds one is run twice: the same trace, or time and chance have leaked in. */
const twiceEvery = 20;

export type SeedsOptions = {
  readonly first: number;
  readonly count: number;
  /** Stops at the first violation. */
  readonly stopAtFirst: boolean;
  readonly onSeed: (done: number, report: RunReport) => void;
};

export async function runSeeds(options: SeedsOptions): Promise<Totals> {
  const totals = noTotals();
  for (let seed = options.first; seed < options.first + options.count; seed += 1) {
    const report = await runSeed(plainRun(seed));
    addReport(totals, report);
    if (report.violation === null && seed % twiceEvery === 0) await runAgain(totals, report);
    options.onSeed(totals.seeds, report);
    if (options.stopAtFirst && totals.violations > 0) break;
  }
  return totals;
}

export function noTotals(): Totals {
  return { seeds: 0, events: 0, virtualSeconds: 0, violations: 0, firstViolation: null };
}

function addReport(totals: Totals, report: RunReport): void {
  totals.seeds += 1;
  totals.events += report.events;
  totals.virtualSeconds += report.virtualMs / 1_000;
  if (report.violation === null) return;
  totals.violations += 1;
  const { invariant, message } = report.violation;
  totals.firstViolation ??= { seed: report.seed, invariant, message };
}

async function runAgain(totals: Totals, report: RunReport): Promise<void> {
  const { seed } = report;
  const again = await runSeed(plainRun(seed));
  if (again.traceHash === report.traceHash) return;
  totals.violations += 1;
  const message = `two runs differ: ${report.traceHash} and ${again.traceHash}`;
  totals.firstViolation ??= { seed, invariant: "determinism", message };
}

/** Fewer faults and requests that break the same promise. */
export async function explain(seed: number): Promise<Shrunk | null> {
  const report = await runSeed(plainRun(seed));
  return report.violation === null ? null : shrink(runSeed, report);
}

export function reportInWords(report: RunReport): string[] {
  const { violation, taken } = report;
  return [
    ...planInWords(report.plan),
    `faults taken: ${taken.length === 0 ? "none" : taken.join(" ")}`,
    "",
    ...report.lines.filter((line) => !isIdle(line)),
    "",
    violation === null
      ? `nothing is wrong; trace ${report.traceHash}`
      : `${violation.invariant}: ${violation.message}`,
  ];
}

/** Polls that found nothing say nothing. */
function isIdle(line: string): boolean {
  return idle.some((pattern) => pattern.test(line));
}

const idle = [
  / ledger\.now /,
  / ledger\.lanes \[\]/,
  / hot\.outbox .*"items":\[\]/,
  / hot\.observe \[\d+,\[\]\]/,
  / bus\.receive .* → \[\]$/,
  / ledger\.(dueHolds|unpublished) .* → \[\]$/,
];
