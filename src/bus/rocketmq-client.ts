import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import { ClientThread, type Judge, type Succeeded } from "./rocketmq-client-thread.ts";
import type { EventsTopic, LaneFinding, LaneNames, TopicState } from "./rocketmq-names.ts";
import type { EventMessage, Polled, ThreadData, ThreadWork } from "./rocketmq-protocol.ts";

/** A message is acknowledged through the life of the client that has taken it. */
export type Receipt = { readonly thread: ClientThread; readonly number: number };
export type Received = Omit<Polled, "receipt"> & { readonly receipt: Receipt };

/** Who sends no transactional messages is not asked. */
const undecided: Judge = () => Promise.resolve("unknown");

const callDeadlineMs = 5_000;
const checkDeadlineMs = 15_000;
const giveBackDeadlineMs = 1_000;
/** So that a client that fails at once is not made again and again. */
const lifeMsMin = 1_500;
/** It never looks again where a topic's queues are, and keeps a connection for each old answer. */
const lifeMsMax = 600_000;
/** What was asked of a client that is replaced may still be answered, and acknowledged. */
const graceMs = 15_000;

/**
 * One client at a time, in a thread. It is replaced when it has died, when a call of it has
 * failed or was not answered, and when it is old.
 */
export class RocketmqClient {
  readonly #data: ThreadData;
  readonly #clock: Clock;
  readonly #judge: Judge;
  readonly #closing = new AbortController();
  readonly #retired = new Set<ClientThread>();
  #current: ClientThread | null = null;
  #isWorn = false;

  constructor(data: ThreadData, clock: Clock, judge: Judge = undecided) {
    this.#judge = judge;
    this.#data = data;
    this.#clock = clock;
  }

  async send(topic: string, body: Uint8Array): Promise<void> {
    await this.#ask({ kind: "send", topic, body }, callDeadlineMs);
  }

  /** An event: stored, and of a transaction also committed. */
  async tell(topic: string, event: EventMessage): Promise<void> {
    await this.#ask({ kind: "tell", topic, ...event }, callDeadlineMs);
  }

  async examine(topic: EventsTopic): Promise<TopicState> {
    const answer = await this.#ask({ kind: "examine", topic }, checkDeadlineMs);
    return answer.told === "examined" ? answer.topicIs : "missing";
  }

  async poll(names: LaneNames, hiddenMs: number): Promise<readonly Received[]> {
    const thread = this.#thread();
    const { pollMs, requestTimeoutMs } = this.#data;
    const deadlineMs = pollMs + requestTimeoutMs + callDeadlineMs;
    const answer = await this.#of(thread, { kind: "poll", ...names, hiddenMs }, deadlineMs);
    const messages = answer.told === "polled" ? answer.messages : [];
    return messages.map((each) => ({ ...each, receipt: { thread, number: each.receipt } }));
  }

  async acknowledge(receipts: readonly Receipt[]): Promise<void> {
    const all = byThread(receipts).map(([thread, numbers]) =>
      thread.ask({ kind: "acknowledge", receipts: numbers }, callDeadlineMs),
    );
    await Promise.all(all);
  }

  /** Others see them at once. */
  async giveBack(receipts: readonly Receipt[]): Promise<void> {
    const all = byThread(receipts).map(([thread, numbers]) =>
      thread.ask({ kind: "hide", receipts: numbers, ms: 1 }, giveBackDeadlineMs),
    );
    await Promise.allSettled(all);
  }

  /** Resolves when the proxy answers and knows the topic. */
  async look(topic: string): Promise<void> {
    await this.#ask({ kind: "look", topic }, callDeadlineMs);
  }

  async check(lanes: readonly LaneNames[]): Promise<readonly LaneFinding[]> {
    const answer = await this.#ask({ kind: "check", lanes }, checkDeadlineMs);
    return answer.told === "checked" ? answer.findings : [];
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const all = [...this.#retired, ...(this.#current === null ? [] : [this.#current])];
    await Promise.all(all.map((thread) => thread.end()));
  }

  #ask(work: ThreadWork, deadlineMs: number): Promise<Succeeded> {
    return this.#of(this.#thread(), work, deadlineMs);
  }

  async #of(thread: ClientThread, work: ThreadWork, deadlineMs: number): Promise<Succeeded> {
    try {
      return await thread.ask(work, deadlineMs);
    } catch (error) {
      if (thread === this.#current) this.#isWorn = true;
      throw error;
    }
  }

  #thread(): ClientThread {
    if (this.#closing.signal.aborted) {
      throw new Fault("BUS_UNAVAILABLE", "the connection to RocketMQ is closed");
    }
    const current = this.#current;
    if (current !== null) {
      const age = this.#clock.mono() - current.bornAt;
      if (age < (this.#isWorn ? lifeMsMin : lifeMsMax)) return current;
      void this.#retire(current);
    }
    this.#isWorn = false;
    this.#current = new ClientThread(this.#data, this.#clock, this.#judge);
    return this.#current;
  }

  async #retire(thread: ClientThread): Promise<void> {
    this.#retired.add(thread);
    if (!thread.isIdle) await this.#clock.sleep(graceMs, this.#closing.signal);
    await thread.end();
    this.#retired.delete(thread);
  }
}

function byThread(receipts: readonly Receipt[]): readonly [ClientThread, readonly number[]][] {
  const groups = new Map<ClientThread, number[]>();
  for (const { thread, number } of receipts) {
    groups.set(thread, [...(groups.get(thread) ?? []), number]);
  }
  return [...groups];
}
