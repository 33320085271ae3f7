import type { Clock, Random } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Lane } from "../domain/values.ts";
import { laneTag } from "../redis/lane-tag.ts";
import { type Places, placesOf } from "../redis/places.ts";
import type { Bus, Delivery, ReceiveOptions } from "./bus.ts";
import { RedisClient } from "./redis-client.ts";
import { LaneReader } from "./redis-lane-reader.ts";

export type RedisStreamsOptions = {
  /** `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Pick<Random, "bytes">;
  readonly prefix?: string;
  readonly commandTimeoutMs?: number;
  /** What a consumer has not acknowledged for so long is taken over from it. */
  readonly claimIdleMs?: number;
};

const commandTimeoutMs = 5_000;
const claimIdleMs = 5_000;

/**
 * A stream and a consumer group per lane. Nothing is cut off by length: what is acknowledged is
 * deleted. Each lane is read over a connection of its own, which may block; in a cluster each is
 * written over one of its own, too, to the primary that has it.
 */
export class RedisStreamsBus implements Bus {
  readonly #options: RedisStreamsOptions;
  readonly #places: Places;
  readonly #writers = new Map<Lane, RedisClient>();
  readonly #consumer: string;
  readonly #readers = new Map<Lane, LaneReader>();

  constructor(options: RedisStreamsOptions) {
    this.#options = options;
    this.#places = placesOf(options.url);
    this.#consumer = `writer-${options.random.bytes(8).toString("hex")}`;
  }

  async publish(lane: Lane, body: Buffer): Promise<void> {
    await this.#writer(lane).call("XADD", this.#key(lane), "*", "b", body);
  }

  receive(lane: Lane, options: ReceiveOptions): Promise<readonly Delivery[]> {
    return this.#reader(lane).receive(options);
  }

  async acknowledge(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length > 0) await this.#reader(lane).acknowledge(deliveries);
  }

  release(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    this.#reader(lane).release(deliveries);
    return Promise.resolve();
  }

  async lag(lane: Lane): Promise<number> {
    const length = await this.#writer(lane).call("XLEN", this.#key(lane));
    if (typeof length === "number") return length;
    throw new Fault("BUS_UNKNOWN", "XLEN: expected a number");
  }

  givenUp(): Promise<number> {
    return Promise.resolve(0);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
    await Promise.all([...this.#writers.values()].map((writer) => writer.close()));
  }

  #reader(lane: Lane): LaneReader {
    const known = this.#readers.get(lane);
    if (known !== undefined) return known;
    const reader = new LaneReader({
      key: this.#key(lane),
      consumer: this.#consumer,
      claimIdleMs: this.#options.claimIdleMs ?? claimIdleMs,
      client: this.#client(lane),
      writer: this.#writer(lane),
      clock: this.#options.clock,
    });
    this.#readers.set(lane, reader);
    return reader;
  }

  #writer(lane: Lane): RedisClient {
    const key = this.#places.isCluster ? lane : 0;
    const writer = this.#writers.get(key) ?? this.#client(lane);
    this.#writers.set(key, writer);
    return writer;
  }

  #client(lane: Lane): RedisClient {
    const { commandTimeoutMs: budget = commandTimeoutMs } = this.#options;
    return new RedisClient({ place: () => this.#places.urlOf(lane), commandTimeoutMs: budget });
  }

  /** Beside the lane's hot stock, and of another name. */
  #key(lane: Lane): string {
    return `${this.#options.prefix ?? "holdfast"}:{${laneTag(lane)}}:bus`;
  }
}
