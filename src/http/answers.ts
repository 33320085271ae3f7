import type { FastifyReply, FastifyRequest } from "fastify";
import type { Outcome, Refused } from "../domain/outcome.ts";
import { languageOf } from "./language.ts";
import {
  isRetryable,
  type Problem,
  problemBody,
  problemType,
  retryAfterSeconds,
  statuses,
} from "./problem.ts";
import { problemOfRefusal } from "./refusal.ts";

export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): FastifyReply {
  const language = languageOf(request.headers["accept-language"]);
  const body = problemBody(problem, { requestId: request.id, language });
  if (isRetryable(problem)) {
    reply.header("retry-after", problem.retryAfterSeconds ?? retryAfterSeconds);
  }
  if (problem.code === "UNAUTHORIZED") reply.header("www-authenticate", "Bearer");
  return reply
    .code(statuses[problem.code])
    .header("content-language", language)
    .type(problemType)
    .send(JSON.stringify(body));
}

export function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refused: Refused,
): FastifyReply {
  if (refused.replayed) markReplayed(reply);
  return sendProblem(request, reply, problemOfRefusal(refused));
}

export function markReplayed(reply: FastifyReply): void {
  reply.header("idempotency-replayed", "true");
}

/** 200 with the body of the value, or the refusal. */
export function sendOutcome<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Outcome<T>,
  body: (value: T) => unknown,
): FastifyReply {
  if (!outcome.ok) return sendRefusal(request, reply, outcome);
  if (outcome.replayed) markReplayed(reply);
  return reply.code(200).send(body(outcome.value));
}
