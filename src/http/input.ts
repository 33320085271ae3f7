import type { Instant } from "../domain/values.ts";
import { isId, type OperationId, operationId } from "../domain/values.ts";
import type { FieldError } from "./contract.ts";
import { pageLimitDefault, waitSecondsDefault, waitSecondsMax } from "./schema.ts";

/** What a schema cannot say about a request: it is refused as `INVALID`, with the place. */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly errors: readonly FieldError[];

  constructor(place: FieldError["in"], pointer: string, message: string) {
    super(message);
    this.errors = [{ in: place, pointer, message }];
  }
}

/** The header is absent. */
export class KeyMissingError extends Error {
  override readonly name = "KeyMissingError";
}

/** A structured-field string (`"8e03"`), as the draft has it, or the bare id. */
export function idempotencyKey(header: string | string[] | undefined): OperationId {
  if (header === undefined) throw new KeyMissingError("Idempotency-Key names this purchase");
  const text = typeof header === "string" ? header : "";
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1) : text;
  if (isId(key)) return operationId(key);
  const expected = "expected 1–64 characters of A–Z a–z 0–9 . _ ~ -, bare or in quotes";
  throw new InputError("header", "/idempotency-key", expected);
}

/**
 * `Prefer: wait=N` in milliseconds. A preference is a wish: one that is not understood is
 * ignored, one that asks for more than the most gets the most.
 */
export function preferredWaitMs(header: string | string[] | undefined): number {
  if (header === undefined) return waitSecondsDefault * 1_000;
  const text = typeof header === "string" ? header : header.join(",");
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(text)?.[1];
  if (seconds === undefined) return waitSecondsDefault * 1_000;
  return Math.min(Number(seconds), waitSecondsMax) * 1_000;
}

/** As below, where it may be left out: null. */
export function maybeIfMatch(header: string | undefined): number | null {
  return header === undefined ? null : ifMatchVersion(header);
}

/** `If-Match: "12"`: the version of the level, or the revision of the sale, that was seen. */
export function ifMatchVersion(header: string | undefined): number {
  const digits = /^"?(0|[1-9]\d{0,14})"?$/.exec(header ?? "")?.[1];
  if (digits !== undefined) return Number(digits);
  throw new InputError("header", "/if-match", 'expected If-Match: "version"');
}

/** A time of the schema's form that is also in the calendar. */
export function instantOf(text: string, place: FieldError["in"], pointer: string): Instant {
  const ms = Date.parse(text);
  // The engine reads 30 February as 2 March: what is written back must be what was told.
  if (!Number.isNaN(ms) && isoTime(ms).slice(0, 19) === text.slice(0, 19)) return ms;
  throw new InputError(place, pointer, "expected a time of the calendar");
}

export function maybeInstant(
  text: string | undefined,
  place: FieldError["in"],
  pointer: string,
): Instant | null {
  return text === undefined ? null : instantOf(text, place, pointer);
}

export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function maybeIsoTime(instant: Instant | null): string | null {
  return instant === null ? null : isoTime(instant);
}

export function pageLimit(text: string | undefined): number {
  return text === undefined ? pageLimitDefault : Number(text);
}

export function isFlagSet(text: string | undefined): boolean {
  return text !== undefined && text !== "false" && text !== "0";
}

/** Free text in one form, so that what looks equal is equal. */
export function normalText(text: string | undefined): string {
  return text === undefined ? "" : text.normalize("NFC");
}
