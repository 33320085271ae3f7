import type { Static } from "typebox";
import type {
  DeadLetterOutcomeBody,
  DeadLetterOutcomesBody,
  DeadLettersRequest,
} from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";

export type Verb = "replay" | "discard";
export type Outcome = Static<typeof DeadLetterOutcomeBody>;
export type Outcomes = Static<typeof DeadLetterOutcomesBody>;
export type LetterFilter = {
  readonly reason: string;
  readonly itemId: string;
  readonly lane: string;
};
/** Those with these ids, or all open ones that the filter lets pass. */
export type Chosen = { readonly ids: readonly number[] } | LetterFilter;

/** What would come of it, without touching any. */
export function previewOf(verb: Verb, chosen: Chosen): Promise<Outcomes> {
  return settle(verb, chosen, { dryRun: true, reason: "preview" });
}

/** One call for all of them; the answer has an outcome for each. */
export function settle(
  verb: Verb,
  chosen: Chosen,
  act: { readonly dryRun: boolean; readonly reason: string },
): Promise<Outcomes> {
  const body: DeadLettersRequest = { ...act, filter: filterOf(chosen) };
  return call<Outcomes>(`/v1/dead-letters:${verb}`, { method: "POST", body });
}

function filterOf(chosen: Chosen): DeadLettersRequest["filter"] {
  if ("ids" in chosen) return { ids: [...chosen.ids] };
  const { reason, itemId, lane } = chosen;
  return {
    ...(reason === "" ? {} : { reason }),
    ...(itemId === "" ? {} : { itemId }),
    ...(lane === "" ? {} : { lane: Number(lane) }),
  };
}
