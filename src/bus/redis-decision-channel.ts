import type { Redis } from "ioredis";
import type { Clock } from "../clock.ts";
import { connected } from "../redis/client.ts";
import { placesOf } from "../redis/places.ts";
import type { DecisionNews, Ear } from "./bus.ts";

export type DecisionChannelOptions = {
  /** `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly url: string;
  readonly clock: Pick<Clock, "sleep">;
  readonly prefix: string;
};

const patience = { commandTimeout: 2_000, connectTimeout: 2_000 };
const againAfterMs = 1_000;
/** Messages on their way; what comes beyond is left to those who ask the ledger. */
const onTheirWayMax = 64;
/** Ids hold no space, and none is empty. */
const between = " ";
const workWord = "";

/** Publish and subscribe on the hot stock's server; a cluster passes it on to all its nodes. */
export class DecisionChannel implements DecisionNews {
  readonly #urlOf: () => Promise<string>;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #channel: string;
  readonly #stop = new AbortController();
  #listening: Promise<void> = Promise.resolve();
  #speaking: Promise<Redis | null> | null = null;
  #onTheirWay = 0;
  /** Of work is told once at a time: what comes meanwhile is in the outbox before it is heard. */
  #isTellingOfWork = false;
  #hasMoreWork = false;

  constructor({ url, clock, prefix }: DecisionChannelOptions) {
    const places = placesOf(url);
    this.#urlOf = () => places.urlOf(0);
    this.#clock = clock;
    this.#channel = `${prefix}:decided`;
  }

  tell(ids: readonly string[]): void {
    if (this.#onTheirWay >= onTheirWayMax || this.#stop.signal.aborted) return;
    this.#onTheirWay += 1;
    void this.#publish(ids.join(between)).finally(() => {
      this.#onTheirWay -= 1;
    });
  }

  tellOfWork(): void {
    this.#hasMoreWork = true;
    if (!this.#isTellingOfWork) void this.#tellOfWork();
  }

  listen(ear: Ear): void {
    this.#listening = this.#listen(ear);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    (await this.#speaking)?.disconnect();
    await this.#listening;
  }

  async #tellOfWork(): Promise<void> {
    this.#isTellingOfWork = true;
    while (this.#hasMoreWork && !this.#stop.signal.aborted) {
      this.#hasMoreWork = false;
      await this.#publish(workWord);
    }
    this.#isTellingOfWork = false;
  }

  async #publish(message: string): Promise<void> {
    this.#speaking ??= this.#connect();
    const speaking = this.#speaking;
    const redis = await speaking;
    if (redis === null) return;
    try {
      await redis.publish(this.#channel, message);
    } catch {
      // Nothing depends on it; the next one goes over another connection.
      if (this.#speaking !== speaking) return;
      this.#speaking = null;
      redis.disconnect();
    }
  }

  /** Null while it cannot be; tried again after a while. */
  async #connect(): Promise<Redis | null> {
    try {
      return await connected(await this.#urlOf(), patience);
    } catch {
      const pause = this.#clock.sleep(againAfterMs, this.#stop.signal);
      void pause.then(() => {
        this.#speaking = null;
      });
      return null;
    }
  }

  async #listen(ear: Ear): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const redis = await this.#subscribed(ear);
      if (redis !== null) await ended(redis, signal);
      redis?.disconnect();
      if (!signal.aborted) await this.#clock.sleep(againAfterMs, signal);
    }
  }

  async #subscribed(ear: Ear): Promise<Redis | null> {
    try {
      const redis = await connected(await this.#urlOf(), patience);
      redis.on("message", (_channel: string, message: string) => {
        if (message === workWord) ear.work();
        else ear.decided(message.split(between));
      });
      await redis.subscribe(this.#channel);
      return redis;
    } catch {
      return null;
    }
  }
}

function ended(redis: Redis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    redis.once("end", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted || redis.status === "end") resolve();
  });
}
