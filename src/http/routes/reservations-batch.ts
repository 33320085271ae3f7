import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../domain/fault.ts";
import type { Refused } from "../../domain/outcome.ts";
import { buyerId, operationId, saleId } from "../../domain/values.ts";
import type { ReserveRequest, Wait } from "../../engine/engine.ts";
import { originOf } from "../acting.ts";
import { reservationBody } from "../bodies.ts";
import {
  BatchBody,
  type BatchItem,
  type BatchOutcome,
  BatchRequest,
  batchBytesMax,
} from "../contract-batch.ts";
import { problemOf } from "../failures.ts";
import { InputError, preferredWaitMs } from "../input.ts";
import { languageOf } from "../language.ts";
import { type Problem, problemBody, statuses } from "../problem.ts";
import { NoQuery } from "../queries.ts";
import { problemOfRefusal } from "../refusal.ts";
import type { RouteDeps } from "../route.ts";
import { linesOf } from "./reservation-input.ts";
import { reservedStatus, reserveMeasured } from "./reserve-call.ts";

type Batch = FastifyRequest<{ Body: BatchRequest }>;

/** For trusted backends: what arrives together is admitted and committed together. */
export function reservationBatchRoute(app: FastifyInstance, deps: RouteDeps): void {
  const schema = {
    operationId: "reserveBatch",
    summary: "Reserve many carts of one sale, each for itself, with an outcome for each",
    description:
      "Each item is a call of its own: it has its own key, may be refused alone, and may be told " +
      "again. `Prefer: wait=N` holds for all of them.",
    tags: ["reservations"],
    body: BatchRequest,
    querystring: NoQuery,
    response: { 200: BatchBody },
  };
  app.post<{ Body: BatchRequest }>(
    // The router reads `::` as a colon.
    "/v1/reservations::batch",
    { schema, bodyLimit: batchBytesMax },
    async (request, reply) => {
      const wait = { waitMs: preferredWaitMs(request.headers["prefer"]) };
      const { items } = request.body;
      const outcomes = await Promise.all(
        items.map((item) => reserveOne(deps, request, item, wait)),
      );
      // Spelled out here: choosing between two schemas for each item costs more than the items.
      const body = JSON.stringify({ items: outcomes });
      return reply.code(200).type("application/json; charset=utf-8").send(body);
    },
  );
}

async function reserveOne(
  deps: RouteDeps,
  request: Batch,
  item: BatchItem,
  wait: Wait,
): Promise<BatchOutcome> {
  const { idempotencyKey } = item;
  try {
    const outcome = await reserveMeasured(deps, requestOf(request, item), wait);
    const { replayed } = outcome;
    if (!outcome.ok) return refusedOutcome(request, idempotencyKey, outcome);
    const body = reservationBody(outcome.value);
    return { idempotencyKey, status: reservedStatus(outcome.value), replayed, body };
  } catch (error) {
    // A mistake of ours fails the call; nothing is lost, because each key may be told again.
    if (!(error instanceof Fault) && !(error instanceof InputError)) throw error;
    return problemOutcome(request, idempotencyKey, problemOf(error));
  }
}

function requestOf(request: Batch, item: BatchItem): ReserveRequest {
  return {
    saleId: saleId(request.body.saleId),
    buyerId: buyerId(item.buyerId),
    idempotencyKey: operationId(item.idempotencyKey),
    lines: linesOf(item.items),
    origin: originOf(request),
  };
}

function refusedOutcome(request: Batch, key: string, refused: Refused): BatchOutcome {
  const outcome = problemOutcome(request, key, problemOfRefusal(refused));
  return { ...outcome, replayed: refused.replayed };
}

function problemOutcome(request: Batch, key: string, problem: Problem): BatchOutcome {
  const language = languageOf(request.headers["accept-language"]);
  const body = problemBody(problem, { requestId: request.id, language });
  return { idempotencyKey: key, status: statuses[problem.code], replayed: false, body };
}
