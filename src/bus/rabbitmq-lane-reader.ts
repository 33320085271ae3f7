import type { AsyncMessage, Channel } from "rabbitmq-client";
import { type Clock, nextTurn } from "../clock.ts";
import type { Lane } from "../domain/values.ts";
import type { Delivery, ReceiveOptions } from "./bus.ts";
import { messageOf, type RabbitmqClient } from "./rabbitmq-client.ts";
import { type RabbitmqQueues, unavailable, unknown } from "./rabbitmq-queues.ts";

/** Messages of a lane that are here and not acknowledged; each may hold hundreds of tickets. */
const heldMax = 64;

type Held = {
  readonly handle: number;
  readonly tag: number;
  readonly body: Buffer;
  attempt: number;
};

/**
 * One lane. The broker hands its messages to one consumer and keeps the others waiting; they
 * come up to a bound, in order, and what is given back is kept here: the broker would count it.
 * All of it ends with the channel, and then comes again.
 */
export class RabbitmqLaneReader {
  readonly #lane: Lane;
  readonly #client: RabbitmqClient;
  readonly #queues: RabbitmqQueues;
  readonly #clock: Clock;
  readonly #wake = new Set<() => void>();
  readonly #out = new Map<number, Held>();
  #waiting: Held[] = [];
  #channel: Channel | null = null;
  #beginning: Promise<Channel> | null = null;
  #lastHandle = 0;

  constructor(made: { lane: Lane; client: RabbitmqClient; queues: RabbitmqQueues; clock: Clock }) {
    this.#lane = made.lane;
    this.#client = made.client;
    this.#queues = made.queues;
    this.#clock = made.clock;
  }

  /** Messages that are here, with us or with whoever has received them. */
  get held(): number {
    return this.#waiting.length + this.#out.size;
  }

  async receive({ max, waitMs, signal }: ReceiveOptions): Promise<readonly Delivery[]> {
    const isStopped = (): boolean => signal?.aborted === true;
    if (isStopped()) return [];
    const channel = await this.#consuming();
    if (waitMs <= 0) await this.#arrivedBy(channel);
    else if (this.#waiting.length === 0) await this.#wait(waitMs, signal);
    if (isStopped()) return [];
    return this.#waiting.splice(0, max).map((held) => {
      this.#out.set(held.handle, held);
      return { body: held.body, attempt: held.attempt, handle: held.handle };
    });
  }

  /** Answered by the broker: a channel that has died meanwhile would swallow it. */
  async acknowledge(deliveries: readonly Delivery[]): Promise<void> {
    const known = deliveries.flatMap(({ handle }) => this.#out.get(Number(handle)) ?? []);
    const channel = this.#channel;
    if (channel === null || known.length < deliveries.length) {
      throw unknown(`lane ${this.#lane}: came over a connection that has ended, and comes again`);
    }
    try {
      for (const { tag } of known) channel.basicAck({ deliveryTag: tag });
      await this.#client.within(this.#look(channel));
    } catch (error) {
      throw unknown(`acknowledge: ${messageOf(error)}`, error);
    }
    for (const { handle } of known) this.#out.delete(handle);
  }

  release(deliveries: readonly Delivery[]): void {
    for (const { handle } of deliveries) {
      const held = this.#out.get(Number(handle));
      if (held === undefined) continue;
      this.#out.delete(held.handle);
      held.attempt += 1;
      this.#waiting.push(held);
    }
    this.#waiting.sort((a, b) => a.handle - b.handle);
    this.#ring();
  }

  /** What is here goes back to the broker, for the next consumer. */
  close(): void {
    void this.#channel?.close();
  }

  async #consuming(): Promise<Channel> {
    if (this.#channel !== null && this.#beginning === null) return this.#channel;
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = null;
    });
    return this.#beginning;
  }

  async #begin(): Promise<Channel> {
    const queue = await this.#queues.ready(this.#lane);
    const channel = await this.#client.channel();
    channel.once("close", () => this.#ended(channel));
    // The queue is gone, and the channel is not: it would wait for ever.
    channel.once("basic.cancel", () => void channel.close());
    this.#channel = channel;
    try {
      await this.#client.within(channel.basicQos({ prefetchCount: heldMax }));
      const take = (message: AsyncMessage): void => this.#arrive(channel, message);
      await this.#client.within(channel.basicConsume({ queue }, take));
      return channel;
    } catch (error) {
      this.#ended(channel);
      void channel.close();
      throw unavailable(`consume ${queue}: ${messageOf(error)}`, error);
    }
  }

  #arrive(channel: Channel, { deliveryTag, body, headers }: AsyncMessage): void {
    if (this.#channel !== channel) return;
    const before = Number(headers?.["x-delivery-count"] ?? 0);
    this.#lastHandle += 1;
    this.#waiting.push({
      handle: this.#lastHandle,
      tag: deliveryTag,
      body: bytesOf(body),
      attempt: before + 1,
    });
    this.#ring();
  }

  #ended(channel: Channel): void {
    if (this.#channel !== channel) return;
    this.#channel = null;
    this.#waiting = [];
    this.#out.clear();
    this.#queues.forget(this.#lane);
    this.#ring();
  }

  /**
   * Whatever the broker has for us by now is here afterwards: it sends in order, and answers the
   * second question behind what the first has met on its way.
   */
  async #arrivedBy(channel: Channel): Promise<void> {
    try {
      await this.#client.within(this.#look(channel));
      await this.#client.within(this.#look(channel));
    } catch (error) {
      throw unavailable(`lane ${this.#lane}: ${messageOf(error)}`, error);
    }
    await nextTurn();
  }

  async #look(channel: Channel): Promise<void> {
    await channel.queueDeclare({ queue: this.#queues.nameOf(this.#lane), passive: true });
  }

  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const arrived = new AbortController();
    const stop = (): void => arrived.abort();
    this.#wake.add(stop);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted !== true) await this.#clock.sleep(ms, arrived.signal);
    signal?.removeEventListener("abort", stop);
    this.#wake.delete(stop);
  }

  #ring(): void {
    for (const wake of this.#wake) wake();
  }
}

/** The client reads some content types; ours has none, a stranger's may. */
function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : (JSON.stringify(body) ?? ""));
}
