import type { Lane } from "../domain/values.ts";
import { type Places, placesOf } from "../redis/places.ts";
import { type ConnectionOptions, RedisConnection } from "./redis-connection.ts";

export type ConnectionsOptions = Omit<ConnectionOptions, "place"> & {
  /** `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly url: string;
};

/**
 * One server has all lanes. In a cluster each lane has a connection of its own to its primary, so
 * what befalls one primary closes its lanes and no others.
 */
export class RedisConnections {
  readonly #options: ConnectionsOptions;
  readonly #places: Places;
  readonly #made = new Map<Lane, RedisConnection>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#places = placesOf(options.url);
  }

  of(lane: Lane): RedisConnection {
    const key = this.#places.isCluster ? lane : 0;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const place = (): Promise<string> => this.#places.urlOf(lane);
    const made = new RedisConnection({ ...this.#options, place });
    this.#made.set(key, made);
    return made;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values()].map((each) => each.close()));
  }
}
