import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSale } from "../../src/cli/rush.ts";
import { type Desk, openDesk } from "../../src/client/desk.ts";
import { systemClock } from "../../src/clock.ts";
import { Crowd } from "../../src/loadtest/crowd.ts";
import { httpWitness, storesNow } from "../../src/loadtest/http-witness.ts";
import { judge } from "../../src/loadtest/judge.ts";
import { type CrowdPlan, usualCrowd } from "../../src/loadtest/plan.ts";
import { gather } from "../../src/loadtest/prove.ts";
import { openShop } from "../../src/loadtest/shop.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { aFreePort, type Server, startServer } from "../support/command-line.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";

const sku = "phone";
const saleId = "rush";
const cwd = tmpdir();

/** Until it holds; a bound that only a hanging process meets. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 600; n += 1) {
    if (await holds()) return;
    await systemClock.sleep(100);
  }
  throw new Error("it does not come to that");
}

describe.each(ledgerServers())("several processes on one Redis and $name", (server) => {
  let redis: PrivateRedis;
  let database: Database;
  let desk: Desk | null = null;
  const running: Server[] = [];
  beforeEach(async () => {
    [redis, database] = await Promise.all([PrivateRedis.start(), createDatabase(server)]);
  });
  afterEach(async () => {
    await desk?.close();
    desk = null;
    await Promise.all(running.splice(0).map(({ end }) => end("SIGKILL")));
    await Promise.all([redis.stop(), database.drop()]);
  });

  async function start(...more: readonly string[]): Promise<Server> {
    const stores = ["--ledger", database.url, "--hot", redis.url, "--bus", redis.url];
    const port = String(await aFreePort());
    const args = ["--port", port, ...stores, "--log-level", "error", ...more];
    const started = await startServer(args, { cwd });
    running.push(started);
    return started;
  }

  async function stock(url: string) {
    const answer = await fetch(`${url}/v1/stock/${sku}`);
    return (await answer.json()) as { available: number; reserved: number; version: number };
  }

  async function reserve(url: string, key: string): Promise<string> {
    const answer = await fetch(`${url}/v1/reservations`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "idempotency-key": key, prefer: "wait=20" },
      },
      body: JSON.stringify({ saleId, buyerId: key, items: [{ sku, quantity: 1 }] }),
    });
    return ((await answer.json()) as { state: string }).state;
  }

  it("share the work by roles: one admits and answers, another decides", async () => {
    const [api, workers] = await Promise.all([
      start("--roles", "api"),
      start("--roles", "relay,writer,expirer,reconciler"),
    ]);
    // Who has not the role has no API: probes and metrics only.
    const paths = ["/readyz", "/metrics", "/v1/sales", "/openapi.json"];
    const statuses = paths.map(async (path) => (await fetch(workers.url + path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404]);
    desk = openDesk({ url: api.url, apiKey: null });
    const sale = { saleId, sku, title: "", stock: 40, holdSeconds: 900 };
    const first = await openSale(desk, sale);
    const plan: CrowdPlan = {
      ...{ ...usualCrowd, url: api.url, apiKey: null, saleId, skus: [sku], run: "roles" },
      ...{ buyers: 120, arrival: { kind: "rush", overMs: 1_000 }, settling: "thinking" },
      ...{ connections: 16, waitSeconds: 20, seed: 3 },
    };
    const shop = openShop(plan);
    const from = desk;
    const before = await storesNow(from);
    const signal = new AbortController().signal;
    const crowd = await new Crowd(plan, { shop, clock: systemClock, signal }).run();
    const evidence = await gather({
      ...{ crowd, buyers: plan.buyers, saleId, run: plan.run, skus: [first], before, shop },
      stores: () => storesNow(from),
      witness: httpWitness(from),
      clock: systemClock,
      asksAtRest: true,
    });
    await shop.close();
    const { findings, report } = judge(evidence);
    expect(findings).toEqual([]);
    const zeros = { pending: 0, oversold: 0, leaked: 0, drift: 0, repairs: 0, auditOk: true };
    expect(report).toMatchObject(zeros);
  }, 180_000);

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "go on when the one that has the leases gets %s, and it changes nothing when it wakes",
    async (signal) => {
      const first = await start();
      const second = await start();
      desk = openDesk({ url: second.url, apiKey: null });
      await openSale(desk, { saleId, sku, title: "", stock: 1, holdSeconds: 3 });
      expect(await reserve(second.url, "o1")).toBe("reserved");
      first.child.kill(signal);
      // The hold ends in the ledger, by the other one; then its unit is sold again.
      await until(async () => (await stock(second.url)).reserved === 0);
      expect(await reserve(second.url, "o2")).toBe("reserved");
      await until(async () => (await stock(second.url)).version >= 5);
      first.child.kill("SIGCONT");
      const settled = await stock(second.url);
      expect(settled).toMatchObject({ available: 1, reserved: 0, version: 5 });
      await until(async () => {
        const urls = signal === "SIGKILL" ? [second.url] : [first.url, second.url];
        const ready = await Promise.all(urls.map((url) => fetch(`${url}/readyz`)));
        return ready.every(({ ok }) => ok);
      });
      expect(await stock(second.url)).toEqual(settled);
      const stores = await storesNow(desk);
      expect(stores).toMatchObject({ drift: 0, behind: 0, repairs: 0 });
    },
    180_000,
  );
});
