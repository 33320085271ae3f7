import type { Outcome } from "../../domain/outcome.ts";
import type { ReservationView, ReserveRequest, Wait } from "../../engine/engine.ts";
import type { ReserveResult } from "../metrics.ts";
import type { RouteDeps } from "../route.ts";

/** Asks the engine, and counts what the caller is told. */
export async function reserveMeasured(
  { clock, engine, metrics }: RouteDeps,
  asked: ReserveRequest,
  wait: Wait,
): Promise<Outcome<ReservationView>> {
  const startedMs = clock.mono();
  let result: ReserveResult = "fault";
  try {
    const outcome = await engine.buyers.reserve(asked, wait);
    result = resultOf(outcome);
    return outcome;
  } finally {
    metrics.reserveAnswered(result, (clock.mono() - startedMs) / 1_000);
  }
}

/** A repeat gets the first status, with the reservation as it is now. */
export function reservedStatus({ state }: ReservationView): 201 | 202 {
  return state === "pending" ? 202 : 201;
}

function resultOf(outcome: Outcome<ReservationView>): ReserveResult {
  if (outcome.replayed) return "replayed";
  if (!outcome.ok) return "refused";
  return outcome.value.state === "pending" ? "pending" : "reserved";
}
