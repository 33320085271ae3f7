import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";
import { Fault } from "../../domain/fault.ts";
import type { Health } from "../../engine/engine.ts";
import { ProbeBody } from "../contract.ts";
import { isFlagSet } from "../input.ts";
import { NoQuery, ReadyQuery } from "../queries.ts";
import type { RouteDeps } from "../route.ts";

const tags = ["probes"];
const healthMsMax = 2_000;

/**
 * For machines that watch processes: open to all, so they say no more than yes or no. Being alive
 * never depends on a store, or a store that is away would have every process restarted.
 */
export function probeRoutes(app: FastifyInstance, deps: RouteDeps): void {
  aliveRoutes(app, deps);
  readyRoutes(app, deps);
  app.get(
    "/metrics",
    {
      schema: {
        operationId: "metrics",
        summary: "Prometheus text format",
        tags,
        querystring: NoQuery,
      },
    },
    async (_request, reply) => {
      const { contentType, body } = await deps.metrics.render();
      return reply.type(contentType).send(body);
    },
  );
}

function aliveRoutes(app: FastifyInstance, { phase }: RouteDeps): void {
  const common = { tags, querystring: NoQuery, response: { 200: ProbeBody, 503: ProbeBody } };
  const config = { open: true };
  app.get(
    "/livez",
    { schema: { ...common, operationId: "livez", summary: "The process answers" }, config },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/startupz",
    { schema: { ...common, operationId: "startupz", summary: "The start is over" }, config },
    async (_request, reply) => {
      const isStarted = phase() !== "starting";
      return reply.code(isStarted ? 200 : 503).send({ status: isStarted ? "ok" : "starting" });
    },
  );
}

function readyRoutes(app: FastifyInstance, deps: RouteDeps): void {
  for (const [path, operationId] of [
    ["/readyz", "readyz"],
    ["/healthz", "healthz"],
  ] as const) {
    app.get<{ Querystring: Static<typeof ReadyQuery> }>(
      path,
      {
        schema: {
          operationId,
          summary: "The process should get traffic; `verbose` names each store",
          tags,
          querystring: ReadyQuery,
          response: { 200: ProbeBody, 503: ProbeBody },
        },
        config: { open: true },
      },
      async ({ query }, reply) => sendReadiness(reply, deps, isFlagSet(query.verbose)),
    );
  }
}

async function sendReadiness(
  reply: FastifyReply,
  deps: RouteDeps,
  verbose: boolean,
): Promise<FastifyReply> {
  const phase = deps.phase();
  const health = phase === "ready" ? await healthInTime(deps) : unhealthy;
  const status = phase === "ready" ? (health.ready ? "ok" : "unavailable") : phase;
  const parts = health.parts.map(({ name, ok, ms }) => ({ name, ok, ms }));
  return reply.code(status === "ok" ? 200 : 503).send(verbose ? { status, parts } : { status });
}

const unhealthy: Health = { ready: false, parts: [] };

/** A probe that hangs says nothing: after a bound the answer is no. */
async function healthInTime({ engine, clock }: RouteDeps): Promise<Health> {
  const answered = new AbortController();
  const late = clock.sleep(healthMsMax, answered.signal).then(() => unhealthy);
  try {
    return await Promise.race([engine.oversight.health(), late]);
  } catch (error) {
    if (error instanceof Fault) return unhealthy;
    throw error;
  } finally {
    answered.abort();
  }
}
