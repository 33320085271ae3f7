import type { Lane, SkuId } from "../domain/values.ts";

/**
 * The only file that spells a Redis key. All keys of a lane share its hash tag, so they live on
 * one node of a cluster; ids cannot hold a brace. The order is that of `lua/include/lane.lua`.
 */
export class Keys {
  readonly #prefix: string;

  constructor(prefix = "holdfast") {
    this.#prefix = prefix;
  }

  lane(lane: Lane): readonly string[] {
    return laneKeys.map((name) => `${this.#prefix}:{${lane}}:${name}`);
  }

  sku(lane: Lane, sku: SkuId): readonly string[] {
    return skuKeys.map((name) => `${this.#prefix}:{${lane}}:${name}:${sku}`);
  }

  /** The stream of the bus; beside the lane's hot stock, and none of its scripts touches it. */
  bus(lane: Lane): string {
    return `${this.#prefix}:{${lane}}:bus`;
  }
}

const laneKeys = [
  "lane",
  "outbox",
  "tickets",
  "answers",
  "policies",
  "flights",
  "voids",
  "tombstones",
  "registered",
] as const;

const skuKeys = ["stock", "buyers", "ids"] as const;
