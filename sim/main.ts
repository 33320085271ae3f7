import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { type Args, parseArgs, UsageError, usage } from "./args.ts";
import { bank } from "./bugs.ts";
import { bugNamed, plant } from "./plant.ts";
import type { Totals } from "./run.ts";

/** A bug of the bank must be found within so many seeds. */
const bugSeedsMax = 2_000;
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

/** Each bug in a process of its own, because it changes the program; several at a time. */
async function checkBank(args: Args): Promise<number> {
  const wanted = bank.filter(({ name }) => args.bug === null || name === args.bug);
  const waiting = [...wanted];
  const kills = new Map<string, Totals>();
  const work = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const seeds = ["--seeds", String(bugSeedsMax), "--seed", String(args.seed)];
      const totals = await runElsewhere(["--bug", bug.name, ...seeds]);
      kills.set(bug.name, totals);
      progress(`${kills.size} of ${wanted.length} bugs`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(args.workers, cpus().length) }, work));
  progress("");
  const rows = wanted.map(({ name, breaks }) => rowOf(name, breaks, kills.get(name)));
  const survivors = rows.filter(({ seeds }) => seeds === null).map(({ bug }) => bug);
  if (args.json) process.stdout.write(`${JSON.stringify({ rows, survivors })}\n`);
  else for (const row of rows) process.stdout.write(`${rowInWords(row)}\n`);
  return survivors.length === 0 ? 0 : violated;
}

type Row = ReturnType<typeof rowOf>;

function rowOf(bug: string, breaks: string, totals: Totals | undefined) {
  const found = totals?.firstViolation ?? null;
  const seeds = found === null ? null : (totals?.seeds ?? null);
  return { bug, breaks, seeds, invariant: found?.invariant ?? null, message: found?.message };
}

function rowInWords({ bug, seeds, invariant, message }: Row): string {
  const killed = seeds === null ? "SURVIVES" : `${seeds} seeds`;
  return `${bug.padEnd(34)} ${killed.padEnd(12)} ${invariant ?? ""}: ${message ?? ""}`;
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

function sum(a: Totals, b: Totals): Totals {
  return {
    seeds: a.seeds + b.seeds,
    events: a.events + b.events,
    virtualSeconds: a.virtualSeconds + b.virtualSeconds,
    violations: a.violations + b.violations,
    firstViolation: a.firstViolation ?? b.firstViolation,
  };
}

async function runElsewhere(args: readonly string[]): Promise<Totals> {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, "--json", "--no-shrink", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8");
  for await (const part of child.stdout) out += String(part);
  const last = out.trimEnd().split("\n").at(-1) ?? "";
  const parsed: unknown = JSON.parse(last);
  return totalsOf(parsed);
}

function totalsOf(value: unknown): Totals {
  const { noTotalsFound } = errors;
  if (typeof value !== "object" || value === null || !("seeds" in value)) throw noTotalsFound();
  const raw: Readonly<Record<string, unknown>> = { ...value };
  const first = raw["firstViolation"];
  return {
    seeds: Number(raw["seeds"]),
    events: Number(raw["events"]),
    virtualSeconds: Number(raw["virtualSeconds"]),
    violations: Number(raw["violations"]),
    firstViolation: isViolation(first) ? first : null,
  };
}

const errors = {
  noTotalsFound: () => new Error("a process of the simulator did not report"),
};

function isViolation(value: unknown): value is NonNullable<Totals["firstViolation"]> {
  return typeof value === "object" && value !== null && "seed" in value && "message" in value;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** On a terminal only, and never in the way of the result. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
