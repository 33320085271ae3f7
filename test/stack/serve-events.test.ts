import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeGroup } from "../../src/bus/rocketmq-admin.ts";
import { systemClock } from "../../src/clock.ts";
import type { CloudEvent } from "../../src/outlet/outlet.ts";
import { starters } from "../../stack/servers.ts";
import { aFreePort, runCommand, startServer } from "../support/command-line.ts";
import { expectFirstInOrder } from "../support/events.ts";
import { EventsReader } from "../support/events-reader.ts";

type Kind = "redis" | "rabbitmq" | "rocketmq";
type Servers = Readonly<Record<Kind, Awaited<ReturnType<(typeof starters)[Kind]>>>>;

let folder: string;
let servers: Servers;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-events-"));
  const [redis, rabbitmq, rocketmq] = await Promise.all([
    starters.redis(),
    starters.rabbitmq(),
    starters.rocketmq(),
  ]);
  servers = { redis, rabbitmq, rocketmq };
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Of a shop elsewhere, which knows of Holdfast only what `migrate` has printed. */
const readers: Readonly<Record<Kind, (name: string) => Promise<EventsReader>>> = {
  redis: (STREAM) => EventsReader.start("redis", { URL_OF_BROKER: servers.redis.url, STREAM }),
  rabbitmq: (EXCHANGE) =>
    EventsReader.start("rabbitmq", { URL_OF_BROKER: servers.rabbitmq.url, EXCHANGE }),
  rocketmq: async (TOPIC) => {
    const url = new URL(servers.rocketmq.url);
    const [host = "", port = ""] = (url.searchParams.get("broker") ?? "").split(":");
    const GROUP = `${TOPIC}-readers`;
    await makeGroup({ host, port: Number(port) }, GROUP, { isOrdered: !TOPIC.includes("trans") });
    return EventsReader.start("rocketmq", { PROXY: url.host, TOPIC, GROUP });
  },
};

type Entry = { readonly sku: string; readonly version: number; readonly publication: string };

async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function entriesOf(url: string): Promise<readonly Entry[]> {
  const { items }: { items: readonly Entry[] } = JSON.parse(await get(`${url}/v1/stock`));
  const all = items.map(({ sku }) => get(`${url}/v1/stock/${sku}/entries?format=ndjson`));
  const lines = (await Promise.all(all)).join("").trim().split("\n");
  return lines.map((line): Entry => JSON.parse(line));
}

/** Once every one of them counts as told. */
async function toldEntriesOf(url: string): Promise<readonly Entry[]> {
  for (let n = 0; n < 1_200; n += 1) {
    const entries = await entriesOf(url);
    if (entries.every(({ publication }) => publication === "success")) return entries;
    await systemClock.sleep(100);
  }
  throw new Error("not all events are told");
}

describe.each<[Kind, string]>([
  ["redis", "bus"],
  ["rabbitmq", "bus"],
  ["rocketmq", "bus"],
  ["rocketmq", "transactions"],
])("serve with its bus on %s and --events %s", (kind, events) => {
  it("tells a reader outside every entry of a sale, and marks each as told", async () => {
    const ledger = `sqlite:${kind}-${events}.db`;
    const stores = ["--ledger", ledger, "--bus", servers[kind].url, "--events", events];
    const migrated = await runCommand(["migrate", "--json", ...stores], { cwd: folder });
    const { events: place } = JSON.parse(migrated.lines.at(-1) ?? "null");
    expect(migrated.code, migrated.err).toBe(0);
    const reader = await readers[kind](String(place).replace(/^\w+ /, ""));
    onTestFinished(() => reader.end());

    const port = ["--port", String(await aFreePort()), "--log-level", "error"];
    const server = await startServer([...port, ...stores], { cwd: folder });
    onTestFinished(async () => void (await server.end("SIGKILL")));
    const load = ["--rate", "40", "--seconds", "3", "--stock", "60", "--quantity-max", "2"];
    const sale = await runCommand(["loadtest", "--json", "--url", server.url, ...load], {
      cwd: folder,
    });
    expect(sale.code, sale.err).toBe(0);

    const entries = await toldEntriesOf(server.url);
    expect(entries.length).toBeGreaterThan(60);
    const told = await reader.seen(entries.map(({ sku, version }) => `${sku}@${version}`));
    if (events === "bus") expectFirstInOrder(told);
    const byId = new Map(told.map((event): [string, CloudEvent] => [event.id, event]));
    expect(byId.size).toBe(entries.length);
    for (const { publication: _, ...entry } of entries) {
      expect(byId.get(`${entry.sku}@${entry.version}`)?.data).toEqual(entry);
    }
    // Read now and then, so a look may still tell of a moment before.
    await expect
      .poll(() => get(`${server.url}/metrics`), { timeout: 60_000 })
      .toMatch(/^holdfast_unpublished_oldest_age_seconds 0$/m);
    expect(await server.end("SIGTERM")).toBe(0);
  });
});
