import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ManualClock, systemClock } from "../../src/clock.ts";
import { refusedSettings } from "../../src/doctor/examine.ts";
import { examineRedis } from "../../src/doctor/redis.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { foundAt, notOk } from "../support/doctor.ts";

let redis: PrivateRedis;

const start = async (more: readonly string[] = []): Promise<PrivateRedis> => {
  const server = await PrivateRedis.start(more);
  onTestFinished(() => server.stop());
  return server;
};
const examine = ({ url }: PrivateRedis) => examineRedis(url, systemClock);
const set = (name: string, value: string) => redis.plain.config("SET", name, value);

describe("the doctor of a real Redis", () => {
  beforeAll(async () => {
    redis = await PrivateRedis.start();
    return () => redis.stop();
  });
  beforeEach(() => redis.plain.hset("holdfast-x:{0}:stock:a", "available", "5"));
  afterEach(async () => {
    await redis.plain.flushall();
  });

  it("finds nothing wrong with a healthy one", async () => {
    const found = await examine(redis);
    expect(notOk(found)).toEqual({});
    expect(found.length).toBeGreaterThan(9);
    expect(foundAt(found, "redis.ttl")).toContain("0 of 1 keys");
  });

  it.each([
    ["redis.eviction", "fail", "maxmemory-policy", "allkeys-lru"],
    ["redis.aof", "fail", "appendonly", "no"],
    ["redis.fsync", "fail", "appendfsync", "no"],
    ["redis.memory", "warn", "maxmemory", "used"],
  ])("names %s (%s) when %s is %s", async (id, state, name, bad) => {
    const [, used = ""] = /used_memory:(\d+)/.exec(await redis.plain.info("memory")) ?? [];
    const [, good = ""] = (await redis.plain.config("GET", name)) as string[];
    await set(name, bad === "used" ? used : bad);
    onTestFinished(async () => void (await set(name, good)));
    expect(notOk(await examine(redis))).toEqual({ [id]: state });
  });

  it("names the keys that will be gone by themselves", async () => {
    await redis.plain.expire("holdfast-x:{0}:stock:a", 1_800);
    await redis.plain.set("somebody-else", "x", "EX", 60);
    const found = await examine(redis);
    expect(notOk(found)).toEqual({ "redis.ttl": "fail" });
    expect(foundAt(found, "redis.ttl")).toContain("holdfast-x:{0}:stock:a");
  });

  it("names the clocks when they disagree", async () => {
    const late = new ManualClock(Date.now() - 5_000);
    const asleep = { ...systemClock, now: () => late.now() };
    expect(notOk(await examineRedis(redis.url, asleep))).toEqual({ clocks: "warn" });
  });

  it("is what serve does not start on, by the setting and its name", async () => {
    const urls = {
      ledger: { kind: "sqlite", file: ":memory:" },
      hot: { kind: "redis", url: redis.url },
      bus: { kind: "redis", url: redis.url },
    } as const;
    expect(await refusedSettings(urls, systemClock)).toEqual([]);
    await set("maxmemory-policy", "volatile-ttl");
    onTestFinished(async () => void (await set("maxmemory-policy", "noeviction")));
    const refused = await refusedSettings(urls, systemClock);
    expect(refused).toMatchObject([{ id: "redis.eviction", said: { policy: "volatile-ttl" } }]);
  });
});

describe("the doctor of Redis servers", () => {
  it("names a replica as what it is, and one that is late by its primary", async () => {
    const primary = await start();
    const replica = await start(["--replicaof", "127.0.0.1", String(primary.port)]);
    await expect.poll(() => primary.plain.info("replication"), slow).toContain("state=online");
    expect(notOk(await examine(primary))).toEqual({});
    expect(notOk(await examine(replica))).toEqual({ "redis.role": "fail" });

    await replica.signal("SIGSTOP");
    onTestFinished(() => replica.signal("SIGCONT"));
    await primary.plain.set("much", "x".repeat(3_000_000));
    const found = await examine(primary);
    expect(notOk(found)).toEqual({ "redis.replica-lag": "warn" });
    await replica.signal("SIGCONT");
  });

  it("names the cluster while nobody serves its slots", async () => {
    const partial = ["--cluster-require-full-coverage", "no"];
    const node = await start(["--cluster-enabled", "yes", ...partial]);
    expect(notOk(await examine(node))).toEqual({ "redis.cluster": "fail" });
    await node.plain.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await expect.poll(async () => notOk(await examine(node)), slow).toEqual({});
    await node.plain.config("SET", "cluster-require-full-coverage", "yes");
    expect(notOk(await examine(node))).toEqual({ "redis.coverage": "warn" });
  });

  it("says why one that is away, refuses or is silent cannot be reached", async () => {
    const server = await start();
    await server.plain.config("SET", "requirepass", "secret-of-its-own");
    expect(notOk(await examine(server))).toEqual({ "redis.reachable": "fail" });
    const known = server.url.replace("//", "//:secret-of-its-own@");
    const found = await examineRedis(known, systemClock);
    expect(notOk(found)).toEqual({});
    expect(JSON.stringify(found)).not.toContain("secret-of-its-own");

    await server.signal("SIGSTOP");
    expect(notOk(await examineRedis(known, systemClock))).toEqual({ "redis.reachable": "fail" });
    await server.signal("SIGCONT");
    await server.crash();
    const away = await examine(server);
    expect(notOk(away)).toEqual({ "redis.reachable": "fail" });
    expect(foundAt(away, "redis.reachable")).toContain("ECONNREFUSED");
  });
});

const slow = { timeout: 20_000, interval: 50 };
