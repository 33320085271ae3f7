import type { Redis } from "ioredis";
import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import { connected, messageOf } from "../redis/client.ts";
import { parseReply, type ScriptName, type ScriptReply, scriptOf } from "./scripts.ts";

export type ConnectionOptions = {
  /** Asked before each connection is made. */
  readonly place: () => Promise<string>;
  readonly clock: Pick<Clock, "sleep">;
  /** After it the outcome of a call is unknown. */
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
};

const commandTimeoutMs = 2_000;
const connectTimeoutMs = 2_000;
const majorMin = 7;

/** Replies by which the server says that it has run nothing. */
const refusals: ReadonlySet<string> = new Set([
  ...["OOM", "LOADING", "READONLY", "BUSY", "MISCONF", "NOREPLICAS", "MASTERDOWN", "UNKILLABLE"],
  ...["CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "NOPERM", "WRONGPASS"],
]);
/** Of these, the ones after which another connection may do better. */
const displaced: ReadonlySet<string> = new Set([
  ...["LOADING", "READONLY", "MASTERDOWN", "MOVED", "CLUSTERDOWN"],
]);

/** The server's life and its place among replicas, as read when the connection was made. */
export class RedisServer {
  readonly #redis: Redis;
  /** The client says that it is ready until the other side has heard of the end, too. */
  #isEnded = false;
  readonly runId: string;
  readonly replication: string;

  constructor(redis: Redis, { runId, replication }: { runId: string; replication: string }) {
    this.#redis = redis;
    this.runId = runId;
    this.replication = replication;
  }

  /** The run id alone stays when a server is demoted and promoted again. */
  get incarnation(): string {
    return this.incarnationAt(this.replication);
  }

  incarnationAt(replication: string): string {
    return `${this.runId.slice(0, 16)}-${replication}`;
  }

  get isReady(): boolean {
    return !this.#isEnded && this.#redis.status === "ready";
  }

  async run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<ScriptReply> {
    const { sha, text } = scriptOf(name);
    try {
      return parseReply(name, await this.#redis.evalsha(sha, keys.length, ...keys, ...args));
    } catch (error) {
      // The script has not run: the same call with its text, and so with the same ids.
      if (!messageOf(error).startsWith("NOSCRIPT")) throw this.#faultOf(name, error);
    }
    try {
      return parseReply(name, await this.#redis.eval(text, keys.length, ...keys, ...args));
    } catch (error) {
      throw this.#faultOf(name, error);
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#redis.disconnect();
  }

  /** Ends once what was sent has been answered. */
  async leave(): Promise<void> {
    this.#isEnded = true;
    await this.#redis.quit().catch(() => this.end());
  }

  #faultOf(name: ScriptName, error: unknown): Fault {
    const why = messageOf(error);
    const [head = ""] = why.split(" ");
    if (refusals.has(head) || why.includes("isn't writeable")) {
      if (displaced.has(head)) void this.leave();
      return new Fault("HOT_UNAVAILABLE", `${name}: ${why}`, error);
    }
    // Others that wait on this connection would wait as long.
    if (why === "Command timed out") this.end();
    return new Fault("HOT_UNKNOWN", `${name}: ${why}`, error);
  }
}

/** Hands out a server that has been looked at, and makes the next connection when one has ended. */
export class RedisConnection {
  readonly #options: ConnectionOptions;
  #current: Promise<RedisServer> | null = null;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async server(): Promise<RedisServer> {
    const server = await this.#reached();
    if (server.isReady) return server;
    this.#current = null;
    return this.#reached();
  }

  /** This server is not what was seen of it: look again. What is under way is not cut off. */
  async renew(server: RedisServer): Promise<void> {
    const current = this.#current;
    if ((await current?.catch(() => null)) !== server || this.#current !== current) return;
    this.#current = null;
    await server.leave();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const current = this.#current;
    this.#current = null;
    (await current?.catch(() => null))?.end();
  }

  async #reached(): Promise<RedisServer> {
    if (this.#closed) throw new Fault("HOT_UNAVAILABLE", "the connection to Redis is closed");
    this.#current ??= this.#connect();
    const current = this.#current;
    const late = new AbortController();
    const patience = this.#options.connectTimeoutMs ?? connectTimeoutMs;
    try {
      const first = await Promise.race([
        current,
        this.#options.clock.sleep(patience, late.signal).then(() => null),
      ]);
      if (first !== null) return first;
      throw new Fault("HOT_UNAVAILABLE", `Redis is not ready within ${patience} ms`);
    } catch (error) {
      if (this.#current === current) this.#current = null;
      throw error;
    } finally {
      late.abort();
    }
  }

  async #connect(): Promise<RedisServer> {
    const { place, commandTimeoutMs: commandTimeout = commandTimeoutMs } = this.#options;
    const { connectTimeoutMs: connectTimeout = connectTimeoutMs } = this.#options;
    let redis: Redis | null = null;
    try {
      redis = await connected(await place(), { commandTimeout, connectTimeout });
      return new RedisServer(redis, look(await redis.info()));
    } catch (error) {
      redis?.disconnect();
      if (error instanceof Fault) throw error;
      throw new Fault("HOT_UNAVAILABLE", messageOf(error), error);
    }
  }
}

/** Version, role and policy are looked at before anything else is asked. */
function look(info: string): { runId: string; replication: string } {
  const value = (name: string): string =>
    new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const major = Number(value("redis_version").split(".")[0]);
  const found = (what: string): Fault => new Fault("HOT_UNAVAILABLE", `Redis: ${what}`);
  if (major < majorMin) {
    throw found(`expected version ${majorMin} or later, found ${value("redis_version")}`);
  }
  if (value("role") !== "master") throw found(`expected a primary, found a ${value("role")}`);
  const policy = value("maxmemory_policy");
  if (policy !== "noeviction") {
    throw found(`expected maxmemory-policy noeviction, found ${policy}: it may drop stock`);
  }
  return { runId: value("run_id"), replication: value("master_replid") };
}
