import { type Checks, type Finding, judgeAll } from "./check.ts";

/** A clock beside ours. */
export type ClockFacts = { readonly store: string; readonly aheadMs: number };

/** The ledger's clock decides: a skew sells nothing twice, but deadlines that are shown are off. */
const skewMsMax = 1_000;
const skewMsFail = 30_000;

export const clockChecks: Checks<ClockFacts> = {
  clocks: {
    look: "timedatectl; {at}",
    judge: ({ store, aheadMs }) => {
      const skew = Math.abs(aheadMs);
      const said = { store, aheadMs };
      if (skew > skewMsFail) return { state: "fail", said };
      return { state: skew > skewMsMax ? "warn" : "ok", said };
    },
  },
};

export function examineClock(facts: ClockFacts, look: string): readonly Finding[] {
  return judgeAll(clockChecks, facts, look);
}
