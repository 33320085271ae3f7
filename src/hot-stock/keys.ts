import type { Lane, SkuId } from "../domain/values.ts";
import { laneTag } from "../redis/lane-tag.ts";

/**
 * The only file that spells a key of hot stock. All keys of a lane share its hash tag, so they live
 * on one node of a cluster; ids cannot hold a brace. The order is that of `lua/include/lane.lua`.
 */
export class Keys {
  readonly #prefix: string;

  constructor(prefix = "holdfast") {
    this.#prefix = prefix;
  }

  lane(lane: Lane): readonly string[] {
    return laneKeys.map((name) => `${this.#prefix}:{${laneTag(lane)}}:${name}`);
  }

  sku(lane: Lane, sku: SkuId): readonly string[] {
    return skuKeys.map((name) => `${this.#prefix}:{${laneTag(lane)}}:${name}:${sku}`);
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
