import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { hotLookLines } from "../../doctor/hot-look.ts";
import { skuId } from "../../domain/values.ts";
import type { LevelView, Oversight } from "../../engine/engine.ts";
import type { EntryQuery } from "../../ledger/ledger.ts";
import { sendProblem } from "../answers.ts";
import { entryBody, levelBody } from "../bodies.ts";
import { type EntryBody, HotLookBody } from "../contract.ts";
import { pageOf, readCursor, readCursorNumber } from "../cursor.ts";
import { entryColumns } from "../export-columns.ts";
import { InputError, instantOf, isFlagSet, maybeInstant, pageLimit } from "../input.ts";
import { sendExport } from "../list-export.ts";
import { AsOfQuery, EntriesQuery, NoQuery, PageQuery, SkuPath } from "../queries.ts";
import { named, type RouteDeps } from "../route.ts";

type Named = { Params: Static<typeof SkuPath> };
type EntriesAsked = FastifyRequest<Named & { Querystring: Static<typeof EntriesQuery> }>;

const tags = ["stock"];

/** Reading stock: both stores now, the ledger as of any version or time, every entry. */
export function levelRoutes(app: FastifyInstance, deps: RouteDeps): void {
  listRoute(app, deps);
  levelRoute(app, deps);
  lookRoute(app, deps);
  entriesRoute(app, deps);
}

function listRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<{ Querystring: Static<typeof PageQuery> }>(
    "/v1/stock",
    {
      schema: {
        operationId: "listStock",
        summary: "Every SKU in both stores, in order of SKU",
        tags,
        querystring: PageQuery,
        response: { 200: named("LevelPage") },
      },
    },
    async ({ query }) => {
      const limit = pageLimit(query.limit);
      const after = readCursor("stock", query.cursor);
      const found = await engine.oversight.levels({ after, limit: limit + 1 });
      const link = { path: "/v1/stock", query, list: "stock" as const };
      const page = pageOf(found, limit, { ...link, key: ({ sku }) => sku });
      return { items: page.items.map(levelBody), next: page.next };
    },
  );
}

function levelRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<Named & { Querystring: Static<typeof AsOfQuery> }>(
    "/v1/stock/:sku",
    {
      schema: {
        operationId: "getStock",
        summary: "One SKU now, or in the ledger as of a version or a time",
        tags,
        params: SkuPath,
        querystring: AsOfQuery,
        response: { 200: named("Level") },
      },
      config: { problems: ["SKU_NOT_FOUND"] },
    },
    async (request, reply) => {
      const view = await levelOf(engine.oversight, request.params.sku, request.query);
      if (view === null) return skuNotFound(request, reply);
      return reply.header("etag", `"${view.version}"`).send(levelBody(view));
    },
  );
}

async function levelOf(
  oversight: Oversight,
  sku: string,
  { asOf, asOfVersion }: Static<typeof AsOfQuery>,
): Promise<LevelView | null> {
  if (asOf === undefined && asOfVersion === undefined) return oversight.level(skuId(sku));
  if (asOf === undefined) return oversight.levelAsOf(skuId(sku), { version: Number(asOfVersion) });
  if (asOfVersion !== undefined) {
    throw new InputError("query", "/asOf", "not beside an asOfVersion");
  }
  return oversight.levelAsOf(skuId(sku), { at: instantOf(asOf, "query", "/asOf") });
}

function lookRoute(app: FastifyInstance, { engine, stores }: RouteDeps): void {
  app.get<Named>(
    "/v1/stock/:sku/look",
    {
      schema: {
        operationId: "lookAtStock",
        summary: "What to type to see a SKU in hot stock, beside the API",
        tags,
        params: SkuPath,
        querystring: NoQuery,
        response: { 200: HotLookBody },
      },
      config: { problems: ["SKU_NOT_FOUND"] },
    },
    async (request, reply) => {
      const level = await engine.oversight.level(skuId(request.params.sku));
      if (level === null) return skuNotFound(request, reply);
      return { lines: stores === undefined ? [] : hotLookLines(stores, level) };
    },
  );
}

function entriesRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<Named & { Querystring: Static<typeof EntriesQuery> }>(
    "/v1/stock/:sku/entries",
    {
      schema: {
        operationId: "listEntries",
        summary: "The SKU's entries in order of version; `csv` and `ndjson` stream all of them",
        tags,
        params: SkuPath,
        querystring: EntriesQuery,
        response: { 200: named("EntryPage") },
      },
      config: { problems: ["SKU_NOT_FOUND"] },
    },
    async (request, reply) => {
      const sku = skuId(request.params.sku);
      const { query } = request;
      const { format = "json" } = query;
      const limit = pageLimit(query.limit);
      const asked = { ...entryQuery(query), limit: limit + 1 };
      const first = await engine.oversight.entries(sku, asked);
      const isMissing = first.length === 0 && (await engine.oversight.level(sku)) === null;
      if (isMissing) return skuNotFound(request, reply);
      if (format !== "json") {
        return sendEntries(request, reply, { oversight: engine.oversight, format });
      }
      const link = { path: `/v1/stock/${sku}/entries`, query, list: "entries" as const };
      const page = pageOf(first, limit, { ...link, key: ({ version }) => String(version) });
      return { items: page.items.map(entryBody), next: page.next };
    },
  );
}

function entryQuery(query: Static<typeof EntriesQuery>): Omit<EntryQuery, "limit"> {
  const { afterVersion = "0", cursor } = query;
  return {
    // The cursor goes on from where the last page ended: it is never before what was asked for.
    after: readCursorNumber("entries", cursor) ?? Number(afterVersion),
    from: maybeInstant(query.from, "query", "/from"),
    to: maybeInstant(query.to, "query", "/to"),
  };
}

/** All of them, as fast as they are read; a `limit` bounds it. */
function sendEntries(
  { query, params }: EntriesAsked,
  reply: FastifyReply,
  { oversight, format }: { readonly oversight: Oversight; readonly format: "csv" | "ndjson" },
): FastifyReply {
  const asked = entryQuery(query);
  const listing = {
    read: async (last: EntryBody | null, limit: number) => {
      const after = last?.version ?? asked.after;
      const found = await oversight.entries(skuId(params.sku), { ...asked, after, limit });
      return found.map(entryBody);
    },
    limit: query.limit === undefined ? null : Number(query.limit),
  };
  const form = { format, columns: entryColumns, bom: isFlagSet(query.bom), name: params.sku };
  return sendExport(reply, listing, form);
}

export function skuNotFound(request: FastifyRequest<Named>, reply: FastifyReply): FastifyReply {
  const detail = `there is no SKU ${request.params.sku}, or not at that version or time`;
  return sendProblem(request, reply, { code: "SKU_NOT_FOUND", detail });
}
