import type { Outcome } from "../../src/domain/outcome.ts";
import type { Rejection } from "../../src/domain/rejection.ts";
import type { ReservationState } from "../../src/domain/reservation.ts";
import type { ReservationView } from "../../src/engine/engine.ts";

/** What a caller was told. */
export type Told = {
  readonly answer: "ok" | "replayed" | Rejection;
  readonly state: ReservationState | null;
  readonly id: string;
  readonly view: ReservationView | null;
};

export function answerOf(outcome: Outcome<unknown>): Told["answer"] {
  if (!outcome.ok) return outcome.code;
  return outcome.replayed ? "replayed" : "ok";
}

export function reservationIn(
  facts: Readonly<Record<string, unknown>> | undefined,
): ReservationView | null {
  const found = facts?.["reservation"];
  return found === undefined ? null : (found as ReservationView);
}
