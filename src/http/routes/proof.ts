import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";
import { skuId } from "../../domain/values.ts";
import type { Oversight } from "../../engine/engine.ts";
import type { AuditQuery as LedgerAuditQuery } from "../../ledger/ledger.ts";
import { actingOf } from "../acting.ts";
import { sendProblem } from "../answers.ts";
import { auditBody } from "../bodies.ts";
import {
  AuditPage,
  type AuditRecordBody,
  ReconciliationBody,
  RepairBody,
  RepairRequest,
  SearchBody,
  VerificationBody,
  VerifyRequest,
} from "../contract.ts";
import { pageOf, readCursorNumber } from "../cursor.ts";
import { auditColumns } from "../export-columns.ts";
import { isFlagSet, isoTime, maybeInstant, pageLimit } from "../input.ts";
import { sendExport } from "../list-export.ts";
import { AuditQuery, NoQuery, SearchQuery } from "../queries.ts";
import { refusedBelow } from "../refused-acts.ts";
import { allowNoBody, type RouteDeps } from "../route.ts";
import { linkOf, searchText } from "../search-text.ts";

const tags = ["proof"];

/** Those who prove, repair and look. */
export function proofRoutes(app: FastifyInstance, deps: RouteDeps): void {
  reconciliationRoutes(app, deps);
  verifyRoute(app, deps);
  auditRoute(app, deps);
  searchRoute(app, deps);
}

function reconciliationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { engine, refusedActs } = deps;
  app.get(
    "/v1/reconciliation",
    {
      schema: {
        operationId: "reconcile",
        summary: "Hot stock against ledger, exact under live traffic",
        tags,
        querystring: NoQuery,
        response: { 200: ReconciliationBody },
      },
    },
    async () => {
      const report = await engine.oversight.reconciliation();
      return { ...report, at: isoTime(report.at) };
    },
  );
  app.post<{ Body: Static<typeof RepairRequest> }>(
    "/v1/reconciliation/repair",
    {
      schema: {
        operationId: "repair",
        summary: "What was done, or with dryRun what would be, line by line",
        tags,
        querystring: NoQuery,
        body: RepairRequest,
        response: { 200: RepairBody },
      },
      config: { problems: ["SKU_NOT_FOUND"] },
    },
    async (request, reply) => {
      const { dryRun, reason } = request.body;
      const applied = { needed: "admin", refusedActs } as const;
      const refused = dryRun ? null : await refusedBelow(request, reply, applied);
      if (refused !== null) return refused;
      const sku = request.body.sku === undefined ? null : skuId(request.body.sku);
      if (sku !== null && (await engine.oversight.level(sku)) === null) {
        const detail = `there is no SKU ${sku}`;
        return sendProblem(request, reply, { code: "SKU_NOT_FOUND", detail });
      }
      return engine.oversight.repair({ dryRun, sku }, actingOf(request, reason));
    },
  );
}

function verifyRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.post<{ Body: Static<typeof VerifyRequest> }>(
    "/v1/audit/verify",
    {
      schema: {
        operationId: "verify",
        summary: "Recompute chains, sums and buckets; names the first broken entry",
        tags,
        querystring: NoQuery,
        body: VerifyRequest,
        response: { 200: VerificationBody },
      },
      config: { problems: ["SKU_NOT_FOUND"] },
      preValidation: allowNoBody,
    },
    async (request, reply) => {
      const sku = request.body.sku === undefined ? null : skuId(request.body.sku);
      if (sku !== null && (await engine.oversight.level(sku)) === null) {
        const detail = `there is no SKU ${sku}`;
        return sendProblem(request, reply, { code: "SKU_NOT_FOUND", detail });
      }
      return engine.oversight.verify(sku);
    },
  );
}

function auditRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<{ Querystring: Static<typeof AuditQuery> }>(
    "/v1/audit-log",
    {
      schema: {
        operationId: "listAudit",
        summary: "Who did what and why, the newest first; `csv` and `ndjson` stream all of it",
        tags,
        querystring: AuditQuery,
        response: { 200: AuditPage },
      },
    },
    async ({ query }, reply) => {
      const { format = "json" } = query;
      const asked = auditQuery(query);
      if (format !== "json") return sendAudit(reply, engine.oversight, { query, asked, format });
      const limit = pageLimit(query.limit);
      const found = await engine.oversight.auditLog({ ...asked, limit: limit + 1 });
      const link = { path: "/v1/audit-log", query, list: "audit-log" as const };
      const page = pageOf(found, limit, { ...link, key: ({ id }) => String(id) });
      return { items: page.items.map(auditBody), next: page.next };
    },
  );
}

type Asked = Static<typeof AuditQuery>;

function auditQuery(query: Asked): Omit<LedgerAuditQuery, "limit"> {
  return {
    actor: query.actor ?? null,
    action: query.action ?? null,
    subject: query.subject ?? null,
    from: maybeInstant(query.from, "query", "/from"),
    to: maybeInstant(query.to, "query", "/to"),
    before: readCursorNumber("audit-log", query.cursor),
  };
}

type Export = {
  readonly query: Asked;
  readonly asked: Omit<LedgerAuditQuery, "limit">;
  readonly format: "csv" | "ndjson";
};

/** All that match, as fast as it is read; a `limit` bounds it. */
function sendAudit(
  reply: FastifyReply,
  oversight: Oversight,
  { query, asked, format }: Export,
): FastifyReply {
  const listing = {
    read: async (last: AuditRecordBody | null, limit: number) => {
      const before = last?.id ?? asked.before;
      return (await oversight.auditLog({ ...asked, before, limit })).map(auditBody);
    },
    limit: query.limit === undefined ? null : Number(query.limit),
  };
  const form = { format, columns: auditColumns, bom: isFlagSet(query.bom), name: "audit-log" };
  return sendExport(reply, listing, form);
}

function searchRoute(app: FastifyInstance, { engine }: RouteDeps): void {
  app.get<{ Querystring: Static<typeof SearchQuery> }>(
    "/v1/search",
    {
      schema: {
        operationId: "search",
        summary: "Any id: where it is known, and where was looked",
        tags,
        querystring: SearchQuery,
        response: { 200: SearchBody },
      },
    },
    async ({ query }) => {
      const q = searchText(query.q);
      const found = await engine.oversight.search(q);
      const hits = found.hits.map((hit) => ({ ...hit, at: isoTime(hit.at), link: linkOf(hit) }));
      return { q, hits, looked: found.looked };
    },
  );
}
