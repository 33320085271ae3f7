import type { ProblemBody } from "../../../src/http/contract.ts";
import { basePath } from "../page-facts.ts";

/** An answer that is a "no", or no answer at all (`problem` null). */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: ProblemBody | null;
  readonly requestId: string | null;

  constructor(status: number, problem: ProblemBody | null, requestId: string | null) {
    super(problem?.detail ?? `HTTP ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
    this.requestId = problem?.instance ?? requestId;
  }
}

export type Call = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** What every call carries: the language for titles, and the proof that a page of ours asks. */
const standing = { language: "en", csrf: "" };

export function speakTo(facts: Partial<typeof standing>): void {
  Object.assign(standing, facts);
}

const signedOut = new Set<() => void>();

/** Called when the server no longer knows us. */
export function onSignedOut(listener: () => void): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

export function apiPath(path: string): string {
  return `${basePath}${path}`;
}

/** One call. Throws an `ApiError`; the answer's shape is the contract's, from the same build. */
export async function call<T>(path: string, asked: Call = {}): Promise<T> {
  const { method = "GET", body, signal } = asked;
  const response = await fetch(apiPath(path), {
    method,
    credentials: "same-origin",
    headers: headersOf(asked),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, null, null);
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text === "" ? "null" : text);
  if (response.status === 401) for (const listener of signedOut) listener();
  throw new ApiError(response.status, problemIn(text), response.headers.get("x-request-id"));
}

function headersOf({ method = "GET", body, headers }: Call): Record<string, string> {
  return {
    accept: "application/json",
    "accept-language": standing.language,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(method === "GET" || standing.csrf === "" ? {} : { "x-csrf-token": standing.csrf }),
    ...headers,
  };
}

function problemIn(text: string): ProblemBody | null {
  try {
    const problem: ProblemBody = JSON.parse(text);
    return typeof problem.code === "string" ? problem : null;
  } catch {
    return null;
  }
}

/** A name for one act: told again after a lost answer, it is done once. */
export function operationId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function segment(id: string): string {
  return encodeURIComponent(id);
}

/** A query string of what is set. */
export function query(values: Readonly<Record<string, string | null | undefined>>): string {
  const set = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined || value === "" ? [] : [[name, value]],
  );
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}
