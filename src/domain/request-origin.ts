import { isId } from "./values.ts";

/**
 * The call that asked for something. It decides nothing and is in no hash: people follow it
 * through the logs of other systems. Absent on what the engine does by itself.
 */
export type RequestOrigin = {
  /** The caller's `X-Request-Id`, or ours: an id of the one alphabet. */
  readonly requestId: string;
  /** 32 hex digits of a W3C `traceparent`; null: the caller sent none. */
  readonly traceId: string | null;
};

/** Something that may have been asked for by a call. */
export type Asked = { readonly origin?: RequestOrigin };

/** The origin alone, to be spread: a field that is absent stays absent. */
export function originOf({ origin }: Asked): Asked {
  return origin === undefined ? {} : { origin };
}

/** As it comes from outside or from a store. It decides nothing, so what is no id is no origin. */
export function readOrigin(requestId: unknown, traceId: unknown): Asked {
  if (!isId(requestId)) return {};
  return { origin: { requestId, traceId: isTraceId(traceId) ? traceId : null } };
}

/** 32 lower-case hex digits, and not all of them 0 (W3C Trace Context). */
export function isTraceId(text: unknown): text is string {
  return typeof text === "string" && /^[0-9a-f]{32}$/.test(text) && !/^0+$/.test(text);
}
