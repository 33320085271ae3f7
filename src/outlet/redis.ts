import { RedisClient } from "../bus/redis-client.ts";
import { Fault } from "../domain/fault.ts";
import { laneTag } from "../redis/lane-tag.ts";
import { placesOf } from "../redis/places.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "./outlet.ts";

export type RedisOutletOptions = {
  /** `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly url: string;
  readonly prefix: string;
  readonly commandTimeoutMs?: number;
  /** About so many events stay in the stream; the oldest go first. */
  readonly keptMax?: number;
};

const commandTimeoutMs = 5_000;
/**
 * KEYS[1] the stream; ARGV[1] how many it keeps, then the events. One call for many: the client
 * spends its time on commands, not on bytes. The first write may be refused, and then none is.
 */
const addAll = `
  for i = 2, #ARGV do
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'event', ARGV[i])
  end
  return #ARGV - 1`;
/** Some 50 MB. Who comes later reads the entries of the API. */
const keptMax = 50_000;
const togetherMax = 100;
const homeLane = 0;

/**
 * One stream, beside the first lane, with each event as JSON in the field `event`. A part of a
 * batch is stored together or not at all, so no later event of a SKU is there without the earlier.
 */
export class RedisOutlet implements Outlet {
  readonly batchMax = 2_000;
  readonly place: string;
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #keptMax: string;

  constructor(options: RedisOutletOptions) {
    const places = placesOf(options.url);
    this.#key = `${options.prefix}:{${laneTag(homeLane)}}:events`;
    this.place = `stream ${this.#key}`;
    this.#keptMax = String(options.keptMax ?? keptMax);
    this.#client = new RedisClient({
      place: () => places.urlOf(homeLane),
      commandTimeoutMs: options.commandTimeoutMs ?? commandTimeoutMs,
    });
  }

  async deliver(events: readonly CloudEvent[]): Promise<void> {
    for (let at = 0; at < events.length; at += togetherMax) {
      const part = events.slice(at, at + togetherMax);
      try {
        await this.#add(part.map((event) => JSON.stringify(event)));
      } catch (error) {
        throw new NotAllTold(new Set(events.slice(0, at)), error);
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #add(texts: readonly string[]): Promise<void> {
    const added = await this.#client.call("EVAL", addAll, "1", this.#key, this.#keptMax, ...texts);
    if (added !== texts.length) throw new Fault("BUS_UNKNOWN", "EVAL: expected a number");
  }
}
