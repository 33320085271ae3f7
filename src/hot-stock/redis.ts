import type { Clock, Random } from "../clock.ts";
import type { SalePolicy } from "../domain/sale.ts";
import type { HotLevel, HotStatus, Snapshot } from "../domain/snapshot.ts";
import type { LaneItem, Ticket } from "../domain/ticket.ts";
import { epoch, type Lane, type SaleId, type SkuId, skuId } from "../domain/values.ts";
import type {
  Admission,
  Fence,
  HotLookup,
  HotStock,
  KnownIds,
  Left,
  LoadReply,
  Observation,
  OutboxHead,
  OverdueTicket,
  Projection,
  ProjectReply,
  Reply,
} from "./hot-stock.ts";
import { Keys } from "./keys.ts";
import { admissionOf, batchesOf } from "./redis-admit.ts";
import { RedisConnections } from "./redis-connections.ts";
import { type Call, RedisLane, skuArguments } from "./redis-lane.ts";
import { loadLane } from "./redis-load.ts";
import { observeLane } from "./redis-observe.ts";
import { projectLane } from "./redis-project.ts";
import {
  answerOf,
  itemOf,
  itemWords,
  numberOrNull,
  policyWords,
  recordOf,
  type TicketRecord,
} from "./redis-words.ts";
import { decimal } from "./scripts.ts";

export type RedisHotStockOptions = {
  /** `redis://…`, `rediss://…` or `redis-cluster://…` */
  readonly url: string;
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Pick<Random, "bytes">;
  /** Stands before every key: two installations may share a server. */
  readonly prefix?: string;
  /** Tickets in flight per lane; past it a new one is told that the lane is busy. */
  readonly ticketsMax?: number;
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
};

/** Entries of a hash that one script call looks at, about. */
const pageOf = "500";
const idsPage = 2_000;
const forwardMax = 1_000;

/**
 * Hot stock on Redis 7 or Valkey. Every decision is one script on the lane's primary; nothing is
 * decided here. What is known of the server is looked at anew on each connection, and the script
 * compares the replication id itself, so a failover between two calls is not missed.
 */
export class RedisHotStock implements HotStock {
  readonly #connections: RedisConnections;
  readonly #keys: Keys;
  readonly #random: Pick<Random, "bytes">;
  readonly #ticketsMax: number;

  constructor(options: RedisHotStockOptions) {
    this.#connections = new RedisConnections(options);
    this.#keys = new Keys(options.prefix);
    this.#random = options.random;
    this.#ticketsMax = options.ticketsMax ?? 100_000;
  }

  async incarnation(lane: Lane): Promise<string> {
    const head = await this.outbox(lane, 1);
    return head.incarnation;
  }

  async admit(fence: Fence, tickets: readonly Ticket[]): Promise<Reply<readonly Admission[]>> {
    const admissions: Admission[] = [];
    for (const batch of batchesOf(tickets)) {
      const call = await this.#fenced(fence, "admit", {
        skus: batch.skus,
        args: [decimal(this.#ticketsMax), ...skuArguments(batch.skus), ...batch.words],
      });
      if (call.closed) return call;
      const [now, ...words] = call.value;
      admissions.push(...words.map((each) => admissionOf(each, Number(now))));
    }
    return done(admissions);
  }

  async enqueue(fence: Fence, item: LaneItem): Promise<Reply<"queued" | "known">> {
    const given = item.kind === "void" ? item.id : "%";
    const carried = item.kind === "void" && item.ticket !== null ? "1" : "0";
    const args = [itemWords(item), given, carried];
    const call = await this.#fenced(fence, "enqueue", { args });
    return call.closed ? call : done(call.value[0] === "known" ? "known" : "queued");
  }

  async mark(fence: Fence): Promise<Reply<number>> {
    const call = await this.#fenced(fence, "mark", {});
    return call.closed ? call : done(Number(call.value[0]));
  }

  async outbox(lane: Lane, limit: number): Promise<OutboxHead> {
    const { server, words } = await this.#lane(lane).read("outbox", [decimal(limit)]);
    const [replication = "", stamp, length, oldest, ...rest] = words;
    const items: OutboxHead["items"][number][] = [];
    for (let at = 0; at < rest.length; at += 2) {
      items.push({ seq: Number(rest[at]), item: itemOf(rest[at + 1] ?? "") });
    }
    const found = numberOrNull(stamp);
    return {
      incarnation: server.incarnationAt(replication),
      epoch: found === null ? null : epoch(found),
      items,
      length: Number(length),
      oldestAt: numberOrNull(oldest),
    };
  }

  async forward(fence: Fence, seqs: readonly number[]): Promise<Reply<null>> {
    for (let at = 0; at < seqs.length || at === 0; at += forwardMax) {
      const args = seqs.slice(at, at + forwardMax).map((seq) => `${decimal(seq)}-0`);
      const call = await this.#fenced(fence, "forward", { args });
      if (call.closed) return call;
    }
    return done(null);
  }

  project(fence: Fence, projection: Projection): Promise<Reply<ProjectReply>> {
    return projectLane(this.#lane(fence.lane), fence, projection);
  }

  async setPolicy(fence: Fence, policy: SalePolicy): Promise<Reply<null>> {
    const skus = policy.state === "closed" ? [] : policy.skus;
    const args = [policy.saleId, policyWords(policy), ...skuArguments(skus)];
    return nothing(await this.#fenced(fence, "set-policy", { skus, args }));
  }

  async setStatus(fence: Fence, { sku, stopped, revision }: HotStatus): Promise<Reply<null>> {
    const args = [stopped ? "1" : "0", decimal(revision)];
    return nothing(await this.#fenced(fence, "set-status", { skus: [sku], args }));
  }

  async adopt(fence: Fence, level: HotLevel): Promise<Reply<"adopted" | "known" | "lost">> {
    const { sku, version, hash, available, saleId, stopped, revision } = level;
    const numbers = [decimal(version), hash, decimal(available)];
    const args = [sku, ...numbers, saleId ?? "%", stopped ? "1" : "0", decimal(revision)];
    const call = await this.#fenced(fence, "adopt", { skus: [sku], args });
    if (call.closed) return call;
    const [word] = call.value;
    return done(word === "adopted" || word === "known" ? word : "lost");
  }

  async forgetSale(fence: Fence, saleId: SaleId): Promise<Reply<null>> {
    let cursor = "0";
    do {
      const call = await this.#fenced(fence, "forget-sale", { args: [saleId, cursor, pageOf] });
      if (call.closed) return call;
      const [next = "0"] = call.value;
      if (next === "running") return done(null);
      cursor = next;
    } while (cursor !== "0");
    for (const sku of await this.#lane(fence.lane).skus()) {
      const call = await this.#leaveSale(fence, saleId, sku);
      if (call.closed) return call;
    }
    return done(null);
  }

  /** Once round the list of ids as it is now: what comes meanwhile is known. */
  async #leaveSale(fence: Fence, saleId: SaleId, sku: SkuId): Promise<Reply<null>> {
    let left: number | null = null;
    do {
      const args = [saleId, decimal(Math.min(left ?? idsPage, idsPage))];
      const call = await this.#fenced(fence, "forget-ids", { skus: [sku], args });
      if (call.closed) return call;
      left = (left ?? Number(call.value[0])) - idsPage;
    } while (left > 0);
    return done(null);
  }

  async forgetSku(fence: Fence, sku: SkuId): Promise<Reply<null>> {
    return nothing(await this.#fenced(fence, "forget-sku", { skus: [sku] }));
  }

  async beginRebuild(fence: Fence): Promise<Reply<null>> {
    const args = [itemWords({ kind: "barrier", epoch: fence.epoch })];
    return nothing(await this.#fenced(fence, "begin-rebuild", { args }));
  }

  async heldTickets(fence: Fence): Promise<Reply<readonly string[]>> {
    const held = await this.#lane(fence.lane).tickets(fence, "held-tickets");
    return held.closed ? held : done(held.value.map(({ ticket }) => ticket.id));
  }

  load(fence: Fence, snapshot: Snapshot): Promise<Reply<LoadReply>> {
    const name = this.#random.bytes(8).toString("hex");
    return loadLane(this.#lane(fence.lane), fence, { snapshot, name });
  }

  observe(lane: Lane, skus: readonly SkuId[] | null): Promise<Observation> {
    return observeLane(this.#lane(lane), skus);
  }

  async overdue(fence: Fence, marker: number): Promise<Reply<readonly OverdueTicket[]>> {
    const lane = this.#lane(fence.lane);
    const found = await lane.tickets(fence, "overdue", [decimal(marker)]);
    if (found.closed) return found;
    const overdue = ({ ticket, admittedAt, resends }: TicketRecord): OverdueTicket => ({
      ticket,
      admittedAt,
      resends,
    });
    return done(found.value.map(overdue));
  }

  async resend(
    fence: Fence,
    marker: number,
    ids: readonly string[],
  ): Promise<Reply<readonly string[]>> {
    const call = await this.#fenced(fence, "resend", { args: [decimal(marker), ...ids] });
    return call.closed ? call : done(call.value);
  }

  async lookup(lane: Lane, id: string): Promise<HotLookup> {
    const { word, words } = await this.#lane(lane).read("lookup", [id]);
    const [record = ""] = words;
    if (word === "DECIDED") return { kind: "decided", answer: answerOf(id, record) };
    if (word !== "PENDING") return { kind: word === "UNKNOWN" ? "unknown" : "closed" };
    const { ticket, admittedAt } = recordOf(id, record);
    return { kind: "pending", ticket: { ticket, admittedAt } };
  }

  async knownIds(fence: Fence, sku: SkuId): Promise<Reply<KnownIds>> {
    const ids = new Set<string>();
    let first: Omit<Left, "sku"> | null = null;
    for (let from = 0; ; from += idsPage) {
      const args = [decimal(from), decimal(idsPage)];
      const call = await this.#fenced(fence, "known-ids", { skus: [sku], args });
      if (call.closed) return call;
      const [available, seen, last, ...page] = call.value;
      first ??= { available: numberOrNull(available) ?? 0, idsSeen: Number(seen) };
      for (const id of page) ids.add(id);
      if (last === "1") return done({ ...first, ids: [...ids] });
    }
  }

  async leftOf(fence: Fence, skus: readonly SkuId[]): Promise<Reply<readonly Left[]>> {
    const call = await this.#fenced(fence, "left-of", { skus, args: skuArguments(skus) });
    if (call.closed) return call;
    const left: Left[] = [];
    for (let at = 0; at < call.value.length; at += 3) {
      const [sku, available, seen] = call.value.slice(at, at + 3);
      left.push({ sku: skuId(sku), available: Number(available), idsSeen: Number(seen) });
    }
    return done(left.sort((a, b) => skus.indexOf(a.sku) - skus.indexOf(b.sku)));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #lane(lane: Lane): RedisLane {
    return new RedisLane(this.#connections.of(lane), this.#keys, lane);
  }

  #fenced(
    fence: Fence,
    name: Call["name"],
    call: Omit<Call, "name">,
  ): ReturnType<RedisLane["run"]> {
    return this.#lane(fence.lane).run(fence, { name, ...call });
  }
}

function done<T>(value: T): Reply<T> {
  return { closed: false, value };
}

function nothing(call: Reply<readonly string[]>): Reply<null> {
  return call.closed ? call : done(null);
}
