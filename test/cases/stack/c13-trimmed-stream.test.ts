import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { RedisStreamsBus } from "../../../src/bus/redis-streams.ts";
import { systemClock, systemRandom } from "../../../src/clock.ts";
import { laneTag } from "../../../src/redis/lane-tag.ts";
import { units } from "../../support/at-rest.ts";
import { openShop, type Shop } from "../../support/shop.ts";
import { caseServers } from "../../support/shop-stack.ts";

const four = [1, 2, 3, 4];

/** Each in a message of its own, and nobody reads them. */
async function withFourOnTheirWay(redis: Redis, shop: Shop): Promise<readonly string[]> {
  const stream = streamOf(shop);
  const ids: string[] = [];
  for (const n of four) {
    const request = { key: `o${n}`, buyer: `u${n}`, cart: [["A", 1]] as const, waitMs: 0 };
    ids.push((await shop.reserveAt(shop.first, request)).id);
    while ((await redis.xlen(stream)) < n) await shop.passes(5);
  }
  return ids;
}

function streamOf({ prefix }: Shop): string {
  return `${prefix}:{${laneTag(0)}}:bus`;
}

/** Takes two messages and dies with them. */
async function takeTwoAndDie({ prefix }: Shop): Promise<void> {
  const { redis: url } = caseServers();
  const bus = new RedisStreamsBus({ url, clock: systemClock, random: systemRandom, prefix });
  const signal = AbortSignal.timeout(5_000);
  const taken = await bus.receive(0, { max: 2, waitMs: 5_000, signal });
  expect(taken).toHaveLength(2);
  // A close would hand them on: the place of the process is taken by nobody.
  onTestFinished(() => bus.close());
}

test("C13 four orders outlive a stream cut to one, two of them half delivered", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const redis = new Redis(caseServers().redis);
  onTestFinished(() => redis.disconnect());
  await shop.stopWorkers("ledger-writer");
  const ids = await withFourOnTheirWay(redis, shop);
  await takeTwoAndDie(shop);
  expect(await redis.xtrim(streamOf(shop), "MAXLEN", 1)).toBe(3);
  shop.first.start("ledger-writer");
  expect(await shop.levels("A")).toEqual(units({ A: 6, R: 4, T: 10 }));
  for (const id of ids) expect(await shop.state(id)).toBe("reserved");
  // What was lost is told, and sent again once: the three whose messages were cut off.
  expect([...shop.resent].sort()).toEqual(ids.slice(0, 3).sort());
  await shop.atRest({ A: units({ A: 6, R: 4, T: 10 }) }, { repairs: 3 });
  const pending = await redis.xpending(streamOf(shop), "ledger-writers");
  expect(pending[0]).toBe(0);
  expect(shop.noted).toEqual([]);
});
