import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Row } from "./report.ts";
import type { SoakPlan, SoakSample } from "./soak-plan.ts";

/** The first minutes fill caches and compile; they say nothing of growth. */
const warmUpSeconds = 120;
const boundPerMinute = 1;

/** Memory over time, in a process of its own: per cent of its mean that it grows in a minute. */
export async function soakRow(
  plan: SoakPlan,
  onSample: (sample: SoakSample) => void,
): Promise<Row> {
  const samples: SoakSample[] = [];
  const child = spawn(
    process.execPath,
    ["--expose-gc", childPath(), String(plan.minutes), String(plan.perSecond)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const sample: SoakSample = JSON.parse(line);
    samples.push(sample);
    onSample(sample);
  }
  const [code] = await exited;
  return rowOfSoak(plan, samples, code === 0);
}

function rowOfSoak(plan: SoakPlan, samples: readonly SoakSample[], ended: boolean): Row {
  const from = Math.min(warmUpSeconds, plan.minutes * 30);
  const kept = samples.filter(({ second }) => second >= from);
  const growth = ended ? growthPerMinute(kept) : null;
  const last = samples.at(-1);
  const note = ended
    ? `${plan.perSecond} a second for ${plan.minutes} min, ${last?.reserved ?? 0} reserved; ` +
      `ends at ${megabytes(last?.resident)} resident, ${megabytes(last?.heap)} heap`
    : "no figure: the run ended before its time, or its proof is broken";
  return {
    name: "soak, growth of the resident set",
    unit: "%/min",
    ours: growth,
    baseline: null,
    baselineName: null,
    ratio: null,
    target: `value < ${boundPerMinute}`,
    ok: growth !== null && growth < boundPerMinute,
    pairs: kept.map(({ resident }) => ({ ours: resident, baseline: null })),
    note,
  };
}

/** Least squares over the resident set, as a share of its mean. */
export function growthPerMinute(samples: readonly SoakSample[]): number | null {
  if (samples.length < 2) return null;
  const meanAt = mean(samples.map(({ second }) => second));
  const meanOf = mean(samples.map(({ resident }) => resident));
  let above = 0;
  let below = 0;
  for (const { second, resident } of samples) {
    above += (second - meanAt) * (resident - meanOf);
    below += (second - meanAt) ** 2;
  }
  return ((above / below) * 60 * 100) / meanOf;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? "?" : `${Math.round(bytes / 2 ** 20)} MB`;
}

function childPath(): string {
  return fileURLToPath(new URL("./soak-child.js", import.meta.url));
}
