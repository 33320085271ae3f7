import { connect } from "node:net";
import { systemClock } from "../clock.ts";
import { deliveriesMax, type LaneNames } from "./rocketmq-names.ts";

/** Of a broker, not of its proxy: only there topics and groups are made. */
export type BrokerAddress = { readonly host: string; readonly port: number };

const answerWithinMs = 10_000;
const code = { topic: 17, group: 200, topicThere: 351, groupThere: 352 } as const;

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

export async function makeTopic(
  broker: BrokerAddress,
  topic: string,
  type: "FIFO" | "NORMAL",
): Promise<void> {
  const queues = { readQueueNums: "1", writeQueueNums: "1", perm: "6", order: "true" };
  const kind = { topicFilterType: "SINGLE_TAG", topicSysFlag: "0" };
  const attributes = `+message.type=${type}`;
  const fields = { topic, defaultTopic: "TBW102", ...queues, ...kind, attributes };
  await ask(broker, { code: code.topic, fields });
}

export async function makeGroup(
  broker: BrokerAddress,
  group: string,
  { isOrdered }: { readonly isOrdered: boolean },
): Promise<void> {
  const settings = {
    ...{ groupName: group, consumeEnable: true, consumeFromMinEnable: true },
    ...{ consumeBroadcastEnable: false, consumeMessageOrderly: isOrdered, brokerId: 0 },
    ...{ retryQueueNums: 1, retryMaxTimes: deliveriesMax, whichBrokerWhenConsumeSlowly: 1 },
    notifyConsumerIdsChangedEnable: true,
  };
  await ask(broker, { code: code.group, fields: {}, body: Buffer.from(JSON.stringify(settings)) });
}

async function has(broker: BrokerAddress, request: Request): Promise<boolean> {
  return ask(broker, request).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refused) return false;
      throw error;
    },
  );
}

/** The broker's own word. */
class Refused extends Error {}

/** The broker's own protocol: a frame of a JSON header and a body. */
type Request = {
  readonly code: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: Buffer;
};

function ask(broker: BrokerAddress, request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(broker);
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(`RocketMQ's broker at ${broker.host}:${broker.port}: ${why}`));
    };
    let seen = Buffer.alloc(0);
    const late = new AbortController();
    socket.once("close", () => late.abort());
    void systemClock.sleep(answerWithinMs, late.signal).then(() => {
      if (!late.signal.aborted) fail(`no answer within ${answerWithinMs} ms`);
    });
    socket.once("error", (error) => fail(error.message));
    socket.on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      if (seen.length < 4 || seen.length < 4 + seen.readUInt32BE(0)) return;
      const why = complaintOf(seen);
      socket.destroy();
      if (why === null) resolve();
      else reject(new Refused(`RocketMQ's broker at ${broker.host}:${broker.port}: ${why}`));
    });
    socket.write(frameOf(request));
  });
}

function frameOf({ code: number, fields, body = Buffer.alloc(0) }: Request): Buffer {
  const named = { code: number, language: "OTHER", version: 0, opaque: 1, flag: 0 };
  const header = Buffer.from(JSON.stringify({ ...named, extFields: fields }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + header.length + body.length, 0);
  lengths.writeUInt32BE(header.length, 4);
  return Buffer.concat([lengths, header, body]);
}

function complaintOf(frame: Buffer): string | null {
  // The highest byte names the header's form: JSON, as we have asked in.
  const length = frame.readUInt32BE(4) & 0xff_ff_ff;
  const header: unknown = JSON.parse(frame.subarray(8, 8 + length).toString("utf8"));
  if (typeof header !== "object" || header === null || !("code" in header)) return "no code";
  if (header.code === 0) return null;
  return `refused (${String(header.code)}): ${"remark" in header ? String(header.remark) : ""}`;
}
