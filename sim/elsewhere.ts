import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Totals } from "./run.ts";

/** Seeds in a process of their own: beside others, or with another program. */
export async function runElsewhere(args: readonly string[]): Promise<Totals> {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const child = spawn(process.execPath, [main, "--json", "--no-shrink", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8");
  for await (const part of child.stdout) out += String(part);
  return totalsOf(out.trimEnd().split("\n").at(-1) ?? "");
}

export function sum(a: Totals, b: Totals): Totals {
  return {
    seeds: a.seeds + b.seeds,
    events: a.events + b.events,
    virtualSeconds: a.virtualSeconds + b.virtualSeconds,
    violations: a.violations + b.violations,
    firstViolation: a.firstViolation ?? b.firstViolation,
  };
}

function totalsOf(line: string): Totals {
  const value: unknown = line.startsWith("{") ? JSON.parse(line) : null;
  if (typeof value !== "object" || value === null) {
    throw new Error(`a process of the simulator reported nothing: ${line}`);
  }
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

function isViolation(value: unknown): value is NonNullable<Totals["firstViolation"]> {
  if (typeof value !== "object" || value === null) return false;
  return "seed" in value && "invariant" in value && "message" in value;
}
