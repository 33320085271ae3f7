import type { Health, LaneFlow, Oversight, Reconciliation } from "../engine/engine.ts";
import type { LedgerCounts } from "../ledger/ledger.ts";
import { type Checks, type Finding, failWhen, judgeAll, warnWhen } from "./check.ts";

export type LiveFacts = {
  readonly report: Reconciliation;
  readonly counts: Pick<LedgerCounts, "deadLetters">;
  readonly lanes: readonly LaneFlow[];
};

/** What the doctor asks of a running engine. */
export type LiveSource = Pick<Oversight, "health" | "reconciliation" | "counts" | "lanes">;

/** A ticket is decided within milliseconds; the marker finds a lost one within seconds. */
const ticketSecondsMax = 30;
const lagMax = 10_000;

type PartName = Health["parts"][number]["name"];

/** The stores, as the running process sees them. */
export const partLooks: Readonly<Record<PartName, string>> = {
  ledger: "curl URL/readyz?verbose",
  hot: "curl URL/readyz?verbose",
  bus: "curl URL/readyz?verbose",
};

/** Hot stock against the ledger, and what stands between them. */
export const liveChecks: Checks<LiveFacts> = {
  drift: {
    look: "holdfast reconcile --json",
    judge: ({ report: { drift, skus } }) => failWhen(drift !== 0, { drift, skus }),
  },
  behind: {
    look: "holdfast reconcile --json",
    judge: ({ report: { behind } }) => warnWhen(behind !== 0, { behind }),
  },
  lanes: {
    look: "curl URL/readyz?verbose",
    judge: ({ report: { closed } }) => failWhen(closed !== 0, { closed }),
  },
  "stopped-skus": {
    look: "holdfast stock list --json",
    judge: ({ report: { stopped } }) => warnWhen(stopped !== 0, { stopped }),
  },
  "dead-letters": {
    look: "holdfast dead-letters list",
    judge: ({ counts: { deadLetters } }) => warnWhen(deadLetters !== 0, { letters: deadLetters }),
  },
  "oldest-ticket": {
    look: "curl URL/metrics | grep oldest",
    judge: ({ report, lanes }) => {
      const ages = [
        ...report.items.map(({ oldestTicketSeconds }) => oldestTicketSeconds),
        ...lanes.map(({ outboxOldestSeconds }) => outboxOldestSeconds),
      ];
      const seconds = Math.round(ages.reduce((most, age) => Math.max(most, age), 0));
      return warnWhen(seconds > ticketSecondsMax, { seconds });
    },
  },
  "bus-lag": {
    look: "curl URL/metrics | grep lag",
    judge: ({ lanes }) => {
      const lag = lanes.reduce((sum, lane) => sum + (lane.lag ?? 0), 0);
      return warnWhen(lag > lagMax, { lag });
    },
  },
  repairs: {
    look: "holdfast reconcile --json",
    judge: ({ report: { repairs } }) => warnWhen(repairs !== 0, { repairs }),
  },
};

/** The checks that the running engine can make of itself. */
export async function examineLive(source: LiveSource): Promise<readonly Finding[]> {
  const health = await source.health();
  const parts = health.parts.map(partFinding);
  // Without its stores there is nothing more to compare.
  if (!health.ready) return parts;
  const [report, counts, lanes] = await Promise.all([
    source.reconciliation(),
    source.counts(),
    source.lanes(),
  ]);
  return [...parts, ...judgeAll(liveChecks, { report, counts, lanes })];
}

function partFinding({ name, ok, ms, detail }: Health["parts"][number]): Finding {
  const said = { answer: ok ? `${Math.round(ms)} ms` : detail };
  return { id: name, look: partLooks[name], isRefused: false, ...failWhen(!ok, said) };
}
