import type { Pair, Row } from "./report.ts";
import { BrokenInvariant } from "./world.ts";

export type Scale = {
  /** How long one measurement lasts. */
  readonly seconds: number;
  readonly pairs: number;
  /** Callers at once that are tried for us and for the baseline. */
  readonly ourCallers: readonly number[];
  readonly recipeCallers: readonly number[];
  /** Holds, requests and tickets of the rows that count instead of timing. */
  readonly count: number;
};

export const fullScale: Scale = {
  seconds: 2,
  pairs: 5,
  ourCallers: [16, 64, 256, 512, 1024],
  recipeCallers: [1, 4, 16, 64, 256],
  count: 2_000,
};

export type Plain = {
  readonly name: string;
  readonly unit: string;
  readonly baselineName: string | null;
  readonly target: Target | null;
  readonly note?: string;
};

export type Target = {
  readonly of: "ratio" | "value";
  readonly is: ">=" | "<=" | "<";
  readonly bound: number;
};

/** Ours and the baseline by turns, so that both see the same weather. */
export async function inPairs(
  count: number,
  ours: () => Promise<number>,
  baseline: (() => Promise<number>) | null,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let n = 0; n < count; n += 1) {
    const before = baseline !== null && n % 2 === 0 ? await baseline() : null;
    const own = await ours();
    const after = baseline !== null && before === null ? await baseline() : before;
    pairs.push({ ours: own, baseline: after });
  }
  return pairs;
}

/** The first of these that comes out highest, each tried once. */
export async function best(
  candidates: readonly number[],
  run: (candidate: number) => Promise<number>,
): Promise<number> {
  let found = { candidate: candidates[0] ?? 1, value: Number.NEGATIVE_INFINITY };
  for (const candidate of candidates) {
    const value = await run(candidate);
    if (value > found.value) found = { candidate, value };
  }
  return found.candidate;
}

export function rowOf(plain: Plain, pairs: readonly Pair[]): Row {
  const ours = median(pairs.map((pair) => pair.ours));
  const baselines = pairs.flatMap(({ baseline }) => (baseline === null ? [] : [baseline]));
  const baseline = baselines.length === 0 ? null : median(baselines);
  const ratios = pairs.flatMap((pair) =>
    pair.baseline === null ? [] : [pair.ours / pair.baseline],
  );
  const ratio = ratios.length === 0 ? null : median(ratios);
  const { name, unit, baselineName, target, note = "" } = plain;
  const judged = target?.of === "ratio" ? ratio : ours;
  return {
    name,
    unit,
    ours,
    baseline,
    baselineName,
    ratio,
    target: target === null ? null : `${target.of} ${target.is} ${target.bound}`,
    ok: target === null || (judged !== null && meets(judged, target)),
    pairs,
    note: [note, spread(ratios)].filter((part) => part !== "").join("; "),
  };
}

/** Makes a row; a broken invariant leaves it without a figure, and failed. */
export async function guarded(plain: Plain, measure: () => Promise<Row>): Promise<Row> {
  try {
    return await measure();
  } catch (error) {
    if (!(error instanceof BrokenInvariant)) throw error;
    const { name, unit, baselineName, target } = plain;
    const nothing = { ours: null, baseline: null, ratio: null, pairs: [] };
    const wanted = target === null ? null : `${target.of} ${target.is} ${target.bound}`;
    const said = { target: wanted, ok: false, note: `no figure: ${error.message}` };
    return { name, unit, baselineName, ...nothing, ...said };
  }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** By the nearest rank; not a number where there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[rank] ?? Number.NaN;
}

function meets(value: number, { is, bound }: Target): boolean {
  if (is === ">=") return value >= bound;
  return is === "<=" ? value <= bound : value < bound;
}

function spread(ratios: readonly number[]): string {
  if (ratios.length < 2) return "";
  return `by pair ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
}
