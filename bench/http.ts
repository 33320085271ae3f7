import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { systemClock, systemRandom } from "../src/clock.ts";
import { prometheusMetrics } from "../src/http/metrics.ts";
import { buildServer, type ServerDeps } from "../src/http/server.ts";
import { plenty, reserve } from "./committed.ts";
import { httpLoad } from "./http-load.ts";
import { rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { openSale, openWorld, prove, type World } from "./world.ts";

export const echoName = "Fastify echo";
export const connectionsTried = [64, 256, 1_024] as const;

/** From an HTTP request to an answer that the ledger has committed. */
export async function committedOverHttpRow(scale: Scale): Promise<Row> {
  return overHttp(scale, { name: "committed over HTTP", bound: 0.6 }, committedOverHttp);
}

const batchSize = 500;

/** Many orders a request against one, from the same few connections as a backend holds open. */
export async function batchOverHttpRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: `committed over HTTP, ${batchSize} a request`,
    unit: "orders/s",
    baselineName: "one a request",
    target: { of: "ratio", is: ">=", bound: 5 },
  };
  return guarded(plain, async () => {
    const short = { ...scale, seconds: scale.seconds / 2 };
    const connections = await best(connectionsTried, (count) => committedOverHttp(short, count));
    const many = (count: number) => committedOverHttpIn(openWorld, batched(scale, count));
    const backends = await best([1, 2, 4], many);
    const pairs = await inPairs(
      scale.pairs,
      () => many(backends),
      () => committedOverHttp(scale, connections),
    );
    const note = `${backends} connections against ${connections}`;
    return rowOf({ ...plain, note }, pairs);
  });
}

function batched(scale: Scale, connections: number): HttpRun {
  return { scale, connections, batch: batchSize };
}

export async function refusedOverHttpRow(scale: Scale): Promise<Row> {
  return overHttp(scale, { name: "refused, sold out, over HTTP", bound: 0.9 }, refusedOverHttp);
}

async function overHttp(
  scale: Scale,
  { name, bound }: { readonly name: string; readonly bound: number },
  rate: (scale: Scale, connections: number) => Promise<number>,
): Promise<Row> {
  const unit = "answers/s";
  const target = { of: "ratio", is: ">=", bound } as const;
  const plain: Plain = { name, unit, baselineName: echoName, target };
  return guarded(plain, async () => {
    const short = { ...scale, seconds: scale.seconds / 2 };
    const connections = await best(connectionsTried, (count) => rate(short, count));
    const echoConnections = await best(connectionsTried, (count) => echoRate(short, count));
    const pairs = await inPairs(
      scale.pairs,
      () => rate(scale, connections),
      () => echoRate(scale, echoConnections),
    );
    const note = `${connections} connections against ${echoConnections}`;
    return rowOf({ ...plain, note }, pairs);
  });
}

function committedOverHttp(scale: Scale, connections: number): Promise<number> {
  return committedOverHttpIn(openWorld, { scale, connections });
}

export type HttpRun = {
  readonly scale: Scale;
  readonly connections: number;
  /** Orders a request; left out: one, as a call of its own. */
  readonly batch?: number;
};

/** In a world that is opened for it, whatever it stands on. */
export async function committedOverHttpIn(
  open: (metrics: Metrics) => Promise<World>,
  { scale, connections, batch }: HttpRun,
): Promise<number> {
  const metrics = newMetrics();
  await using world = await open(metrics);
  const sale = await openSale(world, { name: "rush", stock: plenty });
  await using server = await serve(world, metrics);
  const { seconds } = scale;
  const load = { port: server.port, connections, seconds, ...sale };
  const tally = await httpLoad(
    batch === undefined
      ? { ...load, path: "/v1/reservations", status: 201 }
      : { ...load, path: "/v1/reservations:batch", status: 200, batch },
  );
  await prove(world, { sale, reserved: tally.answered });
  return rateOf(tally);
}

async function refusedOverHttp(scale: Scale, connections: number): Promise<number> {
  const metrics = newMetrics();
  await using world = await openWorld(metrics);
  const sale = await openSale(world, { name: "gone", stock: 1 });
  await reserve(world, sale, plenty);
  await using server = await serve(world, metrics);
  const { seconds } = scale;
  const load = { port: server.port, path: "/v1/reservations", connections, seconds, ...sale };
  const tally = await httpLoad({ ...load, status: 409 });
  await prove(world, { sale, reserved: 1 });
  return rateOf(tally);
}

/** The framework alone: the same request, parsed and judged by a schema, and sent back. */
export async function echoRate({ seconds }: Scale, connections: number): Promise<number> {
  await using server = await echoServer();
  const load = { port: server.port, path: "/echo", connections, seconds };
  return rateOf(await httpLoad({ ...load, saleId: "rush", sku: "rush-sku", status: 201 }));
}

export async function echoServer(): Promise<Listening> {
  const app = Fastify({ logger: false });
  const schema = orderSchema;
  const options = { schema: { body: schema, response: { 201: schema } } };
  app.post("/echo", options, async (request, reply) => reply.code(201).send(request.body));
  return listening(app);
}

const orderItem = {
  type: "object",
  properties: { sku: { type: "string" }, quantity: { type: "integer" } },
  required: ["sku", "quantity"],
} as const;
/** A buyer's request, for servers that are not ours. */
export const orderSchema = {
  type: "object",
  properties: {
    saleId: { type: "string" },
    buyerId: { type: "string" },
    items: { type: "array", items: orderItem },
  },
  required: ["saleId", "buyerId", "items"],
} as const;

export type Metrics = ReturnType<typeof prometheusMetrics>;

export function newMetrics(): Metrics {
  return prometheusMetrics({ clock: systemClock, version: "bench", processMetrics: false });
}

export async function serve(
  { holdfast }: World,
  metrics: Metrics,
  more: Pick<ServerDeps, "console"> = {},
): Promise<Listening> {
  const app = await buildServer({
    engine: holdfast.engine,
    clock: systemClock,
    random: systemRandom,
    metrics,
    apiKeys: new Map(),
    phase: () => "ready",
    version: "bench",
    log: (message: unknown) => process.stderr.write(`${String(message)}\n`),
    ...more,
  });
  return listening(app);
}

export type Listening = AsyncDisposable & { readonly port: number };

export async function listening(app: FastifyInstance): Promise<Listening> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, [Symbol.asyncDispose]: () => app.close() };
}
