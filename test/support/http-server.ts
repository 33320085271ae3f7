import type { FastifyInstance } from "fastify";
import { expect, onTestFinished } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type Metrics, prometheusMetrics } from "../../src/http/metrics.ts";
import { buildServer, type ServerDeps } from "../../src/http/server.ts";
import { type EngineScript, fakeEngine } from "./fake-engine.ts";

export type TestServer = {
  readonly app: FastifyInstance;
  readonly clock: ManualClock;
  readonly metrics: Metrics;
  readonly failures: unknown[];
};

/** A server that no other test sees, closed with its test. */
export async function serverOfItsOwn(
  script: EngineScript,
  more: Partial<ServerDeps> = {},
): Promise<TestServer> {
  const server = await build(fakeEngine(script), more);
  onTestFinished(() => server.app.close());
  return server;
}

let script: Engine = fakeEngine({});
let shared: Promise<TestServer> | null = null;

/** The engine that the test in hand has scripted. */
const scripted: Engine = {
  get buyers() {
    return script.buyers;
  },
  get settlement() {
    return script.settlement;
  },
  get merchandising() {
    return script.merchandising;
  },
  get oversight() {
    return script.oversight;
  },
};

/** One server for the tests of a file, because building takes a while; the engine is the test's. */
export async function serverOver(engine: EngineScript): Promise<TestServer> {
  shared ??= build(scripted, {});
  const server = await shared;
  script = fakeEngine(engine);
  server.failures.length = 0;
  return server;
}

/** A server whose engine must not be asked at all. */
export function serverOverNothing(): Promise<TestServer> {
  return serverOver({});
}

async function build(engine: Engine, more: Partial<ServerDeps>): Promise<TestServer> {
  const clock = new ManualClock();
  const failures: unknown[] = [];
  const metrics = prometheusMetrics({ clock, version: "test", processMetrics: false });
  const app = await buildServer({
    engine,
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

/** By which call, where it brought no id of its own and no trace. */
export const ownCall: unknown = {
  requestId: expect.stringMatching(/^(07){6}-\w+$/),
  traceId: null,
};
