import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { type Metrics, prometheusMetrics } from "../../src/http/metrics.ts";
import { buildServer, type ServerDeps } from "../../src/http/server.ts";
import { type EngineScript, fakeEngine } from "./fake-engine.ts";

export type TestServer = {
  readonly app: FastifyInstance;
  readonly clock: ManualClock;
  readonly metrics: Metrics;
  readonly failures: unknown[];
};

/** The real server over a scripted engine, closed with its test. */
export async function serverOver(
  script: EngineScript,
  more: Partial<ServerDeps> = {},
): Promise<TestServer> {
  const server = await build(script, more);
  onTestFinished(() => server.app.close());
  return server;
}

let unasked: Promise<TestServer> | null = null;

/** A server whose engine must not be asked at all: one for all tests of a file. */
export function serverOverNothing(): Promise<TestServer> {
  unasked ??= build({}, {});
  return unasked;
}

async function build(script: EngineScript, more: Partial<ServerDeps>): Promise<TestServer> {
  const clock = new ManualClock();
  const failures: unknown[] = [];
  const metrics = prometheusMetrics({ clock, version: "test", processMetrics: false });
  const app = await buildServer({
    engine: fakeEngine(script),
    clock,
    random: { next: () => 0, bytes: (length) => Buffer.alloc(length, 7) },
    metrics,
    apiKeys: new Map(),
    phase: () => "ready",
    version: "test",
    log: (error) => failures.push(error),
    ...more,
  });
  return { app, clock, metrics, failures };
}
