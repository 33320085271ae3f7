import { describe, expect, it } from "vitest";
import { makeGroup, makeTopic } from "../../src/bus/rocketmq-admin.ts";
import { laneNames } from "../../src/bus/rocketmq-names.ts";
import { newPrefix, openBus, rocketmqServers } from "../support/rocketmq.ts";

async function complaint(url: string, prefix: string, lanes: number): Promise<string> {
  const bus = openBus({ url, prefix });
  const said = await bus.requireLanes(lanes).then(
    () => "nothing",
    (error: unknown) => String(error),
  );
  await bus.close();
  return said;
}

describe.each(rocketmqServers())("lanes on RocketMQ", ({ url, brokerPort }) => {
  const broker = { host: "127.0.0.1", port: brokerPort };
  const proxyOnly = url.replace(/\?.*$/, "");

  it("says which topics and groups are missing, and the commands that make them", async () => {
    const prefix = newPrefix();
    expect(await complaint(url, prefix, 1)).toBe("nothing");
    const said = await complaint(proxyOnly, prefix, 2);
    const [topic, group] = [`${prefix}-lane-1`, `${prefix}-lane-1-writers`];
    expect(said).toContain(`topic ${topic} is missing; group ${group} is missing or not ordered.`);
    const place = "-n NAMESRV:9876 -c CLUSTER";
    expect(said).toContain(
      `mqadmin updateTopic ${place} -t ${topic} -r 1 -w 1 -o true -a +message.type=FIFO`,
    );
    expect(said).toContain(`mqadmin updateSubGroup ${place} -g ${group} -o true -r 1000000`);
    expect(said).not.toContain(`${prefix}-lane-0`);
  });

  it("does not take a topic of another type, or a group that is not ordered", async () => {
    const prefix = newPrefix();
    const { topic, group } = laneNames(prefix, 0);
    await makeTopic(broker, topic, "NORMAL");
    await makeGroup(broker, group, { isOrdered: false });
    // A proxy that was asked too early remembers for a while that nothing was there.
    await expect
      .poll(() => complaint(proxyOnly, prefix, 1), { timeout: 60_000 })
      .toContain(`topic ${topic} is not FIFO; group ${group} is missing or not ordered.`);
  });

  it("makes what is missing when it is told where the broker is", async () => {
    const prefix = newPrefix();
    expect(await complaint(url, prefix, 2)).toBe("nothing");
    expect(await complaint(proxyOnly, prefix, 2)).toBe("nothing");
  });
});
