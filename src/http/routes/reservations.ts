import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { Outcome } from "../../domain/outcome.ts";
import { buyerId, operationId, saleId } from "../../domain/values.ts";
import type { ReservationView, ReserveRequest } from "../../engine/engine.ts";
import { actingOf, originOf } from "../acting.ts";
import { markReplayed, sendOutcome, sendProblem, sendRefusal } from "../answers.ts";
import { reservationBody, reservationPath, timelineBody } from "../bodies.ts";
import {
  CancelRequest,
  ConfirmRequest,
  ExtendRequest,
  type RefundRequest,
  RefundRequest as RefundSchema,
  ReservationRequest,
  TimelineBody,
} from "../contract.ts";
import { idempotencyKey, maybeInstant, preferredWaitMs } from "../input.ts";
import { retryAfterSeconds } from "../problem.ts";
import { NoQuery, ReservationPath, WaitQuery } from "../queries.ts";
import { allowNoBody, named, type RouteDeps } from "../route.ts";
import { linesOf, refundOf } from "./reservation-input.ts";
import { streamReservation } from "./reservation-stream.ts";
import { reservedStatus, reserveMeasured } from "./reserve-call.ts";

type Named = { Params: Static<typeof ReservationPath> };

const tags = ["reservations"];
const path = "/v1/reservations/:reservationId";

export function reservationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  reserveRoute(app, deps);
  readRoutes(app, deps);
  paymentRoutes(app, deps);
  endRoutes(app, deps);
}

function reserveRoute(app: FastifyInstance, deps: RouteDeps): void {
  const schema = {
    operationId: "reserve",
    summary: "Reserve a cart: all of it or nothing",
    description:
      "Needs `Idempotency-Key`. `Prefer: wait=N` waits up to N seconds for the ledger's decision.",
    tags,
    body: ReservationRequest,
    querystring: NoQuery,
    response: { 201: named("Reservation"), 202: named("Reservation") },
  };
  app.post<{ Body: ReservationRequest }>(
    "/v1/reservations",
    { schema, config: { problems: reserveProblems } },
    async (request, reply) => {
      const wait = { waitMs: preferredWaitMs(request.headers["prefer"]) };
      const asked = reserveRequest(request);
      const outcome = await reserveMeasured(deps, asked, wait);
      return answerReserve(request, reply, outcome);
    },
  );
}

export const reserveProblems = [
  "KEY_MISSING",
  "KEY_REUSED",
  "SALE_NOT_FOUND",
  "SKU_NOT_FOUND",
  "SALE_NOT_OPEN",
  "SALE_PAUSED",
  "SALE_ENDED",
  "SOLD_OUT",
  "LIMIT_EXCEEDED",
  "VOID",
  "STOCK_CLOSED",
] as const;

function reserveRequest(request: FastifyRequest<{ Body: ReservationRequest }>): ReserveRequest {
  const { body } = request;
  return {
    saleId: saleId(body.saleId),
    buyerId: buyerId(body.buyerId),
    idempotencyKey: idempotencyKey(request.headers["idempotency-key"]),
    lines: linesOf(body.items),
    origin: originOf(request),
  };
}

function answerReserve(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Outcome<ReservationView>,
): FastifyReply {
  if (!outcome.ok) return sendRefusal(request, reply, outcome);
  if (outcome.replayed) markReplayed(reply);
  reply.header("location", reservationPath(outcome.value.id));
  return reservedStatus(outcome.value) === 202
    ? sendPending(reply, outcome.value)
    : reply.code(201).send(reservationBody(outcome.value));
}

function sendPending(reply: FastifyReply, view: ReservationView): FastifyReply {
  return reply
    .code(202)
    .header("location", reservationPath(view.id))
    .header("retry-after", retryAfterSeconds)
    .send(reservationBody(view));
}

export function reservationNotFound(
  request: FastifyRequest<Named>,
  reply: FastifyReply,
): FastifyReply {
  const detail = "no reservation of this server has this id";
  return sendProblem(request, reply, { code: "RESERVATION_NOT_FOUND", detail });
}

function readRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { engine } = deps;
  const config = { problems: ["RESERVATION_NOT_FOUND"] as const };
  const common = { tags, params: ReservationPath };
  app.get<Named & { Querystring: Static<typeof WaitQuery> }>(
    path,
    {
      schema: {
        ...common,
        operationId: "getReservation",
        summary: "One reservation; `wait` waits for a pending one to be decided",
        querystring: WaitQuery,
        response: { 200: named("Reservation") },
      },
      config,
    },
    async (request, reply) => {
      const wait = { waitMs: Number(request.query.wait ?? 0) * 1_000 };
      const view = await engine.buyers.reservation(request.params.reservationId, wait);
      return view === null ? reservationNotFound(request, reply) : reservationBody(view);
    },
  );
  app.get<Named>(
    `${path}/timeline`,
    {
      schema: {
        ...common,
        operationId: "getTimeline",
        summary: "Every step of a reservation, with store, time, actor and entry",
        querystring: NoQuery,
        response: { 200: TimelineBody },
      },
      config,
    },
    async (request, reply) => {
      const { reservationId } = request.params;
      const steps = await engine.buyers.timeline(reservationId);
      if (steps === null) return reservationNotFound(request, reply);
      return timelineBody(reservationId, steps, deps.traceUrl ?? null);
    },
  );
  app.get<Named>(
    `${path}/events`,
    {
      schema: {
        ...common,
        operationId: "watchReservation",
        summary: "Server-sent events: one for each state",
        querystring: NoQuery,
      },
      config,
      exposeHeadRoute: false,
    },
    async (request, reply) => streamReservation(request, reply, deps),
  );
}

function paymentRoutes(app: FastifyInstance, { engine }: RouteDeps): void {
  const answer = { 200: named("Reservation") };
  const common = { tags, params: ReservationPath, querystring: NoQuery, response: answer };
  app.post<Named & { Body: Static<typeof ConfirmRequest> }>(
    `${path}/confirm`,
    {
      schema: {
        ...common,
        operationId: "confirm",
        summary: "A payment: the payment id is the operation",
        body: ConfirmRequest,
      },
      config: { problems: [...settleProblems, "VOID", "REFUND_DUE", "ALREADY_PAID"] },
    },
    async (request, reply) => {
      const { paymentId, paidAt } = request.body;
      const payment = {
        paymentId: operationId(paymentId),
        paidAt: maybeInstant(paidAt, "body", "/paidAt"),
      };
      const acting = actingOf(request);
      const id = request.params.reservationId;
      const outcome = await engine.settlement.confirm(id, payment, acting);
      return sendOutcome(request, reply, outcome, reservationBody);
    },
  );
  app.post<Named & { Body: RefundRequest }>(
    `${path}/refund`,
    {
      schema: {
        ...common,
        operationId: "refund",
        summary: "Give units back, or record that a payment which was due back has gone back",
        body: RefundSchema,
      },
      config: { problems: [...settleProblems, "NOT_ENOUGH", "KEY_REUSED"] },
    },
    async (request, reply) => {
      const acting = actingOf(request, request.body.reason);
      const id = request.params.reservationId;
      const outcome = await engine.settlement.refund(id, refundOf(request.body), acting);
      return sendOutcome(request, reply, outcome, reservationBody);
    },
  );
}

const settleProblems = ["RESERVATION_NOT_FOUND", "WRONG_STATE"] as const;

function endRoutes(app: FastifyInstance, { engine }: RouteDeps): void {
  const common = { tags, params: ReservationPath, querystring: NoQuery };
  app.post<Named & { Body: Static<typeof CancelRequest> }>(
    `${path}/cancel`,
    {
      schema: {
        ...common,
        operationId: "cancel",
        summary: "End a hold; a pending one is decided behind its ticket",
        body: CancelRequest,
        response: { 200: named("Reservation"), 202: named("Reservation") },
      },
      config: { problems: [...settleProblems, "VOID"] },
      preValidation: allowNoBody,
    },
    async (request, reply) => {
      const acting = actingOf(request, request.body.reason);
      const waitMs = preferredWaitMs(request.headers["prefer"]);
      const id = request.params.reservationId;
      const outcome = await engine.settlement.cancel(id, { ...acting, waitMs });
      if (outcome.ok && outcome.value.state === "pending") return sendPending(reply, outcome.value);
      return sendOutcome(request, reply, outcome, reservationBody);
    },
  );
  app.post<Named & { Body: Static<typeof ExtendRequest> }>(
    `${path}/extend`,
    {
      schema: {
        ...common,
        operationId: "extend",
        summary: "Hold for longer",
        body: ExtendRequest,
        response: { 200: named("Reservation") },
      },
      config: { problems: [...settleProblems, "KEY_REUSED"] },
    },
    async (request, reply) => {
      const { seconds, operationId: operation } = request.body;
      const extension = { operationId: operationId(operation), seconds };
      const acting = actingOf(request);
      const outcome = await engine.settlement.extend(
        request.params.reservationId,
        extension,
        acting,
      );
      return sendOutcome(request, reply, outcome, reservationBody);
    },
  );
}
