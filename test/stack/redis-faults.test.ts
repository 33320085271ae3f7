import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from "vitest";
import { systemClock, systemRandom } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { Keys } from "../../src/hot-stock/keys.ts";
import { RedisHotStock } from "../../src/hot-stock/redis.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { TcpProxy } from "../../stack/tcp-proxy.ts";
import { HotLine, openValue, wordOfAdmission } from "../support/hot-line.ts";
import type { HotSubject } from "../support/hot-stock-adapters.ts";
import { reserveTicket } from "../support/tickets.ts";

const prefix = "faults";
const commandTimeoutMs = 300;
const stock = 1_000;

let redis: PrivateRedis;
let proxy: TcpProxy;
let hot: RedisHotStock;
let line: HotLine;

beforeAll(async () => {
  redis = await PrivateRedis.start(["--enable-debug-command", "yes"]);
});
afterAll(() => redis.stop());

beforeEach(async () => {
  await redis.plain.flushall();
  proxy = await TcpProxy.before(redis.port);
  hot = openHot(proxy.port);
  line = await HotLine.open(subject(), { stock: { A: stock } });
});
afterEach(async () => {
  await redis.plain.config("SET", "maxmemory", "0", "maxmemory-policy", "noeviction");
  await hot.close();
  await proxy.close();
});

function subject(): HotSubject {
  const change = async (): Promise<void> =>
    void (await redis.plain.call("DEBUG", "CHANGE-REPL-ID"));
  return { hot, reborn: change, flush: async () => void (await redis.plain.flushall()) };
}

async function startReplica(): Promise<PrivateRedis> {
  const replica = await PrivateRedis.start(["--replicaof", `127.0.0.1 ${redis.port}`]);
  onTestFinished(() => replica.stop());
  return replica;
}

function openHot(port: number): RedisHotStock {
  const url = `redis://127.0.0.1:${port}`;
  const tools = { clock: systemClock, random: systemRandom };
  return new RedisHotStock({ url, ...tools, prefix, commandTimeoutMs, connectTimeoutMs: 1_000 });
}

/** What a call ended with: a word for each ticket, or the fault. */
async function words(...ids: string[]): Promise<string[]> {
  try {
    const tickets = ids.map((id) => reserveTicket(id));
    return openValue(await hot.admit(line.fence, tickets)).map(wordOfAdmission);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [error.code];
  }
}

async function expectDeducted(units: number): Promise<void> {
  expect(await line.sku()).toMatchObject({ available: stock - units, inFlight: units });
  expect(await line.observe()).toMatchObject({ tickets: units, outboxLength: units });
}

describe("an outcome that is not known", () => {
  it("is told as unknown when the reply is cut, and each id is deducted once", async () => {
    const said: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      proxy.weather = n % 3 === 0 ? "cut-reply" : "pass";
      said.push(...(await words(`r${n}`)));
    }
    proxy.weather = "pass";
    expect(said.filter((word) => word === "HOT_UNKNOWN").length).toBe(proxy.cuts);
    expect(proxy.cuts).toBeGreaterThan(10);
    await Promise.all(Array.from({ length: 60 }, (_, n) => words(`r${n}`)));
    await expectDeducted(60);
  });

  it("is told as unknown or away, never as done, when the request is cut", async () => {
    proxy.weather = "cut-request";
    expect(await words("r1")).toEqual(["HOT_UNKNOWN"]);
    proxy.weather = "pass";
    await expectDeducted(0);
    expect(await words("r1")).toEqual(["admitted"]);
    await expectDeducted(1);
  });

  it("is told as unknown after the deadline, and the call may still have run", async () => {
    await redis.plain.client("PAUSE", 600, "WRITE");
    const startedAt = systemClock.mono();
    expect(await words("r1", "r2")).toEqual(["HOT_UNKNOWN"]);
    expect(systemClock.mono() - startedAt).toBeLessThan(600);
    await systemClock.sleep(500);
    expect(await words("r1", "r2", "r3")).toContain("admitted");
    await expectDeducted(3);
  });

  it("is told as unknown when the server stands still, and comes back as it was", async () => {
    await redis.signal("SIGSTOP");
    expect(await words("r1")).toEqual(["HOT_UNKNOWN"]);
    await redis.signal("SIGCONT");
    expect(["admitted", "replayed pending"]).toContain((await words("r1"))[0]);
    await expectDeducted(1);
  });

  it("is told as unknown through a black hole, and the next call makes its own way", async () => {
    proxy.weather = "black-hole";
    expect(await words("r1")).toEqual(["HOT_UNKNOWN"]);
    expect(await words("r1")).toEqual(["HOT_UNAVAILABLE"]);
    proxy.weather = "pass";
    expect(await words("r1")).toEqual(["admitted"]);
    await expectDeducted(1);
  });
});

describe("a call that was never sent", () => {
  it("is told as away at once, and nothing waits for the server to come back", async () => {
    await redis.crash();
    expect((await words("r1"))[0]).toMatch(/^HOT_/);
    const startedAt = systemClock.mono();
    expect(await words("r1")).toEqual(["HOT_UNAVAILABLE"]);
    expect(systemClock.mono() - startedAt).toBeLessThan(500);
    await redis.restart();
    expect(await hot.admit(line.fence, [reserveTicket("r1")])).toEqual({
      closed: true,
      why: "incarnation",
    });
  });

  it("is refused whole when memory is out, and read all the same", async () => {
    await redis.plain.config("SET", "maxmemory", "1mb");
    expect(await words("r1", "r2")).toEqual(["HOT_UNAVAILABLE"]);
    await expectDeducted(0);
    await redis.plain.config("SET", "maxmemory", "0");
    expect(await words("r1", "r2")).toEqual(["admitted", "admitted"]);
  });

  it("is refused by a server that may drop keys", async () => {
    await redis.plain.config("SET", "maxmemory-policy", "allkeys-lru");
    const other = openHot(proxy.port);
    await expect(other.observe(0, null)).rejects.toThrow(/noeviction, found allkeys-lru/);
    await other.close();
  });

  it("is refused by a replica", async () => {
    const replica = await startReplica();
    const other = openHot(replica.port);
    await expect(other.observe(0, null)).rejects.toThrow(/expected a primary, found a slave/);
    await other.close();
  });
});

describe("the scripts", () => {
  it("are sent again when the server has lost them, with the same ids", async () => {
    expect(await words("r1")).toEqual(["admitted"]);
    await redis.plain.script("FLUSH");
    expect(await words("r1", "r2")).toEqual(["replayed pending", "admitted"]);
    await expectDeducted(2);
  });
});

describe("hot stock after a failover", () => {
  it("is closed to the old incarnation, on the very connection that was there before", async () => {
    expect(await words("r1")).toEqual(["admitted"]);
    const before = await hot.incarnation(0);
    await redis.plain.call("DEBUG", "CHANGE-REPL-ID");
    const reply = await hot.admit(line.fence, [reserveTicket("r2")]);
    expect(reply).toEqual({ closed: true, why: "incarnation" });
    expect(await hot.incarnation(0)).not.toBe(before);
    await line.rebuild();
    expect(await words("r1", "r2")).toEqual(["replayed reserved", "admitted"]);
  });

  it("loses what the replica had not heard, and never more than was promised", async () => {
    const replica = await startReplica();
    await words("r1", "r2");
    await redis.plain.wait(1, 2_000);
    await replica.plain.replicaof("NO", "ONE");
    const promoted = openHot(replica.port);
    const closed = await promoted.admit(line.fence, [reserveTicket("r3")]);
    expect(closed).toEqual({ closed: true, why: "incarnation" });
    expect(await promoted.observe(0, null)).toMatchObject({ tickets: 2, open: true });
    await promoted.close();
  });
});

describe("keys that are not as the scripts left them", () => {
  const keys = new Keys(prefix);
  const [laneKey = "", outboxKey = "", ticketsKey = "", answersKey = ""] = keys.lane(0);
  const [stockKey = ""] = keys.sku(0, "A" as never);

  it.each([
    ["the lane's own is gone", () => redis.plain.del(laneKey)],
    ["the tickets are gone", () => redis.plain.del(ticketsKey)],
    ["one will expire", () => redis.plain.pexpire(ticketsKey, 60_000)],
    ["a stock will expire", () => redis.plain.pexpire(stockKey, 60_000)],
    ["one has another type", () => redis.plain.set(answersKey, "x")],
  ])("are as good as gone, and the rebuild mends them: %s", async (_, edit) => {
    await words("r1", "r2");
    await edit();
    expect(await hot.observe(0, null)).toMatchObject({ epoch: null, open: false });
    await line.rebuild();
    expect(await line.observe()).toMatchObject({ open: true });
    expect(await words("r1", "r2", "r3")).toEqual([
      ...Array(2).fill("replayed reserved"),
      "admitted",
    ]);
    for (const key of await redis.plain.keys(`${prefix}:*`)) {
      expect(await redis.plain.pttl(key)).toBe(-1);
    }
  });

  it("are missing, not new, when a SKU is gone", async () => {
    await redis.plain.del(stockKey);
    expect(await words("r1")).toEqual(["missing sku"]);
    const [level] = line.ledger.snapshot().levels;
    if (level === undefined) throw new Error("no level");
    expect(openValue(await hot.adopt(line.fence, level))).toBe("lost");
    await line.rebuild();
    expect(await words("r1")).toEqual(["admitted"]);
  });

  it("show as drift when a number was edited", async () => {
    await redis.plain.hincrby(stockKey, "a", 7);
    const { available, inFlight } = await line.sku();
    expect(available + inFlight).toBe(stock + 7);
  });

  it("lose nothing with the outbox: the marker finds what was in it", async () => {
    await words("r1", "r2");
    await redis.plain.del(outboxKey);
    const marker = openValue(await hot.mark(line.fence));
    expect(openValue(await hot.overdue(line.fence, marker))).toHaveLength(2);
    expect(openValue(await hot.resend(line.fence, marker, ["r1", "r2"]))).toEqual(["r1", "r2"]);
    expect((await line.outbox()).map(({ kind }) => kind)).toEqual(["marker", "ticket", "ticket"]);
  });
});

describe("quantities", () => {
  it("are exact up to 2^53-1", async () => {
    await redis.plain.flushall();
    const huge = Number.MAX_SAFE_INTEGER;
    const big = await HotLine.open(subject(), { stock: { B: huge } });
    expect(await big.sku("B")).toMatchObject({ available: huge, inFlight: 0 });
    await big.admit(reserveTicket("b1", { B: 1 }));
    expect(await big.sku("B")).toMatchObject({ available: huge - 1, inFlight: 1 });
    await big.relay();
    big.decide();
    await big.project();
    expect(await big.sku("B")).toMatchObject({ available: huge - 1, inFlight: 0 });
  });
});
