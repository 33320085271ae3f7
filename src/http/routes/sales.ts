import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { operationId, saleId, skuId } from "../../domain/values.ts";
import type { CreateSaleRequest } from "../../engine/engine.ts";
import { actorOf } from "../acting.ts";
import { markReplayed, sendOutcome, sendRefusal } from "../answers.ts";
import { saleBody } from "../bodies.ts";
import { SaleMoveRequest, SaleRequest } from "../contract.ts";
import { pageOf, readCursor } from "../cursor.ts";
import { InputError, maybeIfMatch, maybeInstant, normalText, pageLimit } from "../input.ts";
import { NoQuery, PageQuery, SalePath } from "../queries.ts";
import { allowNoBody, named, type RouteDeps } from "../route.ts";
import { saleNotFound, streamSale } from "./sale-stream.ts";

type Named = { Params: Static<typeof SalePath> };

const tags = ["sales"];
const path = "/v1/sales/:saleId";

export function saleRoutes(app: FastifyInstance, deps: RouteDeps): void {
  createRoute(app, deps);
  listRoute(app, deps);
  readRoutes(app, deps);
  for (const [verb, to] of verbs) moveRoute(app, deps, { verb, to });
}

const verbs = [
  ["open", "open"],
  ["pause", "paused"],
  ["close", "closed"],
] as const;

function createRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.post<{ Body: SaleRequest }>(
    "/v1/sales",
    {
      schema: {
        operationId: "createSale",
        summary: "Make a sale, in state draft; its stock comes in from supply",
        tags,
        body: SaleRequest,
        querystring: NoQuery,
        response: { 200: named("Sale"), 201: named("Sale") },
      },
      config: { problems: ["KEY_REUSED", "SKU_IN_SALE", "NOT_ENOUGH"] },
    },
    async (request, reply) => {
      const outcome = await engine.merchandising.createSale(saleOf(request.body), actorOf(request));
      if (!outcome.ok) return sendRefusal(request, reply, outcome);
      if (outcome.replayed) markReplayed(reply);
      return reply
        .code(outcome.replayed ? 200 : 201)
        .header("location", `/v1/sales/${request.body.saleId}`)
        .send(saleBody(outcome.value));
    },
  );
}

function saleOf(body: SaleRequest): CreateSaleRequest {
  const opensAt = maybeInstant(body.opensAt, "body", "/opensAt");
  const closesAt = maybeInstant(body.closesAt, "body", "/closesAt");
  if (opensAt !== null && closesAt !== null && closesAt <= opensAt) {
    throw new InputError("body", "/closesAt", "expected a time after opensAt");
  }
  const seen = new Set<string>();
  for (const [index, { sku }] of body.items.entries()) {
    if (seen.has(sku)) throw new InputError("body", `/items/${index}/sku`, "stands here twice");
    seen.add(sku);
  }
  return {
    saleId: saleId(body.saleId),
    title: normalText(body.title),
    opensAt,
    closesAt,
    holdSeconds: body.holdSeconds,
    limitPerBuyer: body.limitPerBuyer ?? null,
    items: body.items.map(({ sku, stock }) => ({ sku: skuId(sku), stock })),
  };
}

function listRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<{ Querystring: Static<typeof PageQuery> }>(
    "/v1/sales",
    {
      schema: {
        operationId: "listSales",
        summary: "Sales, the newest first",
        tags,
        querystring: PageQuery,
        response: { 200: named("SalePage") },
      },
    },
    async ({ query }) => {
      const limit = pageLimit(query.limit);
      const after = readCursor("sales", query.cursor);
      const found = await engine.merchandising.sales({ after, limit: limit + 1 });
      const page = pageOf(found, limit, {
        path: "/v1/sales",
        query,
        list: "sales",
        key: ({ sale }) => sale.saleId,
      });
      return { items: page.items.map(saleBody), next: page.next };
    },
  );
}

function readRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const common = { tags, params: SalePath, querystring: NoQuery };
  app.get<Named>(
    path,
    {
      schema: {
        ...common,
        operationId: "getSale",
        summary: "One sale with the level of each SKU",
        response: { 200: named("Sale") },
      },
      config: { problems: ["SALE_NOT_FOUND"] },
    },
    async (request, reply) => {
      const view = await deps.engine.merchandising.sale(saleId(request.params.saleId));
      if (view === null) return saleNotFound(request, reply);
      return reply.header("etag", `"${view.sale.revision}"`).send(saleBody(view));
    },
  );
  app.get<Named>(
    `${path}/events`,
    {
      schema: {
        ...common,
        operationId: "watchSale",
        summary: "Server-sent events: the sale and its levels, once a second",
      },
      config: { problems: ["SALE_NOT_FOUND"] },
      exposeHeadRoute: false,
    },
    async (request, reply) => streamSale(request, reply, deps),
  );
}

const moveProblems = [
  "SALE_NOT_FOUND",
  "WRONG_STATE",
  "KEY_REUSED",
  "VERSION_MOVED",
  "STOCK_CLOSED",
] as const;

function moveRoute(
  app: FastifyInstance,
  { engine }: RouteDeps,
  { verb, to }: { verb: string; to: "open" | "paused" | "closed" },
): void {
  app.post<Named & { Body: Static<typeof SaleMoveRequest> }>(
    `${path}/${verb}`,
    {
      schema: {
        operationId: `${verb}Sale`,
        summary: `The sale becomes ${to}, once hot stock has it`,
        tags,
        params: SalePath,
        querystring: NoQuery,
        body: SaleMoveRequest,
        response: { 200: named("Sale") },
      },
      config: { problems: moveProblems },
      preValidation: allowNoBody,
    },
    async (request, reply) => {
      const { operationId: operation, reason } = request.body;
      const move = {
        to,
        operationId: operation === undefined ? null : operationId(operation),
        ifRevision: maybeIfMatch(request.headers["if-match"]),
        reason: normalText(reason),
      };
      const id = saleId(request.params.saleId);
      const outcome = await engine.merchandising.moveSale(id, move, actorOf(request));
      return sendOutcome(request, reply, outcome, saleBody);
    },
  );
}
