import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { starters } from "../../stack/servers.ts";
import {
  aFreePort,
  runCommand,
  type Server,
  spawnCommand,
  startServer,
} from "../support/command-line.ts";

const zeros = { pending: 0, oversold: 0, leaked: 0, drift: 0, repairs: 0, auditOk: true };
const processes = 3;

let cwd: string;
let redis: Awaited<ReturnType<typeof starters.redis>>;
let mariadb: Awaited<ReturnType<typeof starters.mariadb>>;
let fleet: Server;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "holdfast-fleet-"));
  [redis, mariadb] = await Promise.all([starters.redis(), starters.mariadb()]);
  const stores = ["--hot", redis.url, "--bus", redis.url, "--ledger", mariadb.url];
  const port = ["--port", String(await aFreePort())];
  fleet = await startServer([...port, ...stores, "--processes", String(processes)], { cwd });
});
afterAll(async () => {
  await fleet.end("SIGKILL");
  await Promise.all([redis.stop(), mariadb.stop()]);
  rmSync(cwd, { recursive: true, force: true });
});

async function membersOf({ child }: Server): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "pid=", "--ppid", String(child.pid)]);
  return stdout.trim().split(/\s+/).map(Number);
}

/** Σ over the label sets of a series; null: it is not there. */
async function series(name: string): Promise<number | null> {
  const text = await (await fetch(`${fleet.url}/metrics`)).text();
  const values = text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 600; n += 1) {
    if (await holds()) return;
    await systemClock.sleep(100);
  }
  throw new Error("it does not come to that");
}

describe("serve --processes", () => {
  it("starts them behind one port, and tells of them as of one", async () => {
    expect(await membersOf(fleet)).toHaveLength(processes);
    expect(await series("holdfast_processes")).toBe(processes);
    expect(await series("holdfast_stores_up")).toBe(1);
    expect(await series("holdfast_build_info")).toBe(1);
    const answers = Array.from({ length: 30 }, () => fetch(`${fleet.url}/readyz`));
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    const counted = await series("holdfast_http_requests_total");
    expect(counted).toBeGreaterThanOrEqual(30);
  });

  it("loses nothing, and sells nothing twice, when one is killed under load", async () => {
    const load = ["--rate", "60", "--seconds", "8", "--stock", "250", "--json"];
    const running = spawnCommand(["loadtest", "--url", fleet.url, ...load], { cwd });
    await until(async () => ((await series("holdfast_decisions_total")) ?? 0) > 50);
    const [victim = 0] = await membersOf(fleet);
    const before = await series("holdfast_admissions_total");
    process.kill(victim, "SIGKILL");
    await running.said("}\n");
    const result = JSON.parse(running.out().trimEnd().split("\n").at(-1) ?? "null");
    expect(result).toMatchObject({ ...zeros, stock: 250, buyers: 480 });
    expect(await running.end("SIGTERM")).toBe(0);
    await until(async () => (await series("holdfast_processes")) === processes);
    expect(await membersOf(fleet)).not.toContain(victim);
    expect(await series("holdfast_process_restarts_total")).toBe(1);
    // What it had counted before it died is not forgotten.
    expect(await series("holdfast_admissions_total")).toBeGreaterThanOrEqual(before ?? 0);
  });

  it("stops all of them in order, and says so by its exit code", async () => {
    const members = await membersOf(fleet);
    expect(await fleet.end("SIGTERM")).toBe(0);
    for (const pid of members) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    const proof = await runCommand(["audit", "verify", "--ledger", mariadb.url, "--json"], { cwd });
    expect(proof.code).toBe(0);
  });

  it("is refused over stores that one process has for itself", async () => {
    const { code, err } = await runCommand(["serve", "--processes", "2"], { cwd });
    expect(code).toBe(1);
    expect(err).toContain("2 processes need one hot stock, one bus and one ledger");
  });
});
