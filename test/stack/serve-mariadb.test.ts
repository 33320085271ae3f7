import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { starters } from "../../stack/servers.ts";
import {
  aFreePort,
  runCommand,
  type Server,
  spawnCommand,
  startServer,
} from "../support/command-line.ts";

const zeros = { pending: 0, oversold: 0, leaked: 0, drift: 0, repairs: 0, auditOk: true };

let folder: string;
let redis: Awaited<ReturnType<typeof starters.redis>>;
let mariadb: Awaited<ReturnType<typeof starters.mariadb>>;
let server: Server;
/** Nothing but configuration says which stores it has. */
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-serve-"));
  [redis, mariadb] = await Promise.all([starters.redis(), starters.mariadb()]);
  env = {
    HOLDFAST_HOT_URL: redis.url,
    HOLDFAST_BUS_URL: redis.url,
    HOLDFAST_LEDGER_URL: mariadb.url,
    HOLDFAST_PORT: String(await aFreePort()),
    HOLDFAST_LOG_LEVEL: "error",
  };
});
afterAll(async () => {
  await server.end("SIGKILL");
  await Promise.all([redis.stop(), mariadb.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: readonly string[]) {
  const { code, lines, err } = await runCommand([...args, "--json"], { cwd: folder, env });
  return { code, err, result: JSON.parse(lines.at(-1) ?? "null") };
}

describe("serve on Redis and MariaDB, by configuration only", () => {
  it("migrates an empty database, and says first what it would do", async () => {
    const before = await run("migrate", "--dry-run");
    expect(before).toMatchObject({ code: 0, result: { dryRun: true, created: false } });
    const unready = await run("audit", "verify", "--ledger", mariadb.url);
    expect(unready).toMatchObject({ code: 1, result: { error: { code: "LEDGER_SCHEMA" } } });
    expect(await run("migrate")).toMatchObject({ code: 0, result: { created: true } });
    expect(await run("migrate")).toMatchObject({ code: 0, result: { created: false } });
  });

  it("serves a loadtest whose verdict comes from the stores, all zeros", async () => {
    server = await startServer([], { cwd: folder, env });
    const load = ["--rate", "150", "--seconds", "4", "--stock", "200", "--cancel-share", "0"];
    const { code, result } = await run("loadtest", "--url", server.url, ...load);
    expect(result).toMatchObject({ ...zeros, stock: 200, buyers: 600, reserved: 200 });
    expect(code).toBe(0);
  });

  it("is killed in the middle and started again: nobody was told anything untrue", async () => {
    const { url } = server;
    const args = ["--url", url, "--rate", "150", "--seconds", "6", "--stock", "500", "--json"];
    const load = spawnCommand(["loadtest", ...args], { cwd: folder, env });
    await sold(url, 100);
    expect(await server.end("SIGKILL")).toBe(null);
    server = await startServer([], { cwd: folder, env });
    await load.said("}\n");
    const result = JSON.parse(load.out().trimEnd().split("\n").at(-1) ?? "null");
    expect(result).toMatchObject({ ...zeros, stock: 500, buyers: 900 });
    // Beyond the stock by what was cancelled and sold again.
    expect(result.reserved).toBeGreaterThanOrEqual(500);
    expect(await load.end("SIGTERM")).toBe(0);
  });

  it("is proved without a server, over a connection that only reads", async () => {
    await server.end("SIGTERM");
    const ledger = ["--ledger", mariadb.url];
    const audit = await run("audit", "verify", ...ledger);
    expect(audit).toMatchObject({ code: 0, result: { ok: true, skus: 2, firstBroken: null } });
    expect(audit.result.entries).toBeGreaterThan(700);
    const sums = await run("reconcile", ...ledger);
    expect(sums).toMatchObject({ code: 0, result: { skus: 2, drift: 0, damage: [] } });
    // Nobody listens: the configured ledger answers by itself.
    const alone = await run("reconcile");
    expect(alone).toMatchObject({ code: 0, result: { skus: 2, drift: 0 } });
    expect(alone.err).toContain("reading the ledger");
  });
});

type Level = { readonly total: number; readonly available: number };

/** Until this many units of the sale that is being loaded have gone. */
async function sold(url: string, units: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/stock`);
    const { items } = JSON.parse(await answer.text()) as { items: Level[] };
    if (items.some(({ total, available }) => total === 500 && total - available > units)) return;
  }
}
