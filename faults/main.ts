import { parseArgs } from "node:util";
import type { Load } from "./load.ts";
import type { FaultRow, RowResult } from "./row.ts";
import { rows } from "./rows.ts";
import { runRow, unplayed } from "./run-row.ts";
import { SharedServers } from "./scene.ts";

const usage = `npm run faults -- [--gate|--all|ROW…] [--rate N] [--seconds N] [--open N,…] [--json]
Plays rows of the fault matrix on real servers that it starts: the load, the fault, the proof.
  --gate       the rows that every \`npm test\` plays (the default)
  --all        every row
  --rate N     admissions a second, 500 by default; --seconds N: for so long, 30 by default
  --open N,…   each row once for each N: that many reservations are open beside the load
ROW: ${rows.map(({ id }) => id).join(" ")}`;

const exits = { done: 0, failed: 1, usage: 2, broken: 3 } as const;

type Asked = {
  readonly chosen: readonly FaultRow[];
  readonly loads: readonly Load[];
  readonly isJson: boolean;
};

async function main(): Promise<number> {
  const asked = parse();
  if (asked === null) {
    say(usage);
    return exits.usage;
  }
  const shared = new SharedServers();
  const results: RowResult[] = [];
  try {
    const plays = asked.chosen.flatMap((row) => asked.loads.map((load) => ({ row, load })));
    for (const { row, load } of plays) {
      const played = runRow(row, shared, load);
      const { result, why } = await played.catch((error: unknown) => unplayed(row, error));
      results.push(load.open === undefined ? result : { ...result, open: load.open });
      say(`${lineOf(result)}${load.open === undefined ? "" : `, ${load.open} open`}`);
      for (const each of why.slice(0, 10)) say(`      ${each}`);
    }
  } finally {
    await shared.stop();
  }
  const ok = results.every((each) => each.ok);
  if (asked.isJson) process.stdout.write(`${JSON.stringify({ rows: results, ok })}\n`);
  return ok ? exits.done : exits.broken;
}

function parse(): Asked | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        gate: { type: "boolean" },
        all: { type: "boolean" },
        json: { type: "boolean" },
        rate: { type: "string" },
        seconds: { type: "string" },
        open: { type: "string" },
      },
    });
    const load = { rate: Number(values.rate ?? 500), seconds: Number(values.seconds ?? 30) };
    const named = rows.filter(({ id }) => positionals.includes(id));
    const counts = values.open?.split(",").map(Number);
    const isPlain =
      Number.isInteger(load.rate) && load.rate > 0 && load.seconds > 0 && areCounts(counts ?? []);
    if (named.length < positionals.length || !isPlain) return null;
    const gate = rows.filter(({ isGate }) => isGate);
    const chosen = values.all === true ? rows : named.length > 0 ? named : gate;
    const loads = counts?.map((open) => ({ ...load, open })) ?? [load];
    return { chosen, loads, isJson: values.json === true };
  } catch {
    return null;
  }
}

function areCounts(counts: readonly number[]): boolean {
  return counts.every((count) => Number.isInteger(count) && count >= 0);
}

function lineOf({ id, fault, ok, ...numbers }: RowResult): string {
  const { requests, reserved, lost, oversold, repairs, secondsToNormal } = numbers;
  const facts = `${requests} requests, ${reserved} reserved, ${lost} lost, ${oversold} oversold, ${repairs} repairs`;
  return `${ok ? "ok  " : "FAIL"} ${id.padEnd(4)} ${fault}: ${facts}, as usual after ${secondsToNormal ?? "more than 120"} s`;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

process.exitCode = await main();
