import type { Static } from "typebox";
import type { DeadLetterOutcomeBody, DeadLetterOutcomesBody } from "../../../src/http/contract.ts";
import { ApiError, call } from "../api/call.ts";

export type Verb = "replay" | "discard";
export type Outcome = Static<typeof DeadLetterOutcomeBody>;
export type Outcomes = Static<typeof DeadLetterOutcomesBody>;
export type LetterFilter = {
  readonly reason: string;
  readonly itemId: string;
  readonly lane: string;
};

/** What matches, without touching it. */
export function previewAll(verb: Verb, filter: LetterFilter): Promise<Outcomes> {
  return settleAll(verb, filter, { dryRun: true, reason: "preview" });
}

export function settleAll(
  verb: Verb,
  { reason: why, itemId, lane }: LetterFilter,
  act: { readonly dryRun: boolean; readonly reason: string },
): Promise<Outcomes> {
  const filter = {
    ...(why === "" ? {} : { reason: why }),
    ...(itemId === "" ? {} : { itemId }),
    ...(lane === "" ? {} : { lane: Number(lane) }),
  };
  return call<Outcomes>(`/v1/dead-letters:${verb}`, { method: "POST", body: { ...act, filter } });
}

/** One after the other; one that fails does not stop the rest, and says why. */
export async function settleEach(
  verb: Verb,
  ids: readonly number[],
  { reason, onOutcome }: { reason: string; onOutcome: (outcome: Outcome) => void },
): Promise<void> {
  for (const id of ids) {
    const path = `/v1/dead-letters/${id}/${verb}`;
    try {
      onOutcome(await call<Outcome>(path, { method: "POST", body: { reason } }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      onOutcome({ id, outcome: "failed", detail: error.message });
    }
  }
}
