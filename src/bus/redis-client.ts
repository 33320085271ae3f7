import type { Redis } from "ioredis";
import { Fault } from "../domain/fault.ts";
import { connected, messageOf } from "../redis/client.ts";

const connectTimeoutMs = 2_000;
const displaced = /^(MOVED|CLUSTERDOWN|READONLY|MASTERDOWN) /;

/** One connection at a time; the next call after its end makes another. */
export class RedisClient {
  readonly #place: () => Promise<string>;
  readonly #commandTimeoutMs: number;
  #current: Promise<Redis> | null = null;
  #live: Redis | null = null;
  #closed = false;

  /** `place` is asked before each connection is made. */
  constructor(options: {
    readonly place: () => Promise<string>;
    readonly commandTimeoutMs: number;
  }) {
    this.#place = options.place;
    this.#commandTimeoutMs = options.commandTimeoutMs;
  }

  /** Bulk strings come as buffers. */
  async call(command: string, ...args: readonly (string | Buffer)[]): Promise<unknown> {
    const redis = await this.#redis();
    try {
      return await redis.callBuffer(command, ...args);
    } catch (error) {
      const why = messageOf(error);
      // A reply of the server: it is alive, and has done nothing of this.
      const isReply = /^[A-Z]+ /.test(why) || why.includes("isn't writeable");
      // Another connection may find the primary; what was sent on this one ends by its deadline.
      if (displaced.test(why)) this.#leave(redis);
      else if (!isReply) this.#drop(redis);
      throw new Fault(isReply ? "BUS_UNAVAILABLE" : "BUS_UNKNOWN", `${command}: ${why}`, error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    (await this.#current?.catch(() => null))?.disconnect();
  }

  async #redis(): Promise<Redis> {
    const current = this.#current;
    const known = await current?.catch(() => null);
    if (known?.status === "ready" && this.#live === known) return known;
    if (this.#closed) throw new Fault("BUS_UNAVAILABLE", "the connection to Redis is closed");
    // Whoever comes meanwhile waits for the same connection.
    if (this.#current === current) this.#current = this.#connect();
    return this.#current ?? this.#connect();
  }

  /** The client says that it is ready until the other side has heard of the end, too. */
  #drop(redis: Redis): void {
    if (this.#live === redis) this.#live = null;
    redis.disconnect();
  }

  #leave(redis: Redis): void {
    if (this.#live === redis) this.#live = null;
    redis.quit().catch(() => redis.disconnect());
  }

  async #connect(): Promise<Redis> {
    const commandTimeout = this.#commandTimeoutMs;
    try {
      const redis = await connected(await this.#place(), {
        commandTimeout,
        connectTimeout: connectTimeoutMs,
      });
      this.#live = redis;
      return redis;
    } catch (error) {
      throw new Fault("BUS_UNAVAILABLE", messageOf(error), error);
    }
  }
}
