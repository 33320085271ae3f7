import { describe, expect, it, onTestFinished } from "vitest";
import {
  brokerSettings,
  brokerVersion,
  makeGroup,
  makeTopic,
} from "../../src/bus/rocketmq-admin.ts";
import { laneNames } from "../../src/bus/rocketmq-names.ts";
import { systemClock } from "../../src/clock.ts";
import { newPrefix, openBus, rocketmqServers, warmBus } from "../support/rocketmq.ts";

const patienceMs = 60_000;

describe.each(rocketmqServers())("what RocketMQ's broker tells", ({ url, brokerPort }) => {
  const broker = { host: "127.0.0.1", port: brokerPort };

  it("is how it is set, and its version", async () => {
    const settings = await brokerSettings(broker);
    expect(settings).toMatchObject({
      flushDiskType: "SYNC_FLUSH",
      brokerRole: "SYNC_MASTER",
      autoCreateTopicEnable: "false",
    });
    expect(await brokerVersion(broker)).toBe("5.5.0");
  });

  it("is the lag of each lane, which falls as messages are acknowledged", async () => {
    const bus = await warmBus({ url, prefix: newPrefix() }, 2);
    onTestFinished(() => bus.close());
    for (const text of ["a", "b", "c"]) await bus.publish(0, Buffer.from(text));
    await expect.poll(() => bus.lag(0), { timeout: patienceMs }).toBe(3);
    expect(await bus.lag(1)).toBe(0);
    const taken = await bus.receive(0, { max: 10, waitMs: 10_000 });
    expect(taken).toHaveLength(3);
    await bus.acknowledge(0, taken);
    await expect.poll(() => bus.lag(0), { timeout: patienceMs }).toBe(0);
  });

  it("says nothing of its lag where nobody says where the broker is", async () => {
    const prefix = newPrefix();
    const made = await warmBus({ url, prefix }, 1);
    const plain = openBus({ url: url.replace(/\?.*$/, ""), prefix });
    onTestFinished(() => Promise.all([made.close(), plain.close()]).then(() => undefined));
    expect(await plain.lag(0)).toBe(null);
  });

  it("is what it has given up, of groups whose limit of deliveries is low", async () => {
    const prefix = newPrefix();
    const { topic, group } = laneNames(prefix, 0);
    await makeTopic(broker, topic, "FIFO");
    await makeGroup(broker, group, { isOrdered: true, deliveriesMax: 1 });
    const bus = openBus({ url, prefix, hiddenMs: 500 });
    onTestFinished(() => bus.close());
    await bus.requireLanes(1);
    expect(await bus.givenUp()).toBe(0);
    await bus.publish(0, Buffer.from("poison"));
    // Received and never acknowledged: each time it comes again is a delivery.
    const until = systemClock.mono() + patienceMs;
    while ((await bus.givenUp()) === 0 && systemClock.mono() < until) {
      await bus.receive(0, { max: 1, waitMs: 1_000 });
    }
    expect(await bus.givenUp()).toBe(1);
  });
});
