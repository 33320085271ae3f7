import type { Fault } from "../domain/fault.ts";
import type { FieldError, ProblemBody, ProblemCode } from "./contract.ts";
import { type Language, messages } from "./language.ts";

/** Every "no" as an HTTP status: a new refusal does not compile until it has one. */
export const statuses: Readonly<Record<ProblemCode, number>> = {
  INVALID: 400,
  KEY_MISSING: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  KEY_REUSED: 422,
  SALE_NOT_FOUND: 404,
  SKU_NOT_FOUND: 404,
  SALE_NOT_OPEN: 409,
  SALE_PAUSED: 409,
  SALE_ENDED: 409,
  SOLD_OUT: 409,
  LIMIT_EXCEEDED: 409,
  RESERVATION_NOT_FOUND: 404,
  VOID: 409,
  SKU_IN_SALE: 409,
  WRONG_STATE: 409,
  REFUND_DUE: 409,
  ALREADY_PAID: 409,
  NOT_ENOUGH: 409,
  VERSION_MOVED: 412,
  STOCK_CLOSED: 503,
  BUSY: 503,
};

/** Asked again, unchanged and a little later, these may come out otherwise. */
const retryableCodes: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "REQUEST_TIMEOUT",
  "TOO_MANY",
  "STOCK_CLOSED",
  "BUSY",
]);

export const retryAfterSeconds = 1;
export const problemType = "application/problem+json";

export type Problem = {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** Members that the refusal adds: the state, the reservation, the newer level. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
  /** When to come again, where it is known better than "soon". */
  readonly retryAfterSeconds?: number;
};

export type Asked = { readonly requestId: string; readonly language: Language };

/** What a refusal shows comes first, so that it can never replace a member of its own. */
export function problemBody(problem: Problem, asked: Asked): ProblemBody {
  const { code, detail, errors, facts } = problem;
  return {
    ...facts,
    type: problemUrl(code),
    code,
    status: statuses[code],
    title: messages[asked.language].titles[code],
    detail,
    instance: asked.requestId,
    retryable: isRetryable(problem),
    ...(errors === undefined ? {} : { errors: [...errors] }),
  };
}

export function problemUrl(code: ProblemCode): string {
  return `/docs/problems#${code}`;
}

export function isRetryable({ code, retryable }: Problem): boolean {
  return retryable ?? retryableCodes.has(code);
}

/** A store that is away or whose answer is unknown: never "failed", always "ask again". */
export function problemOfFault(fault: Fault): Problem {
  const isUnknown = fault.code.endsWith("_UNKNOWN");
  const detail = isUnknown
    ? "The outcome is not known: ask again with the same id, nothing is done twice."
    : "A store is away or overloaded: ask again with the same id.";
  return { code: "BUSY", detail, facts: { fault: fault.code } };
}
