import type { FastifyInstance } from "fastify";
import { systemRandom } from "../../src/clock.ts";
import { prometheusMetrics } from "../../src/http/metrics.ts";
import { buildServer, type ServerDeps } from "../../src/http/server.ts";

type Needed = Pick<ServerDeps, "engine" | "clock" | "log">;

/** The server as it is shipped, over an engine that stands already; whoever builds it closes it. */
export function realServer(deps: Needed & Partial<ServerDeps>): Promise<FastifyInstance> {
  const { clock } = deps;
  return buildServer({
    random: systemRandom,
    metrics: prometheusMetrics({ clock, version: "test", processMetrics: false }),
    apiKeys: new Map(),
    phase: () => "ready",
    version: "test",
    ...deps,
  });
}
