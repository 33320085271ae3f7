import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { Acting, DeadLetterOutcome, Oversight } from "../../engine/engine.ts";
import type { DeadLetterQuery } from "../../ledger/ledger.ts";
import { sendProblem } from "../answers.ts";
import { deadLetterBody } from "../bodies.ts";
import {
  DeadLetterBody,
  DeadLetterOutcomeBody,
  DeadLetterOutcomesBody,
  DeadLetterPage,
  DeadLetterRequest,
  DeadLettersRequest,
} from "../contract.ts";
import { pageOf, readCursorNumber } from "../cursor.ts";
import { normalText, pageLimit } from "../input.ts";
import { DeadLetterPath, DeadLettersQuery, NoQuery } from "../queries.ts";
import type { RouteDeps } from "../route.ts";

type Named = { Params: Static<typeof DeadLetterPath> };
type Verb = "replay" | "discard";

const tags = ["dead letters"];
/** What one call settles at most; the answer says whether more match. */
const settledMax = 1_000;

/** Messages that could not be decided. Looking never changes one. */
export function deadLetterRoutes(app: FastifyInstance, deps: RouteDeps): void {
  listRoute(app, deps);
  readRoute(app, deps);
  for (const verb of ["replay", "discard"] as const) {
    settleRoute(app, deps, verb);
    settleManyRoute(app, deps, verb);
  }
}

function listRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<{ Querystring: Static<typeof DeadLettersQuery> }>(
    "/v1/dead-letters",
    {
      schema: {
        operationId: "listDeadLetters",
        summary: "Messages that could not be decided, the oldest first",
        tags,
        querystring: DeadLettersQuery,
        response: { 200: DeadLetterPage },
      },
    },
    async ({ query }) => {
      const limit = pageLimit(query.limit);
      const found = await engine.oversight.deadLetters({
        state: query.state ?? null,
        lane: query.lane === undefined ? null : Number(query.lane),
        reason: query.reason ?? null,
        itemId: query.itemId ?? null,
        after: readCursorNumber("dead-letters", query.cursor) ?? 0,
        limit: limit + 1,
      });
      const link = { path: "/v1/dead-letters", query, list: "dead-letters" as const };
      const page = pageOf(found, limit, { ...link, key: ({ id }) => String(id) });
      return { items: page.items.map(deadLetterBody), next: page.next };
    },
  );
}

function readRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<Named>(
    "/v1/dead-letters/:id",
    {
      schema: {
        operationId: "getDeadLetter",
        summary: "One dead letter with its bytes",
        tags,
        params: DeadLetterPath,
        querystring: NoQuery,
        response: { 200: DeadLetterBody },
      },
      config: { problems: ["NOT_FOUND"] },
    },
    async (request, reply) => {
      const letter = await engine.oversight.deadLetter(Number(request.params.id));
      if (letter === null) return deadLetterNotFound(request, reply);
      return { ...deadLetterBody(letter), bodyBase64: letter.body.toString("base64") };
    },
  );
}

function settleRoute(app: FastifyInstance, { engine }: RouteDeps, verb: Verb): void {
  app.post<Named & { Body: Static<typeof DeadLetterRequest> }>(
    `/v1/dead-letters/:id/${verb}`,
    {
      schema: {
        operationId: `${verb}DeadLetter`,
        summary: summaries[verb],
        tags,
        params: DeadLetterPath,
        querystring: NoQuery,
        body: DeadLetterRequest,
        response: { 200: DeadLetterOutcomeBody },
      },
      config: { problems: ["NOT_FOUND"] },
    },
    async (request, reply) => {
      const acting = { actor: request.actor, reason: normalText(request.body.reason) };
      const outcome = await settle(engine.oversight, Number(request.params.id), verb, acting);
      return outcome.outcome === "not-found" ? deadLetterNotFound(request, reply) : outcome;
    },
  );
}

const summaries: Readonly<Record<Verb, string>> = {
  replay: "Send it through its lane again",
  discard: "Give it up, with a reason",
};

function settleManyRoute(app: FastifyInstance, { engine }: RouteDeps, verb: Verb): void {
  app.post<{ Body: DeadLettersRequest }>(
    // The router reads `::` as a colon.
    `/v1/dead-letters::${verb}`,
    {
      schema: {
        operationId: `${verb}DeadLetters`,
        summary: `${summaries[verb]}: all open ones that match, with an outcome for each`,
        tags,
        querystring: NoQuery,
        body: DeadLettersRequest,
        response: { 200: DeadLetterOutcomesBody },
      },
    },
    async (request) => {
      const { oversight } = engine;
      const { dryRun, reason, filter } = request.body;
      const found = await oversight.deadLetters({ ...filterOf(filter), limit: settledMax + 1 });
      const acting = { actor: request.actor, reason: normalText(reason) };
      const items: Static<typeof DeadLetterOutcomeBody>[] = [];
      for (const { id, reason: why } of found.slice(0, settledMax)) {
        if (dryRun) items.push({ id, outcome: `would-${verb}`, detail: why });
        else items.push(await settle(oversight, id, verb, acting));
      }
      return { dryRun, more: found.length > settledMax, items };
    },
  );
}

function filterOf(filter: DeadLettersRequest["filter"]): Omit<DeadLetterQuery, "limit"> {
  const { lane = null, reason = null, itemId = null } = filter;
  return { state: "open", lane, reason, itemId, after: 0 };
}

function settle(
  oversight: Oversight,
  id: number,
  verb: Verb,
  acting: Acting,
): Promise<DeadLetterOutcome> {
  return verb === "replay"
    ? oversight.replayDeadLetter(id, acting)
    : oversight.discardDeadLetter(id, acting);
}

function deadLetterNotFound(request: FastifyRequest<Named>, reply: FastifyReply): FastifyReply {
  const detail = `there is no dead letter ${request.params.id}`;
  return sendProblem(request, reply, { code: "NOT_FOUND", detail });
}
