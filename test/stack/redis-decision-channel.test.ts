import { afterEach, beforeEach, expect, it } from "vitest";
import type { DecisionNews } from "../../src/bus/bus.ts";
import { DecisionChannel } from "../../src/bus/redis-decision-channel.ts";
import { systemClock } from "../../src/clock.ts";
import { PrivateRedis } from "../../stack/redis.ts";

let redis: PrivateRedis;
let opened: DecisionNews[] = [];
beforeEach(async () => {
  redis = await PrivateRedis.start();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await redis.stop();
});

type Ear = { readonly channel: DecisionNews; readonly heard: string[]; rings: number };

function open(prefix = "own"): Ear {
  const channel = new DecisionChannel({ url: redis.url, clock: systemClock, prefix });
  opened.push(channel);
  const ear: Ear = { channel, heard: [], rings: 0 };
  channel.listen({
    decided: (ids) => ear.heard.push(...ids),
    work: () => {
      ear.rings += 1;
    },
  });
  return ear;
}

/** Told again and again, as there are always more decisions; what is lost is lost. */
async function untilHeard(from: Ear, to: Ear, id: string): Promise<void> {
  for (let n = 0; n < 600 && !to.heard.includes(id); n += 1) {
    from.channel.tell([id]);
    await systemClock.sleep(50);
  }
  expect(to.heard).toContain(id);
}

it("carries a batch of ids to every other process of its ledger, in one message", async () => {
  const [one, two, stranger] = [open(), open(), open("other")];
  await untilHeard(one, two, "first");
  await untilHeard(stranger, stranger, "theirs");
  one.channel.tell(["0.a.b", "0.c.d"]);
  await untilHeard(one, two, "last");
  expect(two.heard.join(" ")).toContain("0.a.b 0.c.d");
  expect(two.heard).not.toContain("theirs");
  expect(stranger.heard).not.toContain("0.a.b");
});

it("tells of work to whoever relays, many rings as few messages", async () => {
  const [one, two] = [open(), open()];
  await untilHeard(one, two, "first");
  for (let n = 0; n < 1_000; n += 1) one.channel.tellOfWork();
  await untilHeard(one, two, "last");
  expect(two.rings).toBeGreaterThan(0);
  expect(two.rings).toBeLessThan(10);
});

it("throws nothing while the server is away, and is heard again when it is back", async () => {
  const [one, two] = [open(), open()];
  await untilHeard(one, two, "before");
  await redis.crash();
  for (let n = 0; n < 500; n += 1) one.channel.tell(["lost"]);
  one.channel.tellOfWork();
  await redis.restart();
  await untilHeard(one, two, "after");
});
