import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { PrivateRabbitmq } from "../../stack/rabbitmq.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { type Answered, RedisShop } from "../support/redis-line.ts";

const stock = 150;
const buyers = 300;

let rabbitmq: PrivateRabbitmq;
let redis: PrivateRedis;
let shop: RedisShop;

beforeAll(async () => {
  [rabbitmq, redis] = await Promise.all([PrivateRabbitmq.start(), PrivateRedis.start()]);
});
afterAll(() => Promise.all([rabbitmq.stop(), redis.stop()]));

beforeEach(async () => {
  shop = await RedisShop.open({ hotUrl: redis.url, busUrl: rabbitmq.url }, stock);
});
afterEach(() => shop.end());

/** Every unit is sold, to whom it was said and to nobody else. */
function expectSoldOnce(answers: readonly Answered[]): void {
  const reserved = answers.filter(({ said }) => said === "reserved");
  expect(new Set(reserved.map(({ id }) => id)).size).toBe(stock);
  expect(answers.filter(({ said }) => said !== "reserved" && said !== "SOLD_OUT")).toEqual([]);
}

async function queues(): Promise<string[]> {
  const listed = await rabbitmq.ctl("list_queues", "name", "--no-table-headers");
  return listed.split("\n").filter((name) => name.includes(".lane-"));
}

describe("the whole line with hot stock on Redis and its bus on RabbitMQ", () => {
  it("sells every unit once, and needs no repair when nothing is lost", async () => {
    expectSoldOnce(await shop.rush(buyers, 1));
    expect(await shop.rest()).toEqual({ drift: 0, sold: stock, left: 0, repairs: 0 });
    expect(shop.faults).toBe(0);
    expect(await shop.holdfast.parts.bus.givenUp()).toBe(0);
  });

  it("finds by the marker what was purged after it had been confirmed", async () => {
    const rush = shop.rush(buyers, 5);
    for (let n = 0; n < 2; n += 1) {
      await systemClock.sleep(300);
      for (const queue of await queues()) await rabbitmq.ctl("purge_queue", queue);
    }
    expectSoldOnce(await rush);
    expect(await shop.rest()).toMatchObject({ drift: 0, sold: stock, left: 0 });
  });

  it("sends to a queue that was deleted under load once it is there again", async () => {
    const rush = shop.rush(buyers, 5);
    await systemClock.sleep(300);
    for (const queue of await queues()) await rabbitmq.ctl("delete_queue", queue);
    expectSoldOnce(await rush);
    expect(await shop.rest()).toMatchObject({ drift: 0, sold: stock, left: 0 });
  });

  it("loses nothing when the broker is killed in the middle of the rush", async () => {
    const rush = shop.rush(buyers, 5);
    await systemClock.sleep(500);
    await rabbitmq.crash();
    await rabbitmq.restart();
    expectSoldOnce(await rush);
    expect(await shop.rest()).toMatchObject({ drift: 0, sold: stock, left: 0 });
  });
});
