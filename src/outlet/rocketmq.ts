import { mendTopic } from "../bus/rocketmq-admin.ts";
import { RocketmqClient } from "../bus/rocketmq-client.ts";
import type { Judge } from "../bus/rocketmq-client-thread.ts";
import {
  type EventsTopic,
  eventsTopic,
  missingTopicText,
  placeOf,
  type RocketmqPlace,
} from "../bus/rocketmq-names.ts";
import type { EventMessage } from "../bus/rocketmq-protocol.ts";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "./outlet.ts";

export type RocketmqOutletOptions = {
  /** `rocketmq://[access key:secret@]host:8081[?broker=host:10911]` */
  readonly url: string;
  readonly clock: Clock;
  readonly prefix: string;
  /** How transactional messages are answered for when the broker asks; without it, ordered ones. */
  readonly checkBack?: Judge;
};

const timing = { requestTimeoutMs: 3_000, pollMs: 3_000 };
/** Sends at once; of a SKU whose order counts there is one. */
const onTheirWayMax = 32;
/** Then what is left is told in another round: nobody who stops waits for a slow broker. */
const roundMs = 4_000;
const looksMax = 5;
const betweenLooksMs = 6_000;

/**
 * One topic, which must be there before. Ordered: FIFO, and each SKU a message group, whose next
 * event is sent when the broker has answered SEND_OK for the one before. Transactional: each event
 * is half a message that is committed at once, because its entry is in the ledger already; who dies
 * in between is answered for by any other process. That has no order.
 */
export class RocketmqOutlet implements Outlet {
  readonly batchMax = 200;
  readonly place: string;
  readonly #clock: Clock;
  readonly #place: RocketmqPlace;
  readonly #topic: EventsTopic;
  readonly #client: RocketmqClient;

  constructor({ url, clock, prefix, checkBack }: RocketmqOutletOptions) {
    this.#clock = clock;
    this.#place = placeOf(url);
    this.#topic = eventsTopic(prefix, checkBack === undefined ? "FIFO" : "TRANSACTION");
    this.#client = new RocketmqClient({ ...this.#place, ...timing }, clock, checkBack);
    this.place = `topic ${this.#topic.name}`;
  }

  /**
   * Throws, with what to type, when the topic is not there or of another kind. It is made instead
   * when the URL says where. Of a server that is away nothing is known.
   */
  async prepare(): Promise<void> {
    const { broker } = this.#place;
    if (broker !== null) await mendTopic(broker, this.#topic);
    for (let looks = 1; ; looks += 1) {
      const missing = missingTopicText(this.#topic, await this.#look());
      if (missing === null) return;
      // A proxy that was asked too early remembers for a while that nothing was there.
      if (broker === null || looks === looksMax) throw new Error(missing);
      await this.#clock.sleep(betweenLooksMs);
    }
  }

  /** After the first that fails nothing more is sent: it ends soon, whatever the server does. */
  async deliver(events: readonly CloudEvent[]): Promise<void> {
    const until = this.#clock.mono() + roundMs;
    const told = new Set<CloudEvent>();
    const failures: unknown[] = [];
    const lines = (this.#topic.type === "FIFO" ? bySku(events) : apart(events))[Symbol.iterator]();
    const tellLines = async (): Promise<void> => {
      for (const line of lines) {
        for (const event of line) {
          if (failures.length > 0) return;
          if (this.#clock.mono() > until) throw tooSlow();
          await this.#tell(event);
          told.add(event);
        }
      }
    };
    const telling = Array.from({ length: onTheirWayMax }, () =>
      tellLines().catch((error: unknown) => void failures.push(error)),
    );
    await Promise.all(telling);
    if (failures.length > 0) throw new NotAllTold(told, failures[0]);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #tell(event: CloudEvent): Promise<void> {
    const isTransaction = this.#topic.type === "TRANSACTION";
    await this.#client.tell(this.#topic.name, { ...messageOf(event), isTransaction });
  }

  /** By a client of its own: it remembers what was not there. */
  async #look(): Promise<Parameters<typeof missingTopicText>[1]> {
    const looking = new RocketmqClient({ ...this.#place, ...timing }, this.#clock);
    try {
      return await looking.examine(this.#topic);
    } catch (error) {
      if (error instanceof Fault) return "right";
      throw error;
    } finally {
      await looking.close();
    }
  }
}

function tooSlow(): Fault {
  return new Fault("BUS_UNAVAILABLE", `RocketMQ: not all events within ${roundMs} ms`);
}

function bySku(events: readonly CloudEvent[]): readonly (readonly CloudEvent[])[] {
  const lines = new Map<string, CloudEvent[]>();
  for (const event of events) {
    const line = lines.get(event.subject);
    if (line === undefined) lines.set(event.subject, [event]);
    else line.push(event);
  }
  return [...lines.values()];
}

function apart(events: readonly CloudEvent[]): readonly (readonly CloudEvent[])[] {
  return events.map((event) => [event]);
}

/** CloudEvents' binary mode: the attributes are properties, the data is the body. */
function messageOf(event: CloudEvent): Omit<EventMessage, "isTransaction"> {
  const { data, ...attributes } = event;
  return {
    group: event.subject,
    tag: data.operation,
    key: event.id,
    properties: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value]),
    ),
    body: Buffer.from(JSON.stringify(data)),
  };
}
