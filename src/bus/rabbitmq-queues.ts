import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Lane } from "../domain/values.ts";
import { codeOf, type RabbitmqClient } from "./rabbitmq-client.ts";

/**
 * So high that no outage of the ledger reaches it: what is wrong with the content of a message
 * is counted by its reader, who sets it aside himself.
 */
export const deliveriesMax = 1_000_000;

/**
 * The broker saves the name of a new quorum queue half a second late (seen with 3.10.8). Killed
 * before, it comes back with an empty queue that has no leader: nothing is sent there until then.
 */
const namedAfterMs = 1_500;

/**
 * The queues of one ledger: a quorum queue for each lane, read by one consumer at a time, and one
 * for what the broker itself gives up. They are declared where they are missing, and otherwise
 * taken as they are: an operator may have made them, and the user need not be allowed to.
 */
export class RabbitmqQueues {
  readonly #client: RabbitmqClient;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #deliveriesMax: number;
  readonly #made = new Map<string, Promise<void>>();

  constructor(made: {
    client: RabbitmqClient;
    clock: Clock;
    prefix: string;
    deliveriesMax: number;
  }) {
    this.#client = made.client;
    this.#clock = made.clock;
    this.#prefix = made.prefix;
    this.#deliveriesMax = made.deliveriesMax;
  }

  nameOf(lane: Lane): string {
    return `${this.#prefix}.lane-${lane}`;
  }

  /** The name of the lane's queue, which is there. */
  async ready(lane: Lane): Promise<string> {
    const [name, dead] = [this.nameOf(lane), this.deadLetters];
    const settings = this.laneSettings();
    const making = [this.#once(dead, { "x-queue-type": "quorum" }), this.#once(name, settings)];
    await Promise.all(making);
    return name;
  }

  /** How the queue of a lane is declared. */
  laneSettings(): Readonly<Record<string, unknown>> {
    return {
      "x-queue-type": "quorum",
      "x-single-active-consumer": true,
      "x-delivery-limit": this.#deliveriesMax,
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": this.deadLetters,
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    };
  }

  /** Somebody has deleted it: it is looked at again before the next use. */
  forget(lane: Lane): void {
    this.#made.delete(this.nameOf(lane));
    this.#made.delete(this.deadLetters);
  }

  /** Messages that wait for a consumer. */
  async waiting(lane: Lane): Promise<number> {
    return (await this.depth(await this.ready(lane))) ?? 0;
  }

  async givenUp(): Promise<number> {
    return (await this.depth(this.deadLetters)) ?? 0;
  }

  get deadLetters(): string {
    return `${this.#prefix}.dead-letters`;
  }

  async #once(name: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
    const making = this.#made.get(name) ?? this.#make(name, settings);
    this.#made.set(name, making);
    try {
      await making;
    } catch (error) {
      if (this.#made.get(name) === making) this.#made.delete(name);
      throw error;
    }
  }

  async #make(name: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
    if ((await this.depth(name)) !== null) return;
    await this.#client.ask(`declare ${name}`, (channel) =>
      channel.queueDeclare({ queue: name, durable: true, arguments: { ...settings } }),
    );
    await this.#clock.sleep(namedAfterMs);
  }

  /** Messages of a queue that wait; null when it is not there. */
  depth(name: string): Promise<number | null> {
    return this.#client.ask(`queue ${name}`, async (channel) => {
      try {
        return (await channel.queueDeclare({ queue: name, passive: true })).messageCount;
      } catch (error) {
        if (codeOf(error) === "NOT_FOUND") return null;
        throw error;
      }
    });
  }
}

/** Nothing has been done of it, or nothing that could harm. */
export function unavailable(why: string, cause?: unknown): Fault {
  return new Fault("BUS_UNAVAILABLE", `RabbitMQ: ${why}`, cause);
}

export function unknown(why: string, cause?: unknown): Fault {
  return new Fault("BUS_UNKNOWN", `RabbitMQ: ${why}`, cause);
}
