import { type ClusterUrl, clusterUrl } from "../config-values.ts";
import type { Lane } from "../domain/values.ts";
import { connected, messageOf } from "./client.ts";
import { laneTag, slotOf } from "./lane-tag.ts";

/** Where the server of a lane is, asked before each connection is made. */
export interface Places {
  /** Lanes live on different servers, so each needs a connection of its own. */
  readonly isCluster: boolean;
  urlOf(lane: Lane): Promise<string>;
}

export function placesOf(url: string): Places {
  const cluster = clusterUrl(url);
  if (cluster !== null) return new ClusterPlaces(cluster);
  return { isCluster: false, urlOf: () => Promise.resolve(url) };
}

/** One node that stands still must leave time to ask the next. */
const patience = { commandTimeout: 400, connectTimeout: 400 };

type Share = { readonly first: number; readonly last: number; readonly primary: string };

/**
 * The map of a cluster is asked for with each connection and kept for none: a failover or a
 * moved slot ends a connection, and the next one asks again. The nodes take turns in answering, so
 * that one which is cut off from the others, and does not know of it, is not believed for long.
 */
class ClusterPlaces implements Places {
  readonly isCluster = true;
  readonly #login: string;
  #nodes: readonly string[];
  #asking: Promise<readonly Share[]> | null = null;

  constructor({ login, nodes }: ClusterUrl) {
    this.#login = login;
    this.#nodes = nodes;
  }

  async urlOf(lane: Lane): Promise<string> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    const slot = slotOf(laneTag(lane));
    const share = (await this.#asking).find(({ first, last }) => first <= slot && slot <= last);
    if (share !== undefined) return this.#urlOf(share.primary);
    throw new Error(`Redis Cluster: nobody has slot ${slot}, which is that of lane ${lane}`);
  }

  async #ask(): Promise<readonly Share[]> {
    let why = "";
    for (const node of this.#nodes) {
      try {
        const { shares, nodes } = await this.#askNode(node);
        this.#nodes = [
          ...[...new Set([...this.#nodes, ...nodes])].filter((each) => each !== node),
          node,
        ];
        return shares;
      } catch (error) {
        why = `${node}: ${messageOf(error)}`;
      }
    }
    throw new Error(`Redis Cluster: none of its nodes answers; ${why}`);
  }

  async #askNode(node: string): Promise<{ shares: readonly Share[]; nodes: readonly string[] }> {
    const redis = await connected(this.#urlOf(node), patience);
    try {
      return readSlots(await redis.call("CLUSTER", "SLOTS"), node);
    } finally {
      redis.disconnect();
    }
  }

  #urlOf(node: string): string {
    return `redis://${this.#login}${node}`;
  }
}

/** A share is `[first slot, last slot, its primary, …its replicas]`, a node `[host, port, …]`. */
function readSlots(reply: unknown, asked: string): { shares: Share[]; nodes: string[] } {
  const shares: Share[] = [];
  const nodes = new Set<string>();
  for (const [first, last, ...places] of listOf(reply).map(listOf)) {
    const found = places.map((place) => nodeOf(place, asked));
    for (const each of found) nodes.add(each);
    const [primary] = found;
    if (primary !== undefined) shares.push({ first: Number(first), last: Number(last), primary });
  }
  return { shares, nodes: [...nodes] };
}

/** A node that does not know its own name is where it was asked. */
function nodeOf(place: unknown, asked: string): string {
  const [host, port] = listOf(place);
  const name = typeof host === "string" && host !== "" && host !== "?" ? host : hostOf(asked);
  return `${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}:${Number(port)}`;
}

function hostOf(node: string): string {
  return node.replace(/:\d+$/, "");
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error("CLUSTER SLOTS: expected a list");
}
