import type { Redis, RedisOptions } from "ioredis";
import { Fault } from "../domain/fault.ts";

/** Nothing waits in a queue of the client and nothing is sent twice; each connection lives once. */
export const busOptions = {
  protocol: 2,
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  reconnectOnError: null,
  enableReadyCheck: true,
  enableAutoPipelining: false,
  maxLoadingRetryTime: 100,
} as const satisfies RedisOptions;

const connectTimeoutMs = 2_000;

/** One connection at a time; the next call after its end makes another. */
export class RedisClient {
  readonly #url: string;
  readonly #commandTimeoutMs: number;
  #current: Promise<Redis> | null = null;
  #live: Redis | null = null;
  #closed = false;

  constructor(options: { readonly url: string; readonly commandTimeoutMs: number }) {
    this.#url = options.url;
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
      if (!isReply) this.#drop(redis);
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

  async #connect(): Promise<Redis> {
    const { Redis } = await import("ioredis").catch((error: unknown) => {
      throw new Error("The Redis client is not installed: npm install ioredis", { cause: error });
    });
    const commandTimeout = this.#commandTimeoutMs;
    const redis = new Redis(this.#url, {
      ...busOptions,
      commandTimeout,
      connectTimeout: connectTimeoutMs,
    });
    // Every call hears of its own error; without a listener the client prints them.
    let why: unknown = null;
    redis.on("error", (error) => {
      why = error;
    });
    try {
      await redis.connect();
      this.#live = redis;
      return redis;
    } catch (error) {
      redis.disconnect();
      throw new Fault("BUS_UNAVAILABLE", `Redis: ${messageOf(why ?? error)}`);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
