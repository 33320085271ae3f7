import { Client } from "undici";
import type { Bus } from "../src/bus/bus.ts";
import { MemoryBus } from "../src/bus/memory.ts";
import { RedisStreamsBus } from "../src/bus/redis-streams.ts";
import { systemClock, systemRandom } from "../src/clock.ts";
import { sealEnvelope } from "../src/domain/message.ts";
import { plenty, reserve } from "./committed.ts";
import { echoServer, type Listening, newMetrics, serve } from "./http.ts";
import { medianOf } from "./latency.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import { Recipe } from "./recipe.ts";
import type { Pair, Row } from "./report.ts";
import { startServers } from "./stack-servers.ts";
import {
  BrokenInvariant,
  openSale,
  openWorld,
  openWorldOn,
  prove,
  requestOf,
  type Sale,
  ticketOf,
  type World,
} from "./world.ts";

const echoPath = "/echo";
const reservePath = "/v1/reservations";

const hopsPlain: Plain = {
  name: "a lone request over HTTP",
  unit: "ms",
  baselineName: "the sum of its hops, each alone",
  target: { of: "ratio", is: "<=", bound: 1.2 },
};

/** One buyer on an idle system, again and again, in process; medians of each turn. */
export async function loneRows(scale: Scale): Promise<Row[]> {
  return [await versusRecipeRow(scale), await embeddedHopsRow(scale)];
}

async function versusRecipeRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: "a lone request",
    unit: "ms",
    baselineName: "a lone transaction",
    target: null,
  };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const sale = await openSale(world, { name: "alone", stock: plenty });
    const recipe = await Recipe.open(plenty);
    const turn = turnOf(scale);
    let own = 0;
    let other = 0;
    const pairs = await inPairs(
      scale.pairs,
      () => medianOf(turn, () => reserve(world, sale, own++)),
      () => medianOf(turn, () => recipe.order(other++)),
    );
    await recipe.close();
    await prove(world, { sale, reserved: own });
    return rowOf({ ...plain, note: "lower is better" }, pairs);
  });
}

function embeddedHopsRow(scale: Scale): Promise<Row> {
  return guarded(hopsPlain, async () => {
    const metrics = newMetrics();
    await using world = await openWorld(metrics);
    await using server = await serve(world, metrics);
    return await hopsRow(scale, { world, server, bus: new MemoryBus(systemClock) });
  });
}

/** The same through Redis, a stream on it, and MariaDB. */
export async function stackLoneRow(scale: Scale): Promise<Row> {
  const plain: Plain = { ...hopsPlain, name: "a lone request, Redis + MariaDB" };
  return guarded(plain, async () => {
    await using servers = await startServers();
    const { url } = servers.redis;
    const metrics = newMetrics();
    const stores = { ledgerUrl: await servers.freshDatabase(), hotUrl: url, busUrl: url };
    await using world = await openWorldOn(stores, metrics);
    await using server = await serve(world, metrics);
    const tools = { clock: systemClock, random: systemRandom };
    const bus = new RedisStreamsBus({ url, ...tools, prefix: "bench-lone" });
    const row = await hopsRow(scale, { world, server, bus });
    await bus.close();
    return { ...row, name: plain.name };
  });
}

type Place = { readonly world: World; readonly server: Listening; readonly bus: Bus };

async function hopsRow(scale: Scale, { world, server, bus }: Place): Promise<Row> {
  const sale = await openSale(world, { name: "alone", stock: plenty });
  await using echo = await echoServer();
  const [whole, alone] = [callerOf(server, sale), callerOf(echo, sale)];
  const hops = await hopsOf(world, sale, bus);
  const turn = turnOf(scale);
  let n = 0;
  const pairs: Pair[] = [];
  let said = "";
  for (let pair = 0; pair < scale.pairs; pair += 1) {
    const times = { http: await medianOf(turn, () => alone.post(echoPath, n++)) };
    const found: Record<string, number> = { ...times };
    for (const [name, hop] of Object.entries(hops))
      found[name] = await medianOf(turn, () => hop(n++));
    const ours = await medianOf(turn, () => whole.post(reservePath, n++));
    pairs.push({ ours, baseline: Object.values(found).reduce((sum, ms) => sum + ms, 0) });
    said = Object.entries(found)
      .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
      .join(", ");
  }
  await Promise.all([whole.close(), alone.close()]);
  // Of the hops, admission and the line each make reservations; the line has carried the first.
  await prove(world, { sale, reserved: 3 * turn * scale.pairs });
  return rowOf({ ...hopsPlain, note: `ms of the last turn: ${said}` }, pairs);
}

type Hop = (n: number) => Promise<unknown>;

/** What a request waits for between its arrival and its answer, a call at a time. */
async function hopsOf(world: World, sale: Sale, bus: Bus): Promise<Readonly<Record<string, Hop>>> {
  const { hot, fences, line, messageKeys, ledger } = world.holdfast.parts;
  const lane = (await ledger.sale(sale.saleId))?.lane ?? 0;
  const fence = fences.get(lane);
  if (fence === null) throw new BrokenInvariant("the lane is closed");
  const ticket = (n: number) => ticketOf(world, { sale, lane }, n);
  return {
    admission: (n) => hot.admit(fence, [ticket(n)]),
    outbox: () => hot.outbox(lane, 1),
    bus: async (n) => {
      const item = { kind: "ticket", ticket: ticket(n), admittedAt: Date.now() } as const;
      const envelope = { lane, epoch: fence.epoch, sentAt: Date.now(), items: [item] };
      const received = bus.receive(lane, { max: 1, waitMs: 5_000 });
      await bus.publish(lane, sealEnvelope(envelope, messageKeys));
      await bus.acknowledge(lane, await received);
    },
    ledger: (n) =>
      line.one({
        kind: "ticket",
        stamp: { lane, epoch: fence.epoch },
        ticket: ticket(n),
        admittedAt: Date.now(),
        sentAt: Date.now(),
        attempt: 1,
      }),
  };
}

type Caller = { post(path: string, n: number): Promise<void>; close(): Promise<void> };

/** One connection that stays open, one call at a time. */
function callerOf({ port }: Listening, sale: Sale): Caller {
  const client = new Client(`http://127.0.0.1:${port}`);
  return {
    async post(path, n) {
      const { saleId, buyerId, idempotencyKey, lines } = requestOf(sale, n);
      const { statusCode, body } = await client.request({
        path,
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
        body: JSON.stringify({ saleId, buyerId, items: lines }),
      });
      await body.dump();
      if (statusCode !== 201) throw new BrokenInvariant(`${path} answered ${statusCode}`);
    },
    close: () => client.close(),
  };
}

function turnOf({ count }: Scale): number {
  return Math.max(1, Math.floor(count / 20));
}
