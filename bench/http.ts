import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { systemClock, systemRandom } from "../src/clock.ts";
import { prometheusMetrics } from "../src/http/metrics.ts";
import { buildServer } from "../src/http/server.ts";
import { plenty, reserve } from "./committed.ts";
import { httpLoad } from "./http-load.ts";
import { rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { openSale, openWorld, prove, type World } from "./world.ts";

const echoName = "Fastify echo";
const callers = [64, 256] as const;

/** From an HTTP request to an answer that the ledger has committed. */
export async function committedOverHttpRow(scale: Scale): Promise<Row> {
  return overHttp(scale, "committed over HTTP", committedOverHttp);
}

export async function refusedOverHttpRow(scale: Scale): Promise<Row> {
  return overHttp(scale, "refused, sold out, over HTTP", refusedOverHttp);
}

async function overHttp(
  scale: Scale,
  name: string,
  rate: (scale: Scale, connections: number) => Promise<number>,
): Promise<Row> {
  const unit = "answers/s";
  const plain: Plain = { name, unit, baselineName: echoName, target: null };
  return guarded(plain, async () => {
    const short = { ...scale, seconds: scale.seconds / 2 };
    const connections = await best(callers, (count) => rate(short, count));
    const echoConnections = await best(callers, (count) => echoRate(short, count));
    const pairs = await inPairs(
      scale.pairs,
      () => rate(scale, connections),
      () => echoRate(scale, echoConnections),
    );
    const note = `${connections} connections against ${echoConnections}`;
    return rowOf({ ...plain, note }, pairs);
  });
}

async function committedOverHttp(scale: Scale, connections: number): Promise<number> {
  const metrics = newMetrics();
  await using world = await openWorld(metrics);
  const sale = await openSale(world, { name: "rush", stock: plenty });
  await using server = await serve(world, metrics);
  const { seconds } = scale;
  const load = { port: server.port, path: "/v1/reservations", connections, seconds, ...sale };
  const tally = await httpLoad({ ...load, status: 201 });
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
async function echoRate({ seconds }: Scale, connections: number): Promise<number> {
  const app = Fastify({ logger: false });
  const item = {
    type: "object",
    properties: { sku: { type: "string" }, quantity: { type: "integer" } },
    required: ["sku", "quantity"],
  };
  const schema = {
    type: "object",
    properties: {
      saleId: { type: "string" },
      buyerId: { type: "string" },
      items: { type: "array", items: item },
    },
    required: ["saleId", "buyerId", "items"],
  };
  const options = { schema: { body: schema, response: { 201: schema } } };
  app.post("/echo", options, async (request, reply) => reply.code(201).send(request.body));
  await using server = await listening(app);
  const load = { port: server.port, path: "/echo", connections, seconds };
  return rateOf(await httpLoad({ ...load, saleId: "rush", sku: "rush-sku", status: 201 }));
}

type Metrics = ReturnType<typeof prometheusMetrics>;

function newMetrics(): Metrics {
  return prometheusMetrics({ clock: systemClock, version: "bench", processMetrics: false });
}

async function serve({ holdfast }: World, metrics: Metrics): Promise<Listening> {
  const app = await buildServer({
    engine: holdfast.engine,
    clock: systemClock,
    random: systemRandom,
    metrics,
    apiKeys: new Map(),
    phase: () => "ready",
    version: "bench",
    log: (message: unknown) => process.stderr.write(`${String(message)}\n`),
  });
  return listening(app);
}

type Listening = AsyncDisposable & { readonly port: number };

async function listening(app: FastifyInstance): Promise<Listening> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, [Symbol.asyncDispose]: () => app.close() };
}
