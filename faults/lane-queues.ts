import { Connection } from "rabbitmq-client";
import { lanePlaceOf } from "../src/wire.ts";
import { until } from "./injections.ts";
import type { Scene } from "./scene.ts";

/** The queues of this scene's lanes, as the broker itself knows them. */
export class LaneQueues {
  readonly #connection: Connection;
  readonly #names: readonly string[];

  private constructor(connection: Connection, names: readonly string[]) {
    this.#connection = connection;
    this.#names = names;
  }

  static async of(scene: Scene): Promise<LaneQueues> {
    const place = await lanePlaceOf(scene.ledgerUrl);
    if (place === null) throw new Error("the ledger does not say how its lanes are named");
    const names = Array.from({ length: place.count }, (_, lane) => `${place.prefix}.lane-${lane}`);
    const { url } = await scene.shared.rabbitmq();
    const connection = new Connection({ url, connectionName: "faults" });
    connection.on("error", () => undefined);
    return new LaneQueues(connection, names);
  }

  /**
   * Asked of the queue itself, which knows: what the management commands list of a quorum queue is
   * a figure that is some seconds old.
   */
  async waiting(): Promise<number> {
    let messages = 0;
    for (const queue of this.#names) {
      const { messageCount } = await this.#connection.queueDeclare({ queue, passive: true });
      messages += messageCount;
    }
    return messages;
  }

  /** How many messages there were, by the word of the broker. */
  async purge(): Promise<number> {
    let purged = 0;
    for (const queue of this.#names) {
      purged += (await this.#connection.queuePurge({ queue })).messageCount;
    }
    return purged;
  }

  /** How many messages there were, by the word of the broker. */
  async drop(): Promise<number> {
    let dropped = 0;
    for (const queue of this.#names) {
      dropped += (await this.#connection.queueDelete({ queue })).messageCount;
    }
    return dropped;
  }

  /** As anybody could who may write to the broker: into each lane, confirmed. */
  async publish(bodies: readonly Buffer[]): Promise<void> {
    const publisher = this.#connection.createPublisher({ confirm: true });
    for (const routingKey of this.#names) {
      const sent = bodies.map((body) => publisher.send({ routingKey, durable: true }, body));
      await Promise.all(sent);
    }
    await publisher.close();
  }

  /** One of the messages that wait; it stays where it is. */
  async copy(): Promise<Buffer> {
    for (const queue of this.#names) {
      if ((await this.#connection.queueDeclare({ queue, passive: true })).messageCount === 0)
        continue;
      const channel = await this.#connection.acquire();
      const came = new Promise<unknown>((resolve, reject) => {
        channel.basicConsume({ queue }, ({ body }) => resolve(body)).catch(reject);
      });
      const body = await came;
      // Not acknowledged: it comes back with the end of its channel.
      await channel.close();
      if (Buffer.isBuffer(body)) return body;
    }
    throw new Error("no message waits");
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** For as long as the work takes. */
export async function withQueues<T>(
  scene: Scene,
  work: (queues: LaneQueues) => Promise<T>,
): Promise<T> {
  const queues = await LaneQueues.of(scene);
  try {
    return await work(queues);
  } finally {
    await queues.close();
  }
}

/** While nobody reads the queues there is something in them, sooner or later. */
export function eachQueue(
  scene: Scene,
  act: (queues: LaneQueues) => Promise<number>,
): Promise<number> {
  return withQueues(scene, async (queues) => {
    await scene.behind.crash();
    await until(async () => (await queues.waiting()) > 0);
    const hit = await act(queues);
    await scene.behind.start(null);
    return hit;
  });
}
