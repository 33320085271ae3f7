import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** One figure beside its baseline; both from one run, by turns. */
export type Row = {
  readonly name: string;
  readonly unit: string;
  /** The median; null where an invariant was broken: then there is no figure. */
  readonly ours: number | null;
  readonly baseline: number | null;
  readonly baselineName: string | null;
  /** The median of the ratios by pair, ours over the baseline. */
  readonly ratio: number | null;
  /** `ratio >= 5`, `value < 1`: what `ok` was judged by; null where only a figure is wanted. */
  readonly target: string | null;
  readonly ok: boolean;
  readonly pairs: readonly Pair[];
  /** What else a reader should know: the concurrency, the spread, what was broken. */
  readonly note: string;
};

export type Pair = { readonly ours: number; readonly baseline: number | null };

export type Report = {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    readonly platform: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly commit: string;
  readonly rows: readonly Row[];
};

export function reportOf(rows: readonly Row[]): Report {
  const [cpu] = cpus();
  return {
    machine: {
      cpu: cpu?.model.trim() ?? "unknown",
      cores: availableParallelism(),
      memoryGb: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: versions(),
    commit: commit(),
    rows,
  };
}

function versions(): Record<string, string> {
  const found: Record<string, string> = { node: process.versions.node };
  for (const name of ["better-sqlite3", "fastify"]) found[name] = versionOf(name);
  return found;
}

/** From the package's own file: not every package exports it. */
function versionOf(name: string): string {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const text = read(`${folder}/${name}/package.json`);
    const version = text === null ? null : /"version": *"([^"]+)"/.exec(text)?.[1];
    if (version !== null && version !== undefined) return version;
  }
  return "unknown";
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function commit(): string {
  const cwd = dirname(fileURLToPath(import.meta.url));
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    const isClean = git("status", "--porcelain", "--untracked-files=no").trim() === "";
    return `${git("rev-parse", "--short", "HEAD").trim()}${isClean ? "" : " and changes"}`;
  } catch {
    return "unknown";
  }
}

export function tableOf(rows: readonly Row[]): string {
  const head = ["what", "unit", "ours", "baseline", "ratio", "target", ""];
  const body = rows.map((row) => [
    row.name,
    row.unit,
    figure(row.ours),
    row.baselineName === null ? "" : `${figure(row.baseline)} (${row.baselineName})`,
    row.ratio === null ? "" : row.ratio.toFixed(2),
    row.target ?? "",
    `${row.ok ? "ok" : "FAILED"}  ${row.note}`,
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...body.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), ...body.map(line)].join("\n");
}

export function figure(value: number | null): string {
  if (value === null) return "none";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-GB");
  return value.toPrecision(3);
}
