import Fastify from "fastify";
import { plenty } from "./committed.ts";
import {
  committedOverHttpIn,
  connectionsTried,
  echoName,
  echoRate,
  listening,
  orderSchema,
} from "./http.ts";
import { httpLoad } from "./http-load.ts";
import { rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { StackRecipe } from "./stack-recipe.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { BrokenInvariant, openWorldOn } from "./world.ts";

const named = { name: "committed over HTTP, Redis + MariaDB", unit: "answers/s" } as const;
export const alwaysFlushed = ["--appendonly", "yes", "--appendfsync", "always"] as const;
const neverFlushed = ["--appendonly", "no"] as const;
const recipeConnections = [16, 64] as const;

/** From an HTTP request through Redis and a stream to an answer that MariaDB has committed. */
export async function stackHttpRows(scale: Scale): Promise<Row[]> {
  await using servers = await startServers();
  const short = { ...scale, seconds: scale.seconds / 2 };
  const connections = await best(connectionsTried, (count) => lineRate(servers, short, count));
  const recipeAt = await best(recipeConnections, (count) => recipeRate(servers, short, count));
  const echoAt = await best(connectionsTried, (count) => echoRate(short, count));
  const ours = () => lineRate(servers, scale, connections);
  const versusRecipe: Plain = {
    ...named,
    baselineName: "the recipe in full",
    target: { of: "ratio", is: ">=", bound: 7 },
    note: `${connections} connections against ${recipeAt} to the database`,
  };
  const versusEcho: Plain = {
    ...named,
    baselineName: echoName,
    target: { of: "ratio", is: ">=", bound: 0.38 },
    note: `${connections} connections against ${echoAt}`,
  };
  return [
    await guarded(versusRecipe, async () => {
      const baseline = () => recipeRate(servers, scale, recipeAt);
      return rowOf(versusRecipe, await inPairs(scale.pairs, ours, baseline));
    }),
    await guarded(versusEcho, async () => {
      const baseline = () => echoRate(scale, echoAt);
      return rowOf(versusEcho, await inPairs(scale.pairs, ours, baseline));
    }),
  ];
}

/** The same with a Redis that flushes every write, against one that flushes none. */
export async function stackFlushRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    ...named,
    name: "the same, Redis flushing each write",
    baselineName: "Redis without a log",
    target: { of: "ratio", is: ">=", bound: 0.9 },
  };
  return guarded(plain, async () => {
    await using flushed = await startServers(alwaysFlushed);
    await using unflushed = await startServers(neverFlushed);
    const connections = connectionsTried.at(-1) ?? 1;
    const pairs = await inPairs(
      scale.pairs,
      () => lineRate(flushed, scale, connections),
      () => lineRate(unflushed, scale, connections),
    );
    return rowOf({ ...plain, note: `${connections} connections` }, pairs);
  });
}

async function lineRate(servers: Servers, scale: Scale, connections: number): Promise<number> {
  await servers.redis.plain.flushall();
  const { url } = servers.redis;
  const ledgerUrl = await servers.freshDatabase();
  const open = (metrics: Parameters<typeof openWorldOn>[1]) =>
    openWorldOn({ ledgerUrl, hotUrl: url, busUrl: url }, metrics);
  return committedOverHttpIn(open, { scale, connections });
}

/** The recipe behind the same framework, its consumer beside it. */
async function recipeRate(servers: Servers, scale: Scale, connections: number): Promise<number> {
  const recipe = await StackRecipe.open({ servers, stock: plenty, connections });
  recipe.consume();
  const app = Fastify({ logger: false });
  let next = 0;
  app.post("/orders", { schema: { body: orderSchema } }, async (_request, reply) => {
    const isSold = await recipe.order(next++);
    return reply.code(isSold ? 201 : 409).send({ state: isSold ? "locked" : "sold out" });
  });
  try {
    await using server = await listening(app);
    const load = { port: server.port, path: "/orders", seconds: scale.seconds, status: 201 };
    const order = { ...load, connections: connections * 4, saleId: "rush", sku: "rush-sku" };
    const tally = await httpLoad(order);
    if ((await recipe.sold()) !== next) throw new BrokenInvariant("the recipe lost an order");
    return rateOf(tally);
  } finally {
    await recipe.close();
  }
}
