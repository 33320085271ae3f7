import { type Args, parseArgs, UsageError, usage } from "./args.ts";
import { checkBank } from "./bank-check.ts";
import { bank } from "./bugs.ts";
import { runElsewhere, sum } from "./elsewhere.ts";
import { bugNamed, plant } from "./plant.ts";
import { progress } from "./progress.ts";
import type { Totals } from "./run.ts";

const violated = 3;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  try {
    const args = parseArgs(argv);
    if (args.bugs) return args.check ? await checkBank(args) : listBank(args);
    if (args.bug !== null) plantOrThrow(args.bug);
    if (args.replay !== null) return await replay(args, args.replay);
    return args.workers > 1 ? await shareSeeds(args) : await runHere(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}\n`);
    return 2;
  }
}

function plantOrThrow(name: string): void {
  const bug = bugNamed(name);
  if (bug === null) throw new UsageError(`no bug is named ${name}; --bugs lists them`);
  plant(bug);
}

async function runHere(args: Args): Promise<number> {
  // Loaded only now: a planted bug changes the program on its way in.
  const { runSeeds } = await import("./run.ts");
  const startedAt = performance.now();
  const totals = await runSeeds({
    first: args.seed,
    count: args.seeds,
    stopAtFirst: args.bug !== null,
    onSeed: (done) => progress(`${done} of ${args.seeds} seeds`),
  });
  progress("");
  return conclude(args, totals, (performance.now() - startedAt) / 1_000);
}

async function conclude(args: Args, totals: Totals, seconds: number): Promise<number> {
  const { firstViolation } = totals;
  if (firstViolation !== null && args.shrink) await explainFailure(args, firstViolation.seed);
  const result = {
    ...totals,
    seconds: round(seconds),
    virtualSeconds: round(totals.virtualSeconds),
  };
  if (args.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${inWords(result)}\n`);
  return totals.violations > 0 ? violated : 0;
}

function inWords(result: Totals & { readonly seconds: number }): string {
  const { seeds, events, virtualSeconds, violations, firstViolation, seconds } = result;
  const speed = Math.round((seeds / Math.max(seconds, 0.001)) * 60);
  const lines = [
    `${seeds} seeds, ${events} events, ${virtualSeconds} s of virtual time in ${seconds} s`,
    `${speed} seeds a minute; ${violations} violations`,
  ];
  if (firstViolation !== null) {
    const { seed, invariant, message } = firstViolation;
    lines.push(`first: seed ${seed}, ${invariant}: ${message}`);
  }
  return lines.join("\n");
}

/** To standard error: how to see it again, and the smallest run that breaks the same promise. */
async function explainFailure(args: Args, seed: number): Promise<void> {
  const { explain, reportInWords } = await import("./run.ts");
  const shrunk = await explain(seed);
  if (shrunk === null) return;
  const { options, report, runs } = shrunk;
  const bug = args.bug === null ? "" : ` --bug ${args.bug}`;
  const without = [...options.suppressed].join(",");
  const smaller = `--requests ${options.requests}${without === "" ? "" : ` --without ${without}`}`;
  const lines = [
    `seed ${seed} breaks ${report.violation?.invariant}`,
    `  npm run sim -- --replay ${seed}${bug}`,
    `smaller, after ${runs} runs:`,
    `  npm run sim -- --replay ${seed}${bug} ${smaller}`,
    "",
    ...reportInWords(report),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

async function replay(args: Args, seed: number): Promise<number> {
  const { runSeed, reportInWords } = await import("./run.ts");
  const { requests, without } = args;
  const suppressed = new Set(without);
  const report = await runSeed({ seed, requests, suppressed, keepTrace: true });
  const { violation, events, virtualMs } = report;
  process.stdout.write(`${reportInWords(report).join("\n")}\n`);
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ seed, events, virtualMs, violation })}\n`);
  }
  return violation === null ? 0 : violated;
}

function listBank(args: Args): number {
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ bugs: bank.map(({ name }) => name) })}\n`);
    return 0;
  }
  for (const { name, breaks } of bank) process.stdout.write(`${name.padEnd(34)} ${breaks}\n`);
  return 0;
}

/** The seeds, shared among processes. */
async function shareSeeds(args: Args): Promise<number> {
  const startedAt = performance.now();
  const share = Math.ceil(args.seeds / args.workers);
  const runs: Promise<Totals>[] = [];
  for (let from = 0; from < args.seeds; from += share) {
    const count = Math.min(share, args.seeds - from);
    const range = ["--seeds", String(count), "--seed", String(args.seed + from)];
    const bug = args.bug === null ? [] : ["--bug", args.bug];
    runs.push(runElsewhere([...range, ...bug]));
  }
  const totals = (await Promise.all(runs)).reduce(sum);
  return conclude(args, totals, (performance.now() - startedAt) / 1_000);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
