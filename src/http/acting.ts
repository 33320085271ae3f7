import type { FastifyRequest } from "fastify";
import { isTraceId, type RequestOrigin } from "../domain/request-origin.ts";
import type { Acting, Actor } from "../engine/engine.ts";
import { normalText } from "./input.ts";

/** By which call something is asked for. */
export function originOf(request: FastifyRequest): RequestOrigin {
  return { requestId: request.id, traceId: traceIdOf(request.headers["traceparent"]) };
}

export function actorOf(request: FastifyRequest): Actor {
  return { actor: request.actor, origin: originOf(request) };
}

/** Who acts, by which call, and the reason that was told. */
export function actingOf(request: FastifyRequest, reason?: string): Acting {
  return { ...actorOf(request), reason: normalText(reason) };
}

/**
 * The trace of a W3C `traceparent`, `00-<trace>-<parent>-<flags>`. Later versions may say more
 * behind it; `ff` is none. What is not one is ignored, as the standard asks.
 */
export function traceIdOf(header: string | string[] | undefined): string | null {
  if (typeof header !== "string") return null;
  const [, version, traceId, parent, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(header) ?? [];
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (parent === undefined || /^0+$/.test(parent)) return null;
  return isTraceId(traceId) ? traceId : null;
}
