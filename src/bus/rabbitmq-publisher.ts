import type { Channel } from "rabbitmq-client";
import { nextTurn } from "../clock.ts";
import type { Lane } from "../domain/values.ts";
import { codeOf, messageOf, type RabbitmqClient } from "./rabbitmq-client.ts";
import { type RabbitmqQueues, unavailable, unknown } from "./rabbitmq-queues.ts";

/**
 * Sends and waits for the broker's confirm. A connection of its own: when memory or disk are
 * short the broker stops reading from those that publish, and whoever acknowledges must go on.
 */
export class RabbitmqPublisher {
  readonly #client: RabbitmqClient;
  readonly #queues: RabbitmqQueues;
  /** Messages that no queue has taken; the broker confirms them all the same. */
  readonly #returned = new Set<string>();
  #channel: Promise<Channel> | null = null;
  #sent = 0;

  constructor(client: RabbitmqClient, queues: RabbitmqQueues) {
    this.#client = client;
    this.#queues = queues;
  }

  async publish(lane: Lane, body: Buffer): Promise<void> {
    this.#refuseBlocked();
    const queue = await this.#queues.ready(lane);
    const channel = await this.#confirming();
    this.#refuseBlocked();
    this.#sent += 1;
    const messageId = String(this.#sent);
    const message = { routingKey: queue, durable: true, mandatory: true, messageId };
    await this.#confirmed(channel.basicPublish(message, body));
    // A message that comes back comes before its confirm; the client tells of it a turn later.
    await nextTurn();
    if (!this.#returned.delete(messageId)) return;
    this.#queues.forget(lane);
    throw unavailable(`${queue} is not there: the message came back`);
  }

  /** What is written now would wait in memory, here and for nobody knows how long. */
  #refuseBlocked(): void {
    const { blocked } = this.#client;
    if (blocked !== null) throw unavailable(`the broker takes no messages: ${blocked}`);
  }

  async #confirmed(sent: Promise<void>): Promise<void> {
    const { blocked, stop } = this.#client.whenBlocked();
    try {
      await this.#client.within(Promise.race([sent, blocked]));
    } catch (error) {
      if (codeOf(error) === "NACK") throw unavailable("the broker refused the message", error);
      // Of a connection that is gone, though its channel has not heard; a blocked one goes on.
      if (this.#client.blocked === null) this.#channel = null;
      throw unknown(`no confirm: ${messageOf(error)}`, error);
    } finally {
      stop();
    }
  }

  async #confirming(): Promise<Channel> {
    const current = this.#channel;
    const known = await current?.catch(() => null);
    if (known?.active === true) return known;
    if (this.#channel === current) this.#channel = this.#begin();
    return this.#channel ?? this.#begin();
  }

  async #begin(): Promise<Channel> {
    const channel = await this.#client.channel();
    this.#returned.clear();
    channel.on("basic.return", ({ messageId }) => this.#returned.add(messageId ?? ""));
    try {
      await this.#client.within(channel.confirmSelect());
      return channel;
    } catch (error) {
      throw unavailable(`confirms: ${messageOf(error)}`, error);
    }
  }

  async close(): Promise<void> {
    const channel = await this.#channel?.catch(() => null);
    void channel?.close();
  }
}
