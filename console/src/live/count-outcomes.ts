import type { Outcome } from "./settle-letters.ts";

/** How many came to what: `{replayed: 3, stale: 1}`. */
export function countOutcomes(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
