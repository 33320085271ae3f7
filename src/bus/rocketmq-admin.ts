import { deliveriesMax, type EventsTopic, type LaneNames } from "./rocketmq-names.ts";
import { askBroker, type BrokerAddress, type BrokerRequest, Refused } from "./rocketmq-remoting.ts";

export type { BrokerAddress } from "./rocketmq-remoting.ts";

const code = {
  ...{ topic: 17, group: 200, topicThere: 351, groupThere: 352 },
  ...{ consumed: 14, settings: 26, running: 28, end: 30, begin: 31 },
} as const;
/** Of the topic of events: its readers may be as many. */
const eventQueues = 4;
/** A lane's topic has one queue, and so has what the broker makes for a group. */
const queueId = "0";
const lookWithinMs = 4_000;

/**
 * Makes what is missing and leaves what is there. It comes before any question to the proxy, which
 * remembers for a while that a topic was not there.
 */
export async function mendLanes(broker: BrokerAddress, lanes: readonly LaneNames[]): Promise<void> {
  for (const { topic, group } of lanes) {
    if (!(await has(broker, { code: code.topicThere, fields: { topic } }))) {
      await makeTopic(broker, topic, "FIFO");
    }
    if (!(await has(broker, { code: code.groupThere, fields: { group } }))) {
      await makeGroup(broker, group, { isOrdered: true });
    }
  }
}

/** Makes the topic of events where it is missing, and leaves what is there. */
export async function mendTopic(broker: BrokerAddress, topic: EventsTopic): Promise<void> {
  const { name, type } = topic;
  if (await has(broker, { code: code.topicThere, fields: { topic: name } })) return;
  await makeTopic(broker, name, type, eventQueues);
}

export async function makeTopic(
  broker: BrokerAddress,
  topic: string,
  type: "FIFO" | "NORMAL" | "TRANSACTION",
  queueCount = 1,
): Promise<void> {
  const count = String(queueCount);
  const order = String(type !== "TRANSACTION");
  const queues = { readQueueNums: count, writeQueueNums: count, perm: "6", order };
  const kind = { topicFilterType: "SINGLE_TAG", topicSysFlag: "0" };
  const attributes = `+message.type=${type}`;
  const fields = { topic, defaultTopic: "TBW102", ...queues, ...kind, attributes };
  await askBroker(broker, { code: code.topic, fields });
}

export async function makeGroup(
  broker: BrokerAddress,
  group: string,
  options: { readonly isOrdered: boolean; readonly deliveriesMax?: number },
): Promise<void> {
  const settings = {
    ...{ groupName: group, consumeEnable: true, consumeFromMinEnable: true },
    ...{ consumeBroadcastEnable: false, consumeMessageOrderly: options.isOrdered, brokerId: 0 },
    ...{ retryQueueNums: 1, retryMaxTimes: options.deliveriesMax ?? deliveriesMax },
    ...{ whichBrokerWhenConsumeSlowly: 1, notifyConsumerIdsChangedEnable: true },
  };
  const body = Buffer.from(JSON.stringify(settings));
  await askBroker(broker, { code: code.group, fields: {}, body });
}

/** Messages of a lane that its group has not acknowledged. */
export async function laneLag(broker: BrokerAddress, names: LaneNames): Promise<number> {
  const { topic, group: consumerGroup } = names;
  const [begin, end] = await extent(broker, topic);
  const consumed = await offsetOf(broker, {
    code: code.consumed,
    fields: { topic, consumerGroup, queueId },
  });
  return Math.max(0, end - Math.max(begin, consumed ?? begin));
}

/** What the broker has set aside for a group: after so many deliveries it gives a message up. */
export async function givenUpOf(broker: BrokerAddress, { group }: LaneNames): Promise<number> {
  const topic = `%DLQ%${group}`;
  if (!(await has(broker, { code: code.topicThere, fields: { topic } }))) return 0;
  const [begin, end] = await extent(broker, topic);
  return Math.max(0, end - begin);
}

/** The broker's settings, by their names. */
export async function brokerSettings(
  broker: BrokerAddress,
): Promise<Readonly<Record<string, string>>> {
  const { body } = await askBroker(broker, { code: code.settings, fields: {} }, lookWithinMs);
  const lines = body
    .toString("utf8")
    .split("\n")
    .filter((line) => line.includes("="));
  return Object.fromEntries(lines.map((line) => [before(line), line.slice(line.indexOf("=") + 1)]));
}

/** As `5.5.0`; empty when it does not say. */
export async function brokerVersion(broker: BrokerAddress): Promise<string> {
  const { body } = await askBroker(broker, { code: code.running, fields: {} }, lookWithinMs);
  const [, told = ""] = /"brokerVersionDesc":"V?([\d_]+)/.exec(body.toString("utf8")) ?? [];
  return told.replaceAll("_", ".");
}

function before(line: string): string {
  return line.slice(0, line.indexOf("="));
}

async function extent(broker: BrokerAddress, topic: string): Promise<readonly [number, number]> {
  const fields = { topic, queueId };
  const both = [code.begin, code.end].map((each) => offsetOf(broker, { code: each, fields }));
  const [begin, end] = await Promise.all(both);
  return [begin ?? 0, end ?? 0];
}

/** Null where the broker has none. */
async function offsetOf(broker: BrokerAddress, request: BrokerRequest): Promise<number | null> {
  try {
    const { fields } = await askBroker(broker, request, lookWithinMs);
    return Number(fields["offset"] ?? 0);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

async function has(broker: BrokerAddress, request: BrokerRequest): Promise<boolean> {
  return askBroker(broker, request).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refused) return false;
      throw error;
    },
  );
}
