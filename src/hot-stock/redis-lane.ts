import { Fault } from "../domain/fault.ts";
import { type Lane, type SkuId, skuId } from "../domain/values.ts";
import type { ClosedReason, Fence, Reply } from "./hot-stock.ts";
import type { Keys } from "./keys.ts";
import type { RedisConnection, RedisServer } from "./redis-connection.ts";
import { recordOf, type TicketRecord } from "./redis-words.ts";
import { decimal, type ScriptName } from "./scripts.ts";

export type Call = {
  readonly name: ScriptName;
  /** Whose keys the script gets behind those of the lane. */
  readonly skus?: readonly SkuId[];
  readonly args?: readonly string[];
};

export type Read = {
  readonly server: RedisServer;
  readonly word: string;
  readonly words: readonly string[];
};

const pageOf = "500";

/** One lane of one Redis: what its scripts are called with and what they answer. */
export class RedisLane {
  readonly lane: Lane;
  readonly #connection: RedisConnection;
  readonly #keys: Keys;

  constructor(connection: RedisConnection, keys: Keys, lane: Lane) {
    this.#connection = connection;
    this.#keys = keys;
    this.lane = lane;
  }

  /** For the hot stock that the fence means; any other is closed to it. */
  async run(fence: Fence, { name, skus = [], args = [] }: Call): Promise<Reply<readonly string[]>> {
    const server = await this.#connection.server();
    if (server.incarnation !== fence.incarnation) return { closed: true, why: "incarnation" };
    const fencing = [decimal(fence.epoch), server.replication];
    const reply = await server.run(name, this.#keysOf(skus), [...fencing, ...args]);
    const [word, ...words] = reply;
    if (word !== "CLOSED") return { closed: false, value: words };
    const why = closedReason(words[0]);
    // Promoted, or demoted, since the connection was made.
    if (why === "incarnation") await this.#connection.renew(server);
    return { closed: true, why };
  }

  /** Without a fence: says what is there, whatever it is. */
  async read(
    name: ScriptName,
    args: readonly string[],
    skus: readonly SkuId[] = [],
  ): Promise<Read> {
    const server = await this.#connection.server();
    const [word, ...words] = await server.run(name, this.#keysOf(skus), args);
    const isHead = name === "outbox" || name === "observe";
    // Promoted since the connection was made: what it answers holds, what comes next is another.
    if (isHead && words[0] !== server.replication) await this.#connection.renew(server);
    if (word !== "NOT_PRIMARY") return { server, word, words };
    throw new Fault("HOT_UNAVAILABLE", `${name}: the server is not a primary any more`);
  }

  /** Every SKU that the lane ever had. */
  async skus(): Promise<readonly SkuId[]> {
    const found = new Set<SkuId>();
    let cursor = "0";
    do {
      const { words } = await this.read("skus", [cursor, pageOf]);
      const [next = "0", ...page] = words;
      for (const sku of page) found.add(skuId(sku));
      cursor = next;
    } while (cursor !== "0");
    return [...found];
  }

  /** Tickets in flight, page by page, in the order in which they were admitted. */
  async tickets(
    fence: Fence,
    name: "held-tickets" | "overdue",
    args: readonly string[] = [],
  ): Promise<Reply<readonly TicketRecord[]>> {
    const found = new Map<string, TicketRecord>();
    let cursor = "0";
    do {
      const call = await this.run(fence, { name, args: [...args, cursor, pageOf] });
      if (call.closed) return call;
      const [next = "0", ...page] = call.value;
      for (let at = 0; at < page.length; at += 2) {
        const id = page[at] ?? "";
        found.set(id, recordOf(id, page[at + 1] ?? ""));
      }
      cursor = next;
    } while (cursor !== "0");
    const order = [...found.values()].sort((a, b) => a.admittedAt - b.admittedAt || a.seq - b.seq);
    return { closed: false, value: order };
  }

  #keysOf(skus: readonly SkuId[]): readonly string[] {
    const ofSkus = skus.flatMap((sku) => this.#keys.sku(this.lane, sku));
    return [...this.#keys.lane(this.lane), ...ofSkus];
  }
}

/** How scripts that look at SKUs by name are told them. */
export function skuArguments(skus: readonly SkuId[]): readonly string[] {
  return [String(skus.length), ...skus];
}

function closedReason(word = ""): ClosedReason {
  switch (word) {
    case "incarnation":
    case "epoch":
    case "rebuilding":
    case "open":
      return word;
    default:
      throw new TypeError(`a script is closed for an unknown reason: ${word}`);
  }
}
