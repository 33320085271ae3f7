import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { operationId, quantity, type SkuId, skuId } from "../../domain/values.ts";
import type { StockChange } from "../../engine/engine.ts";
import { actingOf } from "../acting.ts";
import { sendOutcome } from "../answers.ts";
import { levelBody, stockChangedBody } from "../bodies.ts";
import { AdjustRequest, CountRequest, StockMoveRequest, StopRequest } from "../contract.ts";
import { InputError, ifMatchVersion, maybeIfMatch } from "../input.ts";
import { NoQuery, SkuPath } from "../queries.ts";
import { named, type RouteDeps } from "../route.ts";

type Named = { Params: Static<typeof SkuPath> };

const tags = ["stock"];
const path = "/v1/stock/:sku";
const problems = [
  "SKU_NOT_FOUND",
  "NOT_ENOUGH",
  "KEY_REUSED",
  "VERSION_MOVED",
  "STOCK_CLOSED",
] as const;
const common = { tags, params: SkuPath, querystring: NoQuery };
const changed = { 200: named("StockChanged") };

export function stockRoutes(app: FastifyInstance, deps: RouteDeps): void {
  moveRoute(app, deps, { kind: "restock", summary: "Units come in from supply" });
  moveRoute(app, deps, { kind: "withdraw", summary: "Units go out to supply" });
  moveRoute(app, deps, { kind: "freeze", summary: "Take units off sale" });
  moveRoute(app, deps, { kind: "unfreeze", summary: "Put frozen units back on sale" });
  adjustRoute(app, deps);
  countRoute(app, deps);
  stopRoute(app, deps, { verb: "stop", summary: "Sell nothing of it until resumed" });
  stopRoute(app, deps, {
    verb: "resume",
    summary: "Sell again; what was wrong has been looked at",
  });
}

function moveRoute(
  app: FastifyInstance,
  { engine }: RouteDeps,
  { kind, summary }: { kind: "restock" | "withdraw" | "freeze" | "unfreeze"; summary: string },
): void {
  app.post<Named & { Body: Static<typeof StockMoveRequest> }>(
    `${path}/${kind}`,
    {
      schema: {
        ...common,
        operationId: `${kind}Stock`,
        summary,
        body: StockMoveRequest,
        response: changed,
      },
      config: { problems },
    },
    async (request, reply) => {
      const { body } = request;
      const change: StockChange = {
        kind,
        sku: skuId(request.params.sku),
        operationId: operationId(body.operationId),
        quantity: quantity(body.quantity),
        ifVersion: maybeIfMatch(request.headers["if-match"]),
      };
      const acting = actingOf(request, body.reason);
      const outcome = await engine.merchandising.changeStock(change, acting);
      return sendOutcome(request, reply, outcome, stockChangedBody);
    },
  );
}

function adjustRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.post<Named & { Body: AdjustRequest }>(
    `${path}/adjust`,
    {
      schema: {
        ...common,
        operationId: "adjustStock",
        summary: 'Correct by a delta, or to a total that was decided on `If-Match: "version"`',
        body: AdjustRequest,
        response: changed,
      },
      config: { problems },
    },
    async (request, reply) => {
      const sku = skuId(request.params.sku);
      const change = adjustmentOf(sku, request.body, request.headers["if-match"]);
      const acting = actingOf(request, request.body.reason);
      const outcome = await engine.merchandising.changeStock(change, acting);
      return sendOutcome(request, reply, outcome, stockChangedBody);
    },
  );
}

function adjustmentOf(sku: SkuId, body: AdjustRequest, ifMatch: string | undefined): StockChange {
  const operation = operationId(body.operationId);
  const { delta, total } = body;
  if (total !== undefined) {
    if (delta !== undefined) throw new InputError("body", "/delta", "not beside a total");
    const ifVersion = ifMatchVersion(ifMatch);
    return { kind: "set-total", sku, operationId: operation, total, ifVersion };
  }
  if (delta === undefined) throw new InputError("body", "/delta", "expected a delta or a total");
  if (delta === 0) throw new InputError("body", "/delta", "expected an integer that is not 0");
  const ifVersion = maybeIfMatch(ifMatch);
  return { kind: "adjust", sku, operationId: operation, delta, ifVersion };
}

function countRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.post<Named & { Body: Static<typeof CountRequest> }>(
    `${path}/count`,
    {
      schema: {
        ...common,
        operationId: "countStock",
        summary: "Units found of those that are frozen: found go back on sale, the rest is lost",
        body: CountRequest,
        response: changed,
      },
      config: { problems },
    },
    async (request, reply) => {
      const { found, reason, operationId: operation } = request.body;
      const change: StockChange = {
        kind: "count",
        sku: skuId(request.params.sku),
        operationId: operationId(operation),
        found,
        ifVersion: maybeIfMatch(request.headers["if-match"]),
      };
      const acting = actingOf(request, reason);
      const outcome = await engine.merchandising.changeStock(change, acting);
      return sendOutcome(request, reply, outcome, stockChangedBody);
    },
  );
}

function stopRoute(
  app: FastifyInstance,
  { engine }: RouteDeps,
  { verb, summary }: { verb: "stop" | "resume"; summary: string },
): void {
  app.post<Named & { Body: Static<typeof StopRequest> }>(
    `${path}/${verb}`,
    {
      schema: {
        ...common,
        operationId: `${verb}Stock`,
        summary,
        body: StopRequest,
        response: { 200: named("Level") },
      },
      config: { problems: ["SKU_NOT_FOUND", "KEY_REUSED", "VERSION_MOVED", "STOCK_CLOSED"] },
    },
    async (request, reply) => {
      const { merchandising } = engine;
      const sku = skuId(request.params.sku);
      const operation = operationId(request.body.operationId);
      const acting = {
        ...actingOf(request, request.body.reason),
        ifVersion: maybeIfMatch(request.headers["if-match"]),
      };
      const outcome =
        verb === "stop"
          ? await merchandising.stopSku(sku, operation, acting)
          : await merchandising.resumeSku(sku, operation, acting);
      return sendOutcome(request, reply, outcome, levelBody);
    },
  );
}
