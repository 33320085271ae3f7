import { expect, it, onTestFinished } from "vitest";
import { Fault } from "../../src/domain/fault.ts";
import { NotAllTold } from "../../src/outlet/outlet.ts";
import { RedisOutlet } from "../../src/outlet/redis.ts";
import { PrivateRedis } from "../../stack/redis.ts";
import { soldEvents } from "../support/events.ts";
import { ownPrefix, sharedRedis } from "../support/redis-server.ts";

it("the stream of events keeps the last ones, about as many as it is told to", async () => {
  const { url, plain } = await sharedRedis();
  const outlet = new RedisOutlet({ url, prefix: ownPrefix(), keptMax: 200 });
  onTestFinished(() => outlet.close());
  const events = await soldEvents({ A: 150 });
  for (let n = 0; n < 6; n += 1) await outlet.deliver(events);
  const key = outlet.place.replace("stream ", "");
  const kept = await plain.xlen(key);
  // Whole nodes of the stream go, of a hundred entries each by default.
  expect(kept).toBeGreaterThanOrEqual(200);
  expect(kept).toBeLessThan(400);
  const [last] = await plain.xrevrange(key, "+", "-", "COUNT", 1);
  expect(JSON.parse(last?.[1][1] ?? "null")).toEqual(events.at(-1));
});

it("events are there together or not at all where the server is full", async () => {
  const redis = await PrivateRedis.start(["--maxmemory-policy", "noeviction"]);
  onTestFinished(() => redis.stop());
  const outlet = new RedisOutlet({ url: redis.url, prefix: ownPrefix() });
  onTestFinished(() => outlet.close());
  const events = await soldEvents({ A: 20 });
  await outlet.deliver(events.slice(0, 5));
  await redis.plain.config("SET", "maxmemory", "1");
  const refused: unknown = await outlet.deliver(events.slice(5)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(NotAllTold);
  expect(refused).toMatchObject({ told: new Set(), cause: { code: "BUS_UNAVAILABLE" } });
  expect(String(refused)).toContain("OOM");
  expect((refused as NotAllTold).cause).toBeInstanceOf(Fault);
  await redis.plain.config("SET", "maxmemory", "0");
  await outlet.deliver(events.slice(5));
  const key = outlet.place.replace("stream ", "");
  const all = (await redis.plain.xrange(key, "-", "+")).map(([, [, event]]) => event ?? "");
  expect(all.map((event) => JSON.parse(event).id)).toEqual(events.map(({ id }) => id));
});
