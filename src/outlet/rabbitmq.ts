import type { Channel, Envelope } from "rabbitmq-client";
import { codeOf, messageOf, RabbitmqClient } from "../bus/rabbitmq-client.ts";
import { unavailable, unknown } from "../bus/rabbitmq-queues.ts";
import { type Clock, nextTurn } from "../clock.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "./outlet.ts";

export type RabbitmqOutletOptions = {
  /** `amqp://USER:PASSWORD@HOST:PORT/VHOST`, or `amqps://…` */
  readonly url: string;
  readonly clock: Clock;
  readonly prefix: string;
  readonly answerWithinMs?: number;
};

const answerWithinMs = 5_000;
const atATime = 100;

/**
 * A durable topic exchange: who binds a queue gets what it asks for, and an event that nobody asks
 * for is gone. The confirm counts. All of a batch are on their way at once, over one channel, which
 * the broker reads in order.
 */
export class RabbitmqOutlet implements Outlet {
  readonly batchMax = 500;
  readonly place: string;
  readonly #client: RabbitmqClient;
  readonly #exchange: string;
  #channel: Promise<Channel> | null = null;

  constructor({ url, clock, prefix, ...options }: RabbitmqOutletOptions) {
    this.#exchange = `${prefix}.events`;
    this.place = `exchange ${this.#exchange}`;
    this.#client = new RabbitmqClient({
      url,
      name: `${prefix} events`,
      clock,
      answerWithinMs: options.answerWithinMs ?? answerWithinMs,
    });
  }

  async deliver(events: readonly CloudEvent[]): Promise<void> {
    this.#refuseBlocked();
    const channel = await this.#confirming();
    this.#refuseBlocked();
    const told = new Set<CloudEvent>();
    let refused: unknown = null;
    const send = async (event: CloudEvent): Promise<void> => {
      try {
        await channel.basicPublish(this.#envelope(event), bodyOf(event));
        told.add(event);
      } catch (error) {
        refused ??= error;
      }
    };
    const sent: Promise<void>[] = [];
    for (const event of events) {
      sent.push(send(event));
      // Buyers get their turn.
      if (sent.length % atATime === 0) await nextTurn();
    }
    await this.#answered(sent).catch((error: unknown) => {
      refused ??= error;
    });
    if (refused !== null) throw this.#failed(told, refused);
  }

  /** The exchange is there; what is there already is taken as it is. */
  async prepare(): Promise<void> {
    const exchange = this.#exchange;
    const isThere = await this.#client.ask(`exchange ${exchange}`, async (channel) => {
      try {
        await channel.exchangeDeclare({ exchange, passive: true });
        return true;
      } catch (error) {
        if (codeOf(error) === "NOT_FOUND") return false;
        throw error;
      }
    });
    if (isThere) return;
    await this.#client.ask(`declare ${exchange}`, (channel) =>
      channel.exchangeDeclare({ exchange, type: "topic", durable: true }),
    );
  }

  async close(): Promise<void> {
    const channel = await this.#channel?.catch(() => null);
    void channel?.close();
    await this.#client.close();
  }

  /** Until each of them is answered, the broker stops reading, or the deadline has passed. */
  async #answered(sent: readonly Promise<void>[]): Promise<void> {
    const { blocked, stop } = this.#client.whenBlocked();
    try {
      await this.#client.within(Promise.race([Promise.all(sent), blocked]));
    } finally {
      stop();
    }
  }

  /** What is written now would wait in memory, here and for nobody knows how long. */
  #refuseBlocked(): void {
    const { blocked } = this.#client;
    if (blocked !== null) throw unavailable(`the broker takes no events: ${blocked}`);
  }

  #failed(told: ReadonlySet<CloudEvent>, why: unknown): NotAllTold {
    // Of a connection that is gone, though its channel has not heard; a blocked one goes on.
    if (this.#client.blocked === null) this.#channel = null;
    const isRefusal = codeOf(why) === "NACK";
    const words = isRefusal ? "the broker refused an event" : `no confirm: ${messageOf(why)}`;
    return new NotAllTold(told, isRefusal ? unavailable(words, why) : unknown(words, why));
  }

  async #confirming(): Promise<Channel> {
    const known = await this.#channel?.catch(() => null);
    if (known?.active === true) return known;
    this.#channel = this.#begin();
    return this.#channel;
  }

  async #begin(): Promise<Channel> {
    await this.prepare();
    const channel = await this.#client.channel();
    try {
      await this.#client.within(channel.confirmSelect());
      return channel;
    } catch (error) {
      throw unavailable(`confirms: ${messageOf(error)}`, error);
    }
  }

  /** CloudEvents' binary mode: the attributes are headers, the data is the body. */
  #envelope(event: CloudEvent): Envelope {
    const { specversion, id, source, type, subject, time, dataschema } = event;
    const attributes = { specversion, id, source, type, subject, time, dataschema };
    return {
      exchange: this.#exchange,
      routingKey: `stock.${event.data.operation}.${subject}`,
      durable: true,
      messageId: id,
      type,
      contentType: event.datacontenttype,
      headers: Object.fromEntries(
        Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name}`, value]),
      ),
    };
  }
}

function bodyOf({ data }: CloudEvent): Buffer {
  return Buffer.from(JSON.stringify(data));
}
