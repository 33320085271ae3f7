import type { Rejection } from "./rejection.ts";

/** What a command came to. Refusals are values: they are answers, not errors. */
export type Outcome<T> =
  | { readonly ok: true; readonly replayed: boolean; readonly value: T }
  | Refused;

export type Refused = {
  readonly ok: false;
  readonly code: Rejection;
  readonly replayed: boolean;
  /** What was expected and what was found, for a person. */
  readonly detail: string;
  /** What the refusal wants to show: the state, the newer level, the reservation. */
  readonly facts?: Readonly<Record<string, unknown>>;
};

export function accepted<T>(value: T): Outcome<T> {
  return { ok: true, replayed: false, value };
}

export function replayed<T>(value: T): Outcome<T> {
  return { ok: true, replayed: true, value };
}

export function refused(
  code: Rejection,
  detail: string,
  facts?: Readonly<Record<string, unknown>>,
): Refused {
  return facts === undefined
    ? { ok: false, code, replayed: false, detail }
    : { ok: false, code, replayed: false, detail, facts };
}
