import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { makeGroup, makeTopic } from "../../src/bus/rocketmq-admin.ts";
import { laneNames } from "../../src/bus/rocketmq-names.ts";
import { systemClock } from "../../src/clock.ts";
import { examineRocketmq } from "../../src/doctor/rocketmq.ts";
import { PrivateRocketmq, type RocketmqOptions } from "../../stack/rocketmq.ts";
import { foundAt, notOk } from "../support/doctor.ts";
import { impatient, newPrefix, openBus, warmBus } from "../support/rocketmq.ts";

let rocketmq: PrivateRocketmq;
let prefix = "";

beforeAll(async () => {
  rocketmq = await PrivateRocketmq.start(impatient);
});
afterAll(() => rocketmq.stop());
beforeEach(() => {
  prefix = newPrefix();
});

const examine = (url = rocketmq.url) => examineRocketmq(url, systemClock, { prefix, count: 1 });
const broker = () => ({ host: "127.0.0.1", port: rocketmq.brokerPort });

describe("the doctor of a real RocketMQ", () => {
  it("finds nothing wrong with a healthy one", async () => {
    const bus = await warmBus({ url: rocketmq.url, prefix }, 1);
    await bus.close();
    const found = await examine();
    expect(notOk(found)).toEqual({});
    expect(found).toHaveLength(10);
    expect(foundAt(found, "rocketmq.version")).toBe("RocketMQ 5.5.0");
    const proxyOnly = await examine(rocketmq.url.replace(/\?.*$/, ""));
    expect(notOk(proxyOnly)).toEqual({});
    expect(proxyOnly).toHaveLength(3);
  });

  it("names a topic that is missing", async () => {
    const found = await examine();
    expect(notOk(found)).toEqual({ "rocketmq.topics": "fail" });
    expect(foundAt(found, "rocketmq.topics")).toContain(`${prefix}-lane-0 missing`);
  });

  it("names a topic of another type, and a group that is not ordered", async () => {
    const { topic, group } = laneNames(prefix, 0);
    await makeTopic(broker(), topic, "NORMAL");
    await makeGroup(broker(), group, { isOrdered: false });
    const found = await examine();
    expect(notOk(found)).toEqual({ "rocketmq.topics": "fail" });
    expect(foundAt(found, "rocketmq.topics")).toContain("not FIFO");

    prefix = newPrefix();
    const other = laneNames(prefix, 0);
    await makeTopic(broker(), other.topic, "FIFO");
    await makeGroup(broker(), other.group, { isOrdered: false });
    expect(notOk(await examine())).toEqual({ "rocketmq.groups": "fail" });
  });

  it("names what the broker has given up, and tells what waits", async () => {
    const { topic, group } = laneNames(prefix, 0);
    await makeTopic(broker(), topic, "FIFO");
    await makeGroup(broker(), group, { isOrdered: true, deliveriesMax: 1 });
    const bus = openBus({ url: rocketmq.url, prefix, hiddenMs: 500 });
    onTestFinished(() => bus.close());
    await bus.requireLanes(1);
    await bus.publish(0, Buffer.from("poison"));
    expect(foundAt(await examine(), "rocketmq.lag")).toContain("1 messages");
    const until = systemClock.mono() + 60_000;
    while ((await bus.givenUp()) === 0 && systemClock.mono() < until) {
      await bus.receive(0, { max: 1, waitMs: 1_000 });
    }
    expect(notOk(await examine())).toEqual({ "rocketmq.dead-letters": "warn" });
  });

  it("says which of proxy and broker cannot be reached", async () => {
    await (await warmBus({ url: rocketmq.url, prefix }, 1)).close();
    const noBroker = await examine(rocketmq.url.replace(/broker=.*/, "broker=127.0.0.1:1"));
    expect(notOk(noBroker)).toEqual({ "rocketmq.broker": "fail" });
    const noProxy = await examine(rocketmq.url.replace(`:${rocketmq.port}`, ":1"));
    expect(notOk(noProxy)).toEqual({ "rocketmq.reachable": "fail" });
  });
});

describe("the doctor of a RocketMQ that is set otherwise", () => {
  it("names the flush, the replication, and what is made by itself", async () => {
    const settings: RocketmqOptions["broker"] = {
      flushDiskType: "ASYNC_FLUSH",
      brokerRole: "ASYNC_MASTER",
      autoCreateTopicEnable: "true",
    };
    const careless = await PrivateRocketmq.start({ ...impatient, broker: settings });
    onTestFinished(() => careless.stop());
    await (await warmBus({ url: careless.url, prefix }, 1)).close();
    const found = await examine(careless.url);
    expect(notOk(found)).toEqual({
      "rocketmq.flush": "fail",
      "rocketmq.replication": "warn",
      "rocketmq.auto-create": "warn",
    });
    expect(foundAt(found, "rocketmq.auto-create")).toContain("autoCreateTopicEnable");
  });
});
