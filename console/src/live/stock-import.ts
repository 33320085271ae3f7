import type { LevelBody } from "../../../src/http/contract.ts";
import { ApiError, call, operationId, segment } from "../api/call.ts";
import { balancesAfter, isPossible, requestOf, verbOf } from "./stock-change.ts";
import type { StockLine } from "./stock-lines.ts";

/** Units that come in, or what the total becomes. */
export const importKinds = ["restock", "adjust"] as const;
export type ImportKind = (typeof importKinds)[number];

/** What a line would do; `why` is null where it can be done. */
export type PlannedLine = StockLine & {
  readonly level: LevelBody | null;
  readonly after: number | null;
  readonly why: "unknown" | "impossible" | "same" | null;
  /** One for each line: told again after a lost answer, it is done once. */
  readonly operationId: string;
};

export type LineOutcome = { readonly sku: string; readonly why: string | null };

export const importLinesMax = 500;
const atOnce = 6;

export function plannedLine(
  line: StockLine,
  level: LevelBody | null,
  kind: ImportKind,
): Omit<PlannedLine, "operationId"> {
  if (level === null) return { ...line, level, after: null, why: "unknown" };
  const after = balancesAfter(level, kind, line.stock);
  if (after.total === level.total) return { ...line, level, after: after.total, why: "same" };
  const why = isPossible(after) ? null : "impossible";
  return { ...line, level, after: after.total, why };
}

/** A dry run: reads each SKU, and changes none. */
export function planImport(
  lines: readonly StockLine[],
  kind: ImportKind,
  signal: AbortSignal,
): Promise<readonly PlannedLine[]> {
  return eachOf(lines, async (line) => {
    const planned = plannedLine(line, await levelOf(line.sku, signal), kind);
    return { ...planned, operationId: operationId() };
  });
}

async function levelOf(sku: string, signal: AbortSignal): Promise<LevelBody | null> {
  try {
    return await call<LevelBody>(`/v1/stock/${segment(sku)}`, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Each line by itself, at the version that was seen; one that is refused stops no other. */
export function applyImport(
  planned: readonly PlannedLine[],
  { kind, reason }: { readonly kind: ImportKind; readonly reason: string },
): Promise<readonly LineOutcome[]> {
  const doable = planned.filter(({ why }) => why === null);
  return eachOf(doable, async ({ sku, stock, level, operationId: operation }) => {
    const version = level?.version ?? null;
    const asked = { operationId: operation, reason, quantity: stock, version };
    const path = `/v1/stock/${segment(sku)}/${verbOf(kind)}`;
    try {
      await call(path, { method: "POST", ...requestOf(kind, asked) });
      return { sku, why: null };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { sku, why: `${error.problem?.code ?? error.status}: ${error.message}` };
    }
  });
}

/** In their order, a few at a time. */
async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))));
  }
  return results;
}
