import { fileURLToPath } from "node:url";
import { freePort, startServer, temporaryFolder } from "../stack/private-server.ts";
import { cpuTimeOf } from "./cpu-time.ts";
import { connectionsTried } from "./http.ts";
import { httpLoad } from "./http-load.ts";
import { rateOf } from "./load.ts";
import { best, guarded, inPairs, median, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { alwaysFlushed } from "./stack-http.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { openedSale } from "./stack-undrained.ts";
import { openWorldOn, prove } from "./world.ts";

const main = fileURLToPath(new URL("../src/cli/main.js", import.meta.url));
const readyWithinMs = 60_000;
/** A process that has just begun compiles as it goes. */
const warmUpSeconds = 4;

/** Microseconds of processor that each process of the line had for an answer. */
type Cost = { readonly holdfast: number; readonly redis: number; readonly mariadb: number };
type CostedRate = { readonly rate: number; readonly cost: Cost | null; readonly load: number };

/**
 * `holdfast serve` with two processes behind one port against one, as they are started in
 * production, and what an answer takes of the processor by process. Adding one changes no answer:
 * each run is proved when its processes have ended.
 */
export async function stackProcessesRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: "committed over HTTP, serve --processes 2",
    unit: "answers/s",
    baselineName: "serve --processes 1",
    target: null,
  };
  return guarded(plain, async () => {
    await using servers = await startServers(alwaysFlushed);
    const seen = new Map<number, CostedRate[]>();
    const rate = async (each: Scale, processes: number, connections: number): Promise<number> => {
      const found = await servedRate(servers, each, { processes, connections });
      seen.set(processes, [...(seen.get(processes) ?? []), found]);
      return found.rate;
    };
    const short = { ...scale, seconds: scale.seconds / 2 };
    const connections = await best(connectionsTried, (count) => rate(short, 1, count));
    seen.clear();
    const pairs = await inPairs(
      scale.pairs,
      () => rate(scale, 2, connections),
      () => rate(scale, 1, connections),
    );
    const costs = [1, 2].map((processes) => costWords(processes, seen.get(processes) ?? []));
    return rowOf({ ...plain, note: [`${connections} connections`, ...costs].join("; ") }, pairs);
  });
}

/** A sale that is opened before and proved after, and in between belongs to those processes. */
async function servedRate(
  servers: Servers,
  scale: Scale,
  { processes, connections }: { readonly processes: number; readonly connections: number },
): Promise<CostedRate> {
  await servers.redis.plain.flushall();
  const { url } = servers.redis;
  const stores = { ledgerUrl: await servers.freshDatabase(), hotUrl: url, busUrl: url };
  const sale = await openedSale(stores);
  const server = await startServe(stores, processes);
  try {
    const place = { port: server.port, path: "/v1/reservations", status: 201, connections };
    const warm = await httpLoad({ ...place, seconds: warmUpSeconds, ...sale });
    const before = timesOf(servers, server.pid);
    const ownBefore = process.cpuUsage();
    const tally = await httpLoad({
      ...{ ...place, ...sale, seconds: scale.seconds },
      firstBuyer: warm.answered,
    });
    const own = process.cpuUsage(ownBefore);
    const after = timesOf(servers, server.pid);
    await server.stop();
    await using world = await openWorldOn(stores);
    await prove(world, { sale, reserved: warm.answered + tally.answered });
    const load = (own.user + own.system) / tally.answered;
    return { rate: rateOf(tally), cost: costOf(before, after, tally.answered), load };
  } finally {
    await server.stop();
  }
}

type Stores = { readonly ledgerUrl: string; readonly hotUrl: string; readonly busUrl: string };

async function startServe({ ledgerUrl, hotUrl, busUrl }: Stores, processes: number) {
  const port = await freePort();
  const stores = ["--ledger", ledgerUrl, "--hot", hotUrl, "--bus", busUrl];
  const own = ["--port", String(port), "--processes", String(processes)];
  const isReady = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok);
  const server = await startServer({
    name: "serve",
    command: process.execPath,
    args: ["--max-semi-space-size=64", main, "serve", ...own, ...stores],
    folder: await temporaryFolder("serve"),
    env: { HOLDFAST_LOG_LEVEL: "warn" },
    ready: () => isReady().catch(() => false),
    readyWithinMs,
  });
  return { ...server, port };
}

type Times = Readonly<Record<keyof Cost, number | null>>;

function timesOf({ pids }: Servers, serve: number): Times {
  return {
    holdfast: cpuTimeOf(serve),
    redis: cpuTimeOf(pids.redis),
    mariadb: cpuTimeOf(pids.mariadb),
  };
}

function costOf(before: Times, after: Times, answers: number): Cost | null {
  const each = (name: keyof Cost): number => ((after[name] ?? 0) - (before[name] ?? 0)) / answers;
  if (before.holdfast === null) return null;
  return { holdfast: each("holdfast"), redis: each("redis"), mariadb: each("mariadb") };
}

function costWords(processes: number, runs: readonly CostedRate[]): string {
  const costs = runs.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  if (costs.length === 0) return `${processes}: the processor's time is not told here`;
  const of = (name: keyof Cost) => median(costs.map((cost) => cost[name])).toFixed(0);
  const load = median(runs.map((run) => run.load)).toFixed(0);
  const shares = `holdfast ${of("holdfast")}, redis ${of("redis")}, mariadb ${of("mariadb")}`;
  return `${processes}: µs of processor an answer: ${shares}, the load ${load}`;
}
