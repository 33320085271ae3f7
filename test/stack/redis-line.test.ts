import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { type Answered, RedisShop } from "../support/redis-line.ts";

const stock = 150;
const buyers = 300;

let redis: PrivateRedis;
let shop: RedisShop;

beforeEach(async () => {
  redis = await PrivateRedis.start();
  shop = await RedisShop.open({ hotUrl: redis.url }, stock);
});

afterEach(async () => {
  await shop.end();
  await redis.stop();
});

/** Every unit is sold, to whom it was said and to nobody else. */
function expectSoldOnce(answers: readonly Answered[]): void {
  const reserved = answers.filter(({ said }) => said === "reserved");
  expect(new Set(reserved.map(({ id }) => id)).size).toBe(stock);
  expect(answers.filter(({ said }) => said !== "reserved" && said !== "SOLD_OUT")).toEqual([]);
}

describe("the whole line with hot stock on Redis", () => {
  it("sells every unit once, and needs no repair when nothing is lost", async () => {
    expectSoldOnce(await shop.rush(buyers, 1));
    expect(await shop.rest()).toEqual({ drift: 0, sold: stock, left: 0, repairs: 0 });
    expect(shop.faults).toBe(0);
  });

  it("loses nothing when Redis is killed in the middle of the rush and comes back", async () => {
    const rush = shop.rush(buyers, 5);
    await systemClock.sleep(500);
    await redis.crash();
    await systemClock.sleep(300);
    await redis.restart();
    expectSoldOnce(await rush);
    expect(await shop.rest()).toMatchObject({ drift: 0, sold: stock, left: 0 });
  });

  it("is closed, rebuilt and open again when all keys are gone under load", async () => {
    const rush = shop.rush(buyers, 5);
    await systemClock.sleep(500);
    await redis.plain.flushall();
    expectSoldOnce(await rush);
    expect(await shop.rest()).toMatchObject({ drift: 0, sold: stock, left: 0, repairs: 1 });
  });

  it("does not notice when the scripts are gone under load", async () => {
    const rush = shop.rush(buyers, 5);
    for (let n = 0; n < 5; n += 1) {
      await systemClock.sleep(200);
      await redis.plain.script("FLUSH");
    }
    expectSoldOnce(await rush);
    expect(await shop.rest()).toEqual({ drift: 0, sold: stock, left: 0, repairs: 0 });
    expect(shop.faults).toBe(0);
  });
});

describe("the whole line with hot stock and bus on Redis", () => {
  it("loses nothing when both are killed in the middle of the rush and come back", async () => {
    const both = await RedisShop.open({ hotUrl: redis.url, busUrl: redis.url }, stock);
    const rush = both.rush(buyers, 5);
    await systemClock.sleep(500);
    await redis.crash();
    await redis.restart();
    expectSoldOnce(await rush);
    expect(await both.rest()).toMatchObject({ drift: 0, sold: stock, left: 0 });
    await both.end();
  });
});
