import { parseArgs } from "node:util";
import { benches, runBenches } from "./benches.ts";
import { type Row, reportOf, tableOf } from "./report.ts";
import { megabytes, soakRow } from "./soak.ts";

const usage = `npm run bench -- [NAME…] [--json]             NAME: ${Object.keys(benches).join(" ")}
npm run bench -- soak [--minutes N] [--json]  memory over time, 10 minutes by default`;

const exits = { done: 0, failed: 1, usage: 2, broken: 3 } as const;
const soakPerSecond = 500;

async function main(): Promise<number> {
  const asked = parse();
  if (asked === null) {
    say(usage);
    return exits.usage;
  }
  const { names, isJson, minutes } = asked;
  const rows = names.includes("soak")
    ? [await runSoak(minutes)]
    : await runBenches(names, (row) => say(tableOf([row])));
  process.stdout.write(`${isJson ? JSON.stringify(reportOf(rows)) : tableOf(rows)}\n`);
  if (rows.some(({ ours }) => ours === null)) return exits.broken;
  return rows.every(({ ok }) => ok) ? exits.done : exits.failed;
}

function parse(): { names: string[]; isJson: boolean; minutes: number } | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: "boolean" }, minutes: { type: "string" } },
    });
    const minutes = Number(values.minutes ?? 10);
    const isKnown = positionals.every((name) => name === "soak" || Object.hasOwn(benches, name));
    if (!isKnown || !(minutes > 0)) return null;
    return { names: positionals, isJson: values.json === true, minutes };
  } catch {
    return null;
  }
}

function runSoak(minutes: number): Promise<Row> {
  return soakRow({ minutes, perSecond: soakPerSecond }, ({ second, resident, heap }) => {
    say(`${second.toFixed(0)} s: ${megabytes(resident)} resident, ${megabytes(heap)} heap`);
  });
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

process.exitCode = await main();
