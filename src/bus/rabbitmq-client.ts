import type { Channel, Connection } from "rabbitmq-client";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";

export type RabbitmqClientOptions = {
  readonly url: string;
  /** What the broker's own listing calls the connection. */
  readonly name: string;
  readonly clock: Clock;
  /** For each answer of the broker. */
  readonly answerWithinMs: number;
};

/** Two of them without a sign of life, and the connection is given up. */
const heartbeatSeconds = 5;
const connectWithinMs = 4_000;
const closeWithinMs = 1_000;
const channelsMax = 256;

/**
 * One connection at a time; the next call after its end makes another. The client's own way of
 * coming back is not used: it lets calls wait, where ours are told at once that nobody is there.
 */
export class RabbitmqClient {
  readonly #options: RabbitmqClientOptions;
  readonly #open = new Set<Connection>();
  #current: Promise<Connection> | null = null;
  #live: Connection | null = null;
  #blocked: string | null = null;
  #closed = false;

  constructor(options: RabbitmqClientOptions) {
    this.#options = options;
  }

  /** Why the broker takes no messages from this connection; null when it does. */
  get blocked(): string | null {
    return this.#blocked;
  }

  /** Of the caller, who closes it. It ends with its connection, and then emits `close`. */
  async channel(): Promise<Channel> {
    const connection = await this.#connection();
    return this.#answer("channel", connection.acquire());
  }

  /** A question on a channel of its own: one that is answered with an error takes its channel. */
  async ask<T>(what: string, act: (channel: Channel) => Promise<T>): Promise<T> {
    const channel = await this.channel();
    try {
      return await this.#answer(what, act(channel));
    } finally {
      void channel.close();
    }
  }

  /** Passes the broker's own errors; a missing answer ends the connection. */
  async within<T>(answer: Promise<T>): Promise<T> {
    const { clock, answerWithinMs } = this.#options;
    const live = this.#live;
    try {
      return await before(clock, answerWithinMs, answer);
    } catch (error) {
      if (error instanceof LateError && live !== null) this.#drop(live);
      throw error;
    }
  }

  /** Rejects as soon as the broker says that it takes no messages; call `stop` at last. */
  whenBlocked(): { readonly blocked: Promise<never>; readonly stop: () => void } {
    const connection = this.#live;
    let listener = (_reason: string): void => undefined;
    const blocked = new Promise<never>((_, reject) => {
      listener = (reason) => reject(new Error(`blocked: ${reason}`));
      connection?.on("connection.blocked", listener);
    });
    return { blocked, stop: () => connection?.off("connection.blocked", listener) };
  }

  /** Within its deadline, whatever the broker does: what it has not been told by then, it finds. */
  async close(): Promise<void> {
    this.#closed = true;
    const { clock } = this.#options;
    for (const connection of this.#open) {
      await before(clock, closeWithinMs, connection.close()).catch(() => undefined);
      this.#drop(connection);
    }
  }

  async #answer<T>(what: string, answer: Promise<T>): Promise<T> {
    try {
      return await this.within(answer);
    } catch (error) {
      throw new Fault("BUS_UNAVAILABLE", `RabbitMQ: ${what}: ${messageOf(error)}`, error);
    }
  }

  async #connection(): Promise<Connection> {
    const current = this.#current;
    const known = await current?.catch(() => null);
    if (known !== undefined && known !== null && this.#live === known) return known;
    if (this.#closed) throw new Fault("BUS_UNAVAILABLE", "the connection to RabbitMQ is closed");
    // Whoever comes meanwhile waits for the same connection.
    if (this.#current === current) this.#current = this.#connect();
    return this.#current ?? this.#connect();
  }

  async #connect(): Promise<Connection> {
    const { Connection } = await import("rabbitmq-client").catch((error: unknown) => {
      const how = "The RabbitMQ client is not installed: npm install rabbitmq-client";
      throw new Error(how, { cause: error });
    });
    const { url, name, clock, answerWithinMs } = this.#options;
    const connection = new Connection({
      url,
      connectionName: name,
      heartbeat: heartbeatSeconds,
      connectionTimeout: connectWithinMs,
      acquireTimeout: answerWithinMs,
      maxChannels: channelsMax,
      noDelay: true,
    });
    connection.setMaxListeners(0);
    this.#open.add(connection);
    try {
      await before(clock, connectWithinMs, this.#whenReady(connection));
      return connection;
    } catch (error) {
      this.#drop(connection);
      throw new Fault("BUS_UNAVAILABLE", `RabbitMQ: ${messageOf(error)}`, error);
    }
  }

  /** An error that no call hears of ends the connection; without a listener, the process. */
  #whenReady(connection: Connection): Promise<void> {
    connection.on("connection.blocked", (reason) => this.#block(connection, reason));
    connection.on("connection.unblocked", () => this.#block(connection, null));
    return new Promise((resolve, reject) => {
      connection.once("connection", () => {
        this.#live = connection;
        this.#blocked = null;
        resolve();
      });
      connection.on("error", (error) => {
        this.#drop(connection);
        reject(error);
      });
    });
  }

  #block(connection: Connection, reason: string | null): void {
    if (this.#live === connection) this.#blocked = reason;
  }

  #drop(connection: Connection): void {
    if (this.#live === connection) this.#live = null;
    this.#open.delete(connection);
    connection.unsafeDestroy();
  }
}

class LateError extends Error {}

async function before<T>(clock: Clock, ms: number, act: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = async (): Promise<never> => {
    await clock.sleep(ms, done.signal);
    throw new LateError(`no answer within ${ms} ms`);
  };
  try {
    return await Promise.race([act, late()]);
  } finally {
    done.abort();
  }
}

/** The broker's word for what it refused; empty when it said nothing. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message === "" ? codeOf(error) : message;
}
