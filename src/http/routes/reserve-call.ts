import type { Outcome } from "../../domain/outcome.ts";
import type { Rejection } from "../../domain/rejection.ts";
import type { ReservationView, ReserveRequest, Wait } from "../../engine/engine.ts";
import type { ReserveResult } from "../metrics.ts";
import type { RouteDeps } from "../route.ts";

/** Asks the engine, and counts what the caller is told. */
export async function reserveMeasured(
  { clock, engine, metrics, traffic }: RouteDeps,
  asked: ReserveRequest,
  wait: Wait,
): Promise<Outcome<ReservationView>> {
  const startedMs = clock.mono();
  let result: ReserveResult = "fault";
  let code: Rejection | null = null;
  try {
    const outcome = await engine.buyers.reserve(asked, wait);
    result = resultOf(outcome);
    code = outcome.ok ? null : outcome.code;
    return outcome;
  } finally {
    const seconds = (clock.mono() - startedMs) / 1_000;
    metrics.reserveAnswered(result, seconds);
    // Whoever asks for a sale that there is not must not push out one that there is.
    if (code !== "SALE_NOT_FOUND") traffic.answered(asked.saleId, { result, code, seconds });
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
