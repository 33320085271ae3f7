import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock, systemRandom } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import { skuId } from "../../src/domain/values.ts";
import type { Fence } from "../../src/hot-stock/hot-stock.ts";
import { Keys } from "../../src/hot-stock/keys.ts";
import { RedisHotStock } from "../../src/hot-stock/redis.ts";
import { laneTag, slotOf } from "../../src/redis/lane-tag.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { PrivateRedisCluster } from "../../stack/redis-cluster.ts";
import { HotLine, wordOfAdmission } from "../support/hot-line.ts";
import { reserveTicket } from "../support/tickets.ts";

const prefix = "cluster";
const lanes = Array.from({ length: 16 }, (_, lane) => lane);
const stock = 100;

let cluster: PrivateRedisCluster;
let hot: RedisHotStock;

beforeAll(async () => {
  cluster = await PrivateRedisCluster.start({ more: ["--enable-debug-command", "yes"] });
});
afterAll(() => cluster.stop());

beforeEach(async () => {
  await cluster.flush();
  const tools = { clock: systemClock, random: systemRandom };
  const opened = new RedisHotStock({ url: cluster.url, ...tools, prefix, commandTimeoutMs: 1_000 });
  onTestFinished(() => opened.close());
  hot = opened;
});

/** Whose the lane is by the cluster's own word. */
async function primaryOf(lane: number): Promise<PrivateRedis> {
  const slots = await cluster.primaries[0]?.plain.cluster("SLOTS");
  const slot = slotOf(laneTag(lane));
  const share = slots?.find(([first, last]) => first <= slot && slot <= last);
  const found = cluster.primaries.find(({ port }) => port === Number(share?.[2]?.[1]));
  if (found === undefined) throw new Error(`nobody has lane ${lane}`);
  return found;
}

async function openLine(): Promise<HotLine> {
  const none = async (): Promise<void> => undefined;
  return HotLine.open({ hot, reborn: none, flush: none }, { stock: { A: stock } });
}

async function admitted(fence: Fence, ...ids: string[]): Promise<string[]> {
  try {
    const reply = await hot.admit(
      fence,
      ids.map((id) => reserveTicket(id)),
    );
    return reply.closed ? [`closed ${reply.why}`] : reply.value.map(wordOfAdmission);
  } catch (error) {
    if (error instanceof Fault) return [error.code];
    throw error;
  }
}

describe("the keys of a lane", () => {
  it("all share its slot, as the server reckons it", async () => {
    const [node] = cluster.primaries;
    const keys = new Keys(prefix);
    for (const lane of lanes) {
      const names = [
        ...keys.lane(lane),
        ...keys.sku(lane, skuId("A")),
        ...keys.sku(lane, skuId("b")),
      ];
      for (const name of names) {
        expect([name, await node?.plain.cluster("KEYSLOT", name)]).toEqual([
          name,
          slotOf(laneTag(lane)),
        ]);
      }
    }
  });

  it("of 16 lanes stand on three primaries, five or six on each", async () => {
    const counts = new Map<number, number>();
    for (const lane of lanes) {
      const { port } = await primaryOf(lane);
      counts.set(port, (counts.get(port) ?? 0) + 1);
    }
    expect([...counts.values()].sort((a, b) => a - b)).toEqual([5, 5, 6]);
  });
});

describe("one primary's life", () => {
  it("closes its own lanes, and no other, when it is another one", async () => {
    const before = await Promise.all(lanes.map((lane) => hot.incarnation(lane)));
    expect(new Set(before).size).toBe(3);
    const changed = await primaryOf(0);
    await changed.plain.call("DEBUG", "CHANGE-REPL-ID");
    for (const lane of lanes) {
      // The first answer is of the connection that was there; what comes next is the new one's.
      await hot.outbox(lane, 1);
      const isSame = (await hot.incarnation(lane)) === before[lane];
      expect([lane, isSame]).toEqual([lane, (await primaryOf(lane)) !== changed]);
    }
  });
});

describe("a slot that moves", () => {
  it("refuses in between, and is rebuilt where it arrives: nothing is lost", async () => {
    const line = await openLine();
    expect(await admitted(line.fence, "r1", "r2")).toEqual(["admitted", "admitted"]);
    const from = await primaryOf(0);
    const to = cluster.primaries.find((each) => each !== from);
    if (to === undefined) throw new Error("one primary only");
    await cluster.moveSlot(slotOf(laneTag(0)), [from, to], async () => {
      expect(await admitted(line.fence, "r3")).toEqual(["HOT_UNAVAILABLE"]);
    });
    // MOVED: it was not run, and the next call goes where the lane is now.
    expect(await admitted(line.fence, "r3")).toEqual(["HOT_UNAVAILABLE"]);
    expect(await admitted(line.fence, "r3")).toEqual(["closed incarnation"]);
    expect(await line.observe()).toMatchObject({ tickets: 2, outboxLength: 2 });
    await line.rebuild();
    expect(await admitted(line.fence, "r3")).toEqual(["admitted"]);
    expect(await line.sku()).toMatchObject({ available: stock - 3, inFlight: 1 });
    await cluster.moveSlot(slotOf(laneTag(0)), [to, from]);
  });
});

describe("a cluster that cannot be asked", () => {
  it.each([
    ["nobody is there", "redis-cluster://127.0.0.1:1", /none of its nodes answers/],
    ["it is a single server", "", /cluster support disabled/],
  ])("is away: %s", async (_, url, why) => {
    const single = url === "" ? await PrivateRedis.start() : null;
    onTestFinished(async () => single?.stop());
    const place = single === null ? url : `redis-cluster://127.0.0.1:${single.port}`;
    const other = new RedisHotStock({ url: place, clock: systemClock, random: systemRandom });
    await expect(other.observe(0, null)).rejects.toThrow(why);
    await other.close();
  });
});
