import { describe, expect, it } from "vitest";
import { RedisShop } from "../support/redis-line.ts";
import { rocketmqServers } from "../support/rocketmq.ts";

const stock = 150;
const buyers = 300;

describe.each(rocketmqServers())("the whole line over RocketMQ", ({ url }) => {
  it("sells every unit once, and needs no repair when nothing is lost", async () => {
    const shop = await RedisShop.open({ hotUrl: "memory:", busUrl: url }, stock);
    const answers = await shop.rush(buyers, 1);
    const reserved = answers.filter(({ said }) => said === "reserved");
    expect(new Set(reserved.map(({ id }) => id)).size).toBe(stock);
    expect(answers.filter(({ said }) => !["reserved", "SOLD_OUT"].includes(said))).toEqual([]);
    expect(await shop.rest()).toEqual({ drift: 0, sold: stock, left: 0, repairs: 0 });
    await shop.end();
  });
});
