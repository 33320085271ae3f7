import type { Args } from "./args.ts";
import { bank } from "./bugs.ts";
import { runElsewhere } from "./elsewhere.ts";
import { progress } from "./progress.ts";
import type { Totals } from "./run.ts";

/** A bug of the bank must be found within so many seeds. */
const bugSeedsMax = 2_000;
const survived = 3;

/** Each bug in a process of its own, because it changes the program; several at a time. */
export async function checkBank(args: Args): Promise<number> {
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
  await Promise.all(Array.from({ length: args.workers }, work));
  progress("");
  const rows = wanted.map(({ name, breaks }) => rowOf(name, breaks, kills.get(name)));
  const survivors = rows.filter(({ seeds }) => seeds === null).map(({ bug }) => bug);
  if (args.json) process.stdout.write(`${JSON.stringify({ rows, survivors })}\n`);
  else for (const row of rows) process.stdout.write(`${rowInWords(row)}\n`);
  return survivors.length === 0 ? 0 : survived;
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
