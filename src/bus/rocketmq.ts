import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Lane } from "../domain/values.ts";
import type { Bus, Delivery, ReceiveOptions } from "./bus.ts";
import { givenUpOf, laneLag, mendLanes } from "./rocketmq-admin.ts";
import { RocketmqClient } from "./rocketmq-client.ts";
import { RocketmqLaneReader } from "./rocketmq-lane-reader.ts";
import {
  type LaneFinding,
  type LaneNames,
  laneNames,
  missingText,
  placeOf,
  type RocketmqPlace,
} from "./rocketmq-names.ts";

export type RocketmqOptions = {
  /** `rocketmq://[access key:secret@]host:8081[?broker=host:10911]` */
  readonly url: string;
  readonly clock: Clock;
  readonly prefix?: string;
  /** What a consumer has not acknowledged for so long comes again; the proxy asks for 10 s. */
  readonly hiddenMs?: number;
  /** How long a poll waits at the broker. It costs nobody anything: what comes ends it. */
  readonly pollMs?: number;
  /** What a receive gives a poll that was only just begun, even when told not to wait. */
  readonly lookMs?: number;
};

const hiddenMs = 10_000;
const pollMs = 3_000;
const lookMs = 100;
const requestTimeoutMs = 3_000;
const looksMax = 5;
const betweenLooksMs = 6_000;

/**
 * A FIFO topic and an ordered consumer group per lane, which must be there before. Stored is
 * what the broker has answered SEND_OK for, and nothing else.
 */
export class RocketmqBus implements Bus {
  readonly #options: RocketmqOptions;
  readonly #place: RocketmqPlace;
  readonly #client: RocketmqClient;
  readonly #readers = new Map<Lane, RocketmqLaneReader>();
  #lanes = 0;

  constructor(options: RocketmqOptions) {
    this.#options = options;
    this.#place = placeOf(options.url);
    this.#client = this.#newClient();
  }

  /**
   * Throws, with what to type, when a topic or a group is not there or of another kind. What is
   * missing is made instead when the URL says where. Of a server that is away nothing is known:
   * then the lanes stay closed until it is there.
   */
  async requireLanes(lanes: number): Promise<void> {
    this.#lanes = lanes;
    const names = this.#allNames();
    const { broker } = this.#place;
    if (broker !== null) await mendLanes(broker, names);
    for (let looks = 1; ; looks += 1) {
      const missing = missingText(await this.#lookAt(names));
      if (missing === null) return;
      // A proxy that was asked too early remembers for a while that nothing was there.
      if (broker === null || looks === looksMax) throw new Error(missing);
      await this.#options.clock.sleep(betweenLooksMs);
    }
  }

  async publish(lane: Lane, body: Buffer): Promise<void> {
    await this.#client.send(this.#names(lane).topic, body);
  }

  receive(lane: Lane, options: ReceiveOptions): Promise<readonly Delivery[]> {
    return this.#reader(lane).receive(options);
  }

  async acknowledge(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    await this.#reader(lane).acknowledge(deliveries);
  }

  release(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    this.#reader(lane).release(deliveries);
    return Promise.resolve();
  }

  /**
   * Told by the broker, where the URL says where it is; the proxy tells only that it answers and
   * has the lane's topic.
   */
  async lag(lane: Lane): Promise<number | null> {
    const names = this.#names(lane);
    await this.#client.look(names.topic);
    const { broker } = this.#place;
    return broker === null ? null : laneLag(broker, names).catch(() => null);
  }

  /** What stands in the `%DLQ%` topics of the lanes' groups; 0 where nobody says who knows. */
  async givenUp(): Promise<number> {
    const { broker } = this.#place;
    if (broker === null) return 0;
    try {
      const all = await Promise.all(this.#allNames().map((names) => givenUpOf(broker, names)));
      return all.reduce((sum, each) => sum + each, 0);
    } catch (error) {
      throw new Fault("BUS_UNAVAILABLE", error instanceof Error ? error.message : "", error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
    await this.#client.close();
  }

  /** As a process dies: nothing is given back. */
  async die(): Promise<void> {
    await this.#client.close();
  }

  /** By a client of its own: one that has met no group where there was none does not forget it. */
  async #lookAt(names: readonly LaneNames[]): Promise<readonly LaneFinding[]> {
    const looking = this.#newClient();
    try {
      return await looking.check(names);
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    } finally {
      await looking.close();
    }
  }

  #newClient(): RocketmqClient {
    const { clock, pollMs: wait = pollMs } = this.#options;
    return new RocketmqClient({ ...this.#place, requestTimeoutMs, pollMs: wait }, clock);
  }

  #reader(lane: Lane): RocketmqLaneReader {
    const known = this.#readers.get(lane);
    if (known !== undefined) return known;
    const reader = new RocketmqLaneReader({
      names: this.#names(lane),
      client: this.#client,
      clock: this.#options.clock,
      hiddenMs: this.#options.hiddenMs ?? hiddenMs,
      lookMs: this.#options.lookMs ?? lookMs,
    });
    this.#readers.set(lane, reader);
    return reader;
  }

  #allNames(): readonly LaneNames[] {
    return Array.from({ length: this.#lanes }, (_, lane) => this.#names(lane));
  }

  #names(lane: Lane): LaneNames {
    return laneNames(this.#options.prefix ?? "holdfast", lane);
  }
}
