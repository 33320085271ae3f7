import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startMariadb } from "../../stack/mariadb.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { aFreePort, runCommand, startServer } from "../support/command-line.ts";

let folder: string;
let redis: PrivateRedis;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-refused-"));
  redis = await PrivateRedis.start();
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What `serve` ends with; it would not end by itself where it starts. */
async function refusal(ledger: string, more: readonly string[] = []) {
  const port = String(await aFreePort());
  const stores = ["--hot", redis.url, "--bus", redis.url, "--ledger", ledger];
  const { code, lines } = await runCommand(
    ["serve", "--json", "--port", port, ...stores, ...more],
    { cwd: folder },
  );
  return { code, error: JSON.parse(lines.at(-1) ?? "null").error };
}

describe("serve on stores that lose what was promised", () => {
  it.each([
    ["maxmemory-policy", "allkeys-lru", "redis.eviction"],
    ["appendonly", "no", "redis.aof"],
  ])("refuses a Redis whose %s is %s, and says what to do", async (name, bad, id) => {
    const [, good = ""] = (await redis.plain.config("GET", name)) as string[];
    await redis.plain.config("SET", name, bad);
    onTestFinished(async () => void (await redis.plain.config("SET", name, good)));
    const { code, error } = await refusal("sqlite:refused.db");
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: "SETTINGS_REFUSED" });
    expect(error.what).toContain(id);
    expect(error.why).toContain(bad);
    expect(error.next).toContain("redis-cli");
  });

  it("refuses a database that does not flush at commit, and syncs no binary log", async () => {
    const settings = ["--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0"];
    const mariadb = await startMariadb({ settings });
    onTestFinished(() => mariadb.stop());
    const { code, error } = await refusal(`${mariadb.url}/mysql`);
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: "SETTINGS_REFUSED" });
    expect(error.what).toMatch(/mysql\.flush, mysql\.binlog-sync/);
  });

  it("refuses passwords that everybody knows, before it opens anything", async () => {
    const { code, error } = await refusal("mysql://root:root123@127.0.0.1:1/shop");
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: "CONFIG_DEFAULT_PASSWORD" });
    expect(JSON.stringify(error)).not.toContain("root123");
  });

  it("starts on the same servers once they are set right", async () => {
    const stores = ["--hot", redis.url, "--bus", redis.url, "--ledger", "sqlite:right.db"];
    const server = await startServer(["--port", String(await aFreePort()), ...stores], {
      cwd: folder,
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.end("SIGTERM")).toBe(0);
  });
});
