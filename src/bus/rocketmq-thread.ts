import { parentPort, workerData } from "node:worker_threads";
import type {
  MessageView,
  Producer,
  SimpleConsumer,
  TransactionChecker,
} from "rocketmq-client-nodejs";
import { systemClock } from "../clock.ts";
import type { EventsTopic, LaneFinding, LaneNames, TopicState } from "./rocketmq-names.ts";
import type {
  EventMessage,
  Resolution,
  ThreadAnswer,
  ThreadData,
  ThreadReply,
  ThreadRequest,
  ThreadWork,
} from "./rocketmq-protocol.ts";

/**
 * The client of RocketMQ, in a thread of its own: it may hang, leak or die here, and whoever
 * started the thread ends it and starts another. It is never shut down: its end is the thread's.
 */
const { endpoints, credentials, requestTimeoutMs, pollMs }: ThreadData = workerData;
/** The most that the broker hands out at once. */
const batchMax = 32;
/** Numbers of the protocol that the client does not export: of message types, and of answers. */
const types = { FIFO: 2, TRANSACTION: 4 } as const;
type Answer = Awaited<ReturnType<TransactionChecker["check"]>>;
const answers: Readonly<Record<Resolution, Answer>> = { unknown: 0, commit: 1, rollback: 2 };
/** The only status of a send that says: stored, and safe. */
const sendOk = 20_000;
/** And that of an answer about a topic that is not there. */
const topicMissing = 40_402;
const looksMax = 10;
const betweenLooksMs = 300;
/** Then nothing is answered, and the broker asks again. */
const resolvedWithinMs = 10_000;
const silent = (): void => undefined;

type Reader = { readonly consumer: SimpleConsumer; readonly isOrdered: boolean };
type Looker = { typesOf(topic: string): Promise<readonly number[]> };
type Taken = { readonly view: MessageView; readonly consumer: SimpleConsumer };

const producers = new Map<string, Promise<Producer>>();
const readers = new Map<string, Promise<Reader>>();
const taken = new Map<number, Taken>();
const questions = new Map<number, (resolution: Resolution) => void>();
let receipts = 0;
let asked = 0;
let looker: Promise<Looker> | null = null;

parentPort?.on("message", (request: ThreadRequest) => {
  if ("work" in request) void serve(request.id, request.work);
  else questions.get(request.question)?.(request.resolution);
});

async function serve(id: number, work: ThreadWork): Promise<void> {
  post({ id, ...(await answerTo(work).catch(failed)) });
}

function post(reply: ThreadReply): void {
  parentPort?.postMessage(reply);
}

function answerTo(work: ThreadWork): Promise<ThreadAnswer> {
  switch (work.kind) {
    case "send":
      return send(work.topic, work.body);
    case "tell":
      return tell(work.topic, work);
    case "poll":
      return poll(work, work.hiddenMs);
    case "acknowledge":
      return settle(work.receipts, ({ view, consumer }) => consumer.ack(view));
    case "hide":
      return settle(work.receipts, ({ view, consumer }) =>
        consumer.changeInvisibleDuration(view, work.ms),
      );
    case "look":
      return look(work.topic);
    case "check":
      return check(work.lanes);
    case "examine":
      return examine(work.topic);
  }
}

/** Done is SEND_OK only: for every other status it throws. */
async function send(topic: string, body: Uint8Array): Promise<ThreadAnswer> {
  const producer = await kept(producers, topic, () => startProducer(topic));
  const receipt = await producer.send({ topic, body: Buffer.from(body), messageGroup: topic });
  // An answer without a status passes for a good one there.
  if (!receipt?.messageId) throw new Error("the broker has confirmed nothing");
  return { told: "done" };
}

/** A transaction is half a message, and its end. Who dies in between is asked back, or another. */
async function tell(topic: string, event: EventMessage): Promise<ThreadAnswer> {
  const producer = await kept(producers, topic, () => startProducer(topic));
  const { isTransaction, group, tag, key, properties, body } = event;
  const transaction = isTransaction ? producer.beginTransaction() : undefined;
  const receipt = await producer.send(
    {
      ...{ topic, tag, keys: [key], body: Buffer.from(body) },
      properties: new Map(Object.entries(properties)),
      ...(isTransaction ? {} : { messageGroup: group }),
    },
    transaction,
  );
  if (!receipt?.messageId) throw new Error("the broker has confirmed nothing");
  await transaction?.commit();
  return { told: "done" };
}

/** By whoever has the ledger. */
async function askBack({ body }: MessageView): Promise<Answer> {
  asked += 1;
  const question = asked;
  const late = new AbortController();
  const resolved = new Promise<Resolution>((resolve) => {
    questions.set(question, resolve);
    void systemClock.sleep(resolvedWithinMs, late.signal).then(() => resolve("unknown"));
  });
  post({ question, body });
  const resolution = await resolved;
  questions.delete(question);
  late.abort();
  return answers[resolution];
}

async function poll(names: LaneNames, hiddenMs: number): Promise<ThreadAnswer> {
  const { consumer } = await kept(readers, names.group, () => startReader(names));
  const views = await consumer.receive(batchMax, hiddenMs);
  const messages = views.map((view) => {
    receipts += 1;
    taken.set(receipts, { view, consumer });
    const { messageId, offset = 0, deliveryAttempt = 1, body } = view;
    return { receipt: receipts, messageId, offset, attempt: deliveryAttempt, body };
  });
  return { told: "polled", messages };
}

/** All are tried; the first that failed is told. */
async function settle(
  wanted: readonly number[],
  act: (one: Taken) => Promise<void>,
): Promise<ThreadAnswer> {
  const all = wanted.map(async (receipt) => {
    const one = taken.get(receipt);
    taken.delete(receipt);
    if (one !== undefined) await act(one);
  });
  const bad = (await Promise.allSettled(all)).find(({ status }) => status === "rejected");
  if (bad?.status === "rejected") throw bad.reason;
  return { told: "done" };
}

async function look(topic: string): Promise<ThreadAnswer> {
  await looked(topic);
  return { told: "done" };
}

async function check(lanes: readonly LaneNames[]): Promise<ThreadAnswer> {
  return { told: "checked", findings: await Promise.all(lanes.map(lookAt)) };
}

async function lookAt(names: LaneNames): Promise<LaneFinding> {
  const known = await typesOf(names.topic);
  const topicIs = known === null ? "missing" : known.includes(types.FIFO) ? "right" : "not FIFO";
  // A group can only be asked about together with a topic that is there.
  const isOrdered =
    known !== null && (await kept(readers, names.group, () => startReader(names))).isOrdered;
  return { ...names, topicIs, groupIs: isOrdered ? "right" : "missing or not ordered" };
}

async function examine({ name, type }: EventsTopic): Promise<ThreadAnswer> {
  const known = await typesOf(name);
  const fits = known?.includes(types[type]) === true;
  const topicIs: TopicState = known === null ? "missing" : fits ? "right" : "of another type";
  return { told: "examined", topicIs };
}

/** One that was made just now is not known everywhere at once. */
async function typesOf(topic: string): Promise<readonly number[] | null> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await looked(topic);
    } catch (error) {
      if (statusOf(error) !== topicMissing) throw new NotStarted(error);
      if (looks === looksMax) return null;
      await systemClock.sleep(betweenLooksMs);
    }
  }
}

async function looked(topic: string): Promise<readonly number[]> {
  looker ??= makeLooker();
  return (await looker).typesOf(topic);
}

/** Asks where a topic's queues are, and of which kind. */
async function makeLooker(): Promise<Looker> {
  const { Producer } = await import("rocketmq-client-nodejs");
  return new (class extends Producer {
    async typesOf(topic: string): Promise<readonly number[]> {
      this.topicRouteCache.delete(topic);
      const { messageQueues } = await this.getRouteData(topic);
      return messageQueues.flatMap((queue) => queue.acceptMessageTypesList);
    }
  })(options([]));
}

async function startProducer(topic: string): Promise<Producer> {
  const { Producer } = await import("rocketmq-client-nodejs");
  // Who publishes tries again by itself, and would not know of these.
  const producer = new (class extends Producer {
    /** The client takes some statuses, of a message that is not found for one, for good ones. */
    requireOk(): void {
      const manager = this.rpcClientManager;
      const send = manager.sendMessage.bind(manager);
      manager.sendMessage = async (...given) => {
        const answer = await send(...given);
        for (const told of [answer, ...answer.getEntriesList()]) requireOk(told);
        return answer;
      };
      const end = manager.endTransaction.bind(manager);
      manager.endTransaction = async (...given) => {
        const answer = await end(...given);
        requireOk(answer);
        return answer;
      };
    }
  })({ ...options([topic]), maxAttempts: 1, checker: { check: askBack } });
  producer.requireOk();
  await producer.startup();
  return producer;
}

type Told = {
  getStatus(): { getCode(): number; getMessage(): string } | undefined;
};

function requireOk(told: Told): void {
  const status = told.getStatus();
  const code = status?.getCode() ?? 0;
  if (code !== sendOk) throw new NotOk(code, status?.getMessage() ?? "no status");
}

class NotOk extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(`[code=${code}] ${message}`);
    this.code = code;
  }
}

async function startReader({ topic, group }: LaneNames): Promise<Reader> {
  const { SimpleConsumer } = await import("rocketmq-client-nodejs");
  let isOrdered = false;
  const consumer = new (class extends SimpleConsumer {
    override onSettingsCommand(...told: Parameters<SimpleConsumer["onSettingsCommand"]>): void {
      isOrdered = told[1].getSubscription()?.getFifo() === true;
      super.onSettingsCommand(...told);
    }
  })({
    ...options([topic]),
    consumerGroup: group,
    subscriptions: new Map([[topic, "*"]]),
    awaitDuration: pollMs,
    maxRetryAttempts: 1,
  });
  await consumer.startup();
  return { consumer, isOrdered };
}

function options(topics: readonly string[]) {
  return {
    endpoints,
    namespace: "",
    topics: [...topics],
    requestTimeout: requestTimeoutMs,
    // By default it writes files into the home of whoever runs us.
    logger: { info: silent, warn: silent, error: silent, debug: silent },
    ...(credentials === null ? {} : { sessionCredentials: credentials }),
  };
}

/** Whoever comes meanwhile waits for the same start; a failed one is tried again. */
async function kept<T>(
  all: Map<string, Promise<T>>,
  name: string,
  start: () => Promise<T>,
): Promise<T> {
  const starting = all.get(name) ?? start();
  all.set(name, starting);
  try {
    return await starting;
  } catch (error) {
    if (all.get(name) === starting) all.delete(name);
    throw new NotStarted(error);
  }
}

/** Nothing has been asked of the server yet. */
class NotStarted extends Error {
  constructor(cause: unknown) {
    super(depthsOf(cause).at(-1)?.message ?? String(cause), { cause });
  }
}

function failed(error: unknown): ThreadAnswer {
  const status = statusOf(error);
  const isRefusal = status !== null && status < 50_000;
  const isUnknown = !(error instanceof NotStarted || error instanceof TypeError || isRefusal);
  const why = error instanceof Error ? error.message : String(error);
  return { told: "failed", why, isUnknown };
}

/** The status that the server has answered with; null when it has not answered. */
function statusOf(error: unknown): number | null {
  for (const each of depthsOf(error)) {
    if ("code" in each && typeof each.code === "number" && each.code >= 40_000) return each.code;
  }
  return null;
}

function depthsOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...depthsOf(error.cause)] : [];
}
