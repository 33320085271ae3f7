import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { Fault } from "../../domain/fault.ts";
import type { Acting, DeadLetterOutcome, Oversight } from "../../engine/engine.ts";
import type { DeadLetter, DeadLetterQuery } from "../../ledger/ledger.ts";
import { actingOf } from "../acting.ts";
import { sendProblem } from "../answers.ts";
import { deadLetterBody } from "../bodies.ts";
import {
  DeadLetterBody,
  DeadLetterOutcomeBody,
  DeadLetterOutcomesBody,
  DeadLetterPage,
  DeadLetterRequest,
  DeadLettersRequest,
  GivenUpBody,
} from "../contract.ts";
import { pageOf, readCursorNumber } from "../cursor.ts";
import { letterColumns } from "../export-columns.ts";
import { InputError, isFlagSet, pageLimit } from "../input.ts";
import { sendExport } from "../list-export.ts";
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
  givenUpRoute(app, deps);
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
        summary:
          "Messages that could not be decided, the oldest first; `csv`, `ndjson`: all of them",
        tags,
        querystring: DeadLettersQuery,
        response: { 200: DeadLetterPage },
      },
    },
    async ({ query }, reply) => {
      const { format = "json" } = query;
      const asked = letterQuery(query);
      if (format !== "json") return sendLetters(reply, engine.oversight, { query, asked, format });
      const limit = pageLimit(query.limit);
      const found = await engine.oversight.deadLetters({ ...asked, limit: limit + 1 });
      const link = { path: "/v1/dead-letters", query, list: "dead-letters" as const };
      const page = pageOf(found, limit, { ...link, key: ({ id }) => String(id) });
      return { items: page.items.map(deadLetterBody), next: page.next };
    },
  );
}

type Asked = Static<typeof DeadLettersQuery>;

function letterQuery(query: Asked): Omit<DeadLetterQuery, "limit"> {
  return {
    state: query.state ?? null,
    lane: query.lane === undefined ? null : Number(query.lane),
    reason: query.reason ?? null,
    itemId: query.itemId ?? null,
    after: readCursorNumber("dead-letters", query.cursor) ?? 0,
  };
}

type Export = {
  readonly query: Asked;
  readonly asked: Omit<DeadLetterQuery, "limit">;
  readonly format: "csv" | "ndjson";
};

/** All that match, as fast as it is read, without their bytes; a `limit` bounds it. */
function sendLetters(
  reply: FastifyReply,
  oversight: Oversight,
  { query, asked, format }: Export,
): FastifyReply {
  const listing = {
    read: async (last: DeadLetterBody | null, limit: number) => {
      const after = last?.id ?? asked.after;
      return (await oversight.deadLetters({ ...asked, after, limit })).map(deadLetterBody);
    },
    limit: query.limit === undefined ? null : Number(query.limit),
  };
  const form = { format, columns: letterColumns, bom: isFlagSet(query.bom), name: "dead-letters" };
  return sendExport(reply, listing, form);
}

function givenUpRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get(
    "/v1/dead-letters/given-up",
    {
      schema: {
        operationId: "countGivenUp",
        summary: "How many messages lie in the broker's own dead letters, which it alone keeps",
        tags,
        querystring: NoQuery,
        response: { 200: GivenUpBody },
      },
    },
    async () => ({ givenUp: await engine.oversight.givenUp() }),
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
      const acting = actingOf(request, request.body.reason);
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
      const { letters, more } = await matching(oversight, filter);
      const acting = actingOf(request, reason);
      const items = dryRun
        ? letters.map((letter) => preview(letter, verb))
        : await settleEach(oversight, letters, { verb, acting });
      return { dryRun, more, items };
    },
  );
}

type Filter = DeadLettersRequest["filter"];
type Outcome = Static<typeof DeadLetterOutcomeBody>;
/** One that was named by its id may not be there. */
type Letter = { readonly id: number; readonly letter: DeadLetter | null };
type Matching = { readonly letters: readonly Letter[]; readonly more: boolean };

async function matching(oversight: Oversight, filter: Filter): Promise<Matching> {
  const { ids, lane = null, reason = null, itemId = null } = filter;
  if (ids !== undefined) {
    if (lane !== null || reason !== null || itemId !== null) {
      throw new InputError("body", "/filter/ids", "not beside another filter");
    }
    const letters: Letter[] = [];
    for (const id of new Set(ids)) letters.push({ id, letter: await oversight.deadLetter(id) });
    return { letters, more: false };
  }
  const query = { state: "open", lane, reason, itemId, after: 0, limit: settledMax + 1 } as const;
  const found = await oversight.deadLetters(query);
  const letters = found.slice(0, settledMax).map((letter) => ({ id: letter.id, letter }));
  return { letters, more: found.length > settledMax };
}

function preview({ id, letter }: Letter, verb: Verb): Outcome {
  if (letter === null) return { id, outcome: "not-found", detail: "no such dead letter" };
  if (letter.state !== "open") {
    return { id, outcome: "already-settled", detail: `${letter.state} by ${letter.settledBy}` };
  }
  return { id, outcome: `would-${verb}`, detail: letter.reason };
}

/**
 * One after the other. A store that goes away on the way does not hide what was done before: the
 * one in hand has failed, and those behind it are not tried.
 */
async function settleEach(
  oversight: Oversight,
  letters: readonly Letter[],
  { verb, acting }: { readonly verb: Verb; readonly acting: Acting },
): Promise<readonly Outcome[]> {
  const items: Outcome[] = [];
  let fault: Fault | null = null;
  for (const { id } of letters) {
    if (fault !== null) {
      items.push({ id, outcome: "not-tried", detail: `a store is away (${fault.code})` });
      continue;
    }
    try {
      items.push(await settle(oversight, id, verb, acting));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      fault = error;
      items.push({ id, outcome: "failed", detail: `a store is away (${fault.code}): ask again` });
    }
  }
  return items;
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
