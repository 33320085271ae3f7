import type { Lane } from "../domain/values.ts";

/**
 * Each lane has a topic of one queue, so that its order is whole, and a consumer group of its own,
 * so that no two consumers of a group want different topics.
 */
export type LaneNames = { readonly topic: string; readonly group: string };

export function laneNames(prefix: string, lane: Lane): LaneNames {
  return { topic: `${prefix}-lane-${lane}`, group: `${prefix}-lane-${lane}-writers` };
}

/** What the server knows of a lane, against what it has to know. */
export type LaneFinding = LaneNames & {
  readonly topicIs: "right" | "missing" | "not FIFO";
  /** A group that is missing and one that is not ordered look alike from outside. */
  readonly groupIs: "right" | "missing or not ordered";
};

/** Where the events of entries go. Each kind has its own, so that a change of mind retypes none. */
export type EventsTopic = { readonly name: string; readonly type: "FIFO" | "TRANSACTION" };

export function eventsTopic(prefix: string, type: EventsTopic["type"]): EventsTopic {
  return { name: `${prefix}-${type === "FIFO" ? "events" : "event-transactions"}`, type };
}

export type TopicState = "right" | "missing" | "of another type";

/** Null when it is right; otherwise what to type. */
export function missingTopicText({ name, type }: EventsTopic, is: TopicState): string | null {
  if (is === "right") return null;
  const place = "-n NAMESRV:9876 -c CLUSTER";
  return [
    `RocketMQ lacks what the events need: topic ${name} is ${is}, not ${type}.`,
    "Make it, with the address of your name server and the name of your cluster:",
    `  mqadmin updateTopic ${place} -t ${name} -r 4 -w 4 -a +message.type=${type}`,
    "Or let it be made: end the bus's URL with ?broker=HOST:10911, the address of the broker.",
    "Or tell nobody: --events none",
  ].join("\n");
}

/** Deliveries before the broker would move a message to its own dead letters. */
export const deliveriesMax = 1_000_000;

/** Null when nothing is missing; otherwise what is, and what to type. */
export function missingText(findings: readonly LaneFinding[]): string | null {
  const found = findings.flatMap(complaintsOf);
  if (found.length === 0) return null;
  const commands = findings.flatMap(commandsOf);
  return [
    `RocketMQ lacks what the lanes need: ${found.join("; ")}.`,
    "Make it, with the address of your name server and the name of your cluster:",
    ...commands.map((command) => `  ${command}`),
    "Or let it be made: end the bus's URL with ?broker=HOST:10911, the address of the broker.",
  ].join("\n");
}

function complaintsOf({ topic, topicIs, group, groupIs }: LaneFinding): string[] {
  return [
    ...(topicIs === "right" ? [] : [`topic ${topic} is ${topicIs}`]),
    ...(groupIs === "right" ? [] : [`group ${group} is ${groupIs}`]),
  ];
}

function commandsOf({ topic, topicIs, group, groupIs }: LaneFinding): string[] {
  const place = "-n NAMESRV:9876 -c CLUSTER";
  const fifo = `-r 1 -w 1 -o true -a +message.type=FIFO`;
  const ordered = `-o true -r ${deliveriesMax}`;
  return [
    ...(topicIs === "right" ? [] : [`mqadmin updateTopic ${place} -t ${topic} ${fifo}`]),
    ...(groupIs === "right" ? [] : [`mqadmin updateSubGroup ${place} -g ${group} ${ordered}`]),
  ];
}

export type RocketmqPlace = {
  /** `host:port` of the gRPC proxy. */
  readonly endpoints: string;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: string } | null;
  /** Where missing topics and groups may be made. */
  readonly broker: { readonly host: string; readonly port: number } | null;
};

/** `rocketmq://[access key:secret@]host:8081[?broker=host:10911]` */
export function placeOf(url: string): RocketmqPlace {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== "rocketmq:" || parsed.hostname === "") {
    throw new Error("bus: expected rocketmq://HOST:8081, the address of RocketMQ's gRPC proxy");
  }
  const { hostname, port, username, password, searchParams } = parsed;
  const [accessKey, accessSecret] = [decodeURIComponent(username), decodeURIComponent(password)];
  return {
    endpoints: `${hostname}:${port === "" ? "8081" : port}`,
    credentials: accessKey === "" ? null : { accessKey, accessSecret },
    broker: brokerOf(searchParams),
  };
}

function brokerOf(options: URLSearchParams): RocketmqPlace["broker"] {
  const strange = [...options.keys()].find((name) => name !== "broker");
  if (strange !== undefined) throw new Error(`bus: rocketmq:// knows ?broker, not ?${strange}`);
  const text = options.get("broker");
  if (text === null) return null;
  const [, host, port] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (host !== undefined && port !== undefined) return { host, port: Number(port) };
  throw new Error("bus: expected ?broker=HOST:10911, the address of RocketMQ's broker");
}
