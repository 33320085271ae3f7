import type { Clock } from "../clock.ts";
import type { Lane } from "../domain/values.ts";
import type { Bus, Delivery, ReceiveOptions } from "./bus.ts";
import { RabbitmqClient } from "./rabbitmq-client.ts";
import { RabbitmqLaneReader } from "./rabbitmq-lane-reader.ts";
import { RabbitmqPublisher } from "./rabbitmq-publisher.ts";
import { deliveriesMax, RabbitmqQueues } from "./rabbitmq-queues.ts";

export type RabbitmqBusOptions = {
  /** `amqp://USER:PASSWORD@HOST:PORT/VHOST`, or `amqps://…` */
  readonly url: string;
  readonly clock: Clock;
  readonly prefix?: string;
  readonly answerWithinMs?: number;
  /** What the broker has delivered so often goes to its dead letters. */
  readonly deliveriesMax?: number;
};

const answerWithinMs = 5_000;

/** A queue per lane on RabbitMQ 3.10 or later. */
export class RabbitmqBus implements Bus {
  readonly #clock: Clock;
  readonly #clients: { readonly reading: RabbitmqClient; readonly writing: RabbitmqClient };
  readonly #queues: RabbitmqQueues;
  readonly #publisher: RabbitmqPublisher;
  readonly #readers = new Map<Lane, RabbitmqLaneReader>();

  constructor(options: RabbitmqBusOptions) {
    const { url, clock, prefix = "holdfast" } = options;
    if (!URL.canParse(url)) throw new Error("bus: expected amqp://USER:PASSWORD@HOST:PORT/VHOST");
    const timing = { url, clock, answerWithinMs: options.answerWithinMs ?? answerWithinMs };
    const reading = new RabbitmqClient({ ...timing, name: `${prefix} reads` });
    const writing = new RabbitmqClient({ ...timing, name: `${prefix} writes` });
    this.#clock = clock;
    this.#clients = { reading, writing };
    this.#queues = new RabbitmqQueues({
      client: reading,
      clock,
      prefix,
      deliveriesMax: options.deliveriesMax ?? deliveriesMax,
    });
    this.#publisher = new RabbitmqPublisher(writing, this.#queues);
  }

  /** Makes the queues that are missing, so that none has to be made under a buyer. */
  async declareLanes(lanes: number): Promise<void> {
    const all = Array.from({ length: lanes }, (_, lane) => this.#queues.ready(lane));
    await Promise.all(all);
  }

  publish(lane: Lane, body: Buffer): Promise<void> {
    return this.#publisher.publish(lane, body);
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

  /** What another process has taken and not acknowledged, the broker does not tell. */
  async lag(lane: Lane): Promise<number> {
    const waiting = await this.#queues.waiting(lane);
    return waiting + (this.#readers.get(lane)?.held ?? 0);
  }

  givenUp(): Promise<number> {
    return this.#queues.givenUp();
  }

  async close(): Promise<void> {
    for (const reader of this.#readers.values()) reader.close();
    await this.#publisher.close();
    await Promise.all([this.#clients.reading.close(), this.#clients.writing.close()]);
  }

  #reader(lane: Lane): RabbitmqLaneReader {
    const known = this.#readers.get(lane);
    if (known !== undefined) return known;
    const client = this.#clients.reading;
    const reader = new RabbitmqLaneReader({
      lane,
      client,
      queues: this.#queues,
      clock: this.#clock,
    });
    this.#readers.set(lane, reader);
    return reader;
  }
}
