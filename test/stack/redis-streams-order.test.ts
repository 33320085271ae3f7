import { afterAll, beforeAll, expect, it } from "vitest";
import { RedisStreamsBus } from "../../src/bus/redis-streams.ts";
import { systemClock, systemRandom } from "../../src/clock.ts";
import { PrivateRedis } from "../../stack/redis.ts";

let redis: PrivateRedis;
beforeAll(async () => {
  redis = await PrivateRedis.start();
});
afterAll(() => redis.stop());

/** Of two processes that wait at once, each is woken by a message: the lane keeps its order. */
it("gives nothing to a second reader while the first has what stands before it", async () => {
  const options = { url: redis.url, clock: systemClock, random: systemRandom };
  const readers = [new RedisStreamsBus(options), new RedisStreamsBus(options)];
  const [teller] = readers;
  const done: number[] = [];
  const ending = new AbortController();
  const last = 60;
  const read = async (bus: RedisStreamsBus): Promise<void> => {
    while (!ending.signal.aborted) {
      const taken = await bus.receive(0, { max: 3, waitMs: 100, signal: ending.signal });
      const numbers = taken.map(({ body }) => Number(body.toString()));
      // Every other one takes its time, while more arrives.
      if (numbers.some((n) => n % 2 === 1)) await systemClock.sleep(25);
      done.push(...numbers);
      await bus.acknowledge(0, taken);
      if (done.at(-1) === last) ending.abort();
    }
  };
  const reading = readers.map(read);
  for (let n = 1; n < last; n += 2) {
    // Nothing is there, and both wait for it.
    await systemClock.sleep(40);
    await Promise.all([n, n + 1].map(async (each) => teller?.publish(0, Buffer.from(`${each}`))));
  }
  await Promise.all(reading);
  expect(done).toEqual(Array.from({ length: last }, (_, n) => n + 1));
  await Promise.all(readers.map((bus) => bus.close()));
}, 60_000);
