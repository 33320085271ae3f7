import type { Command, CommandResult } from "../../src/domain/command.ts";
import { scopeOfPayment, scopeOfSku } from "../../src/domain/command.ts";
import type { ProjectedEntry, Settled } from "../../src/domain/entry.ts";
import type { LaneItem, Ticket } from "../../src/domain/ticket.ts";
import { type Epoch, epoch, saleId, skuId } from "../../src/domain/values.ts";
import { commandOf } from "../../src/engine/lane-commands.ts";
import type {
  Admission,
  Fence,
  HotStock,
  LoadReply,
  Observation,
  ObservedSku,
  ProjectReply,
  Reply,
} from "../../src/hot-stock/hot-stock.ts";
import { expectCoherent, worldBeside } from "./coherent.ts";
import type { HotSubject } from "./hot-stock-adapters.ts";
import { PureLedger } from "./pure-ledger.ts";

type Sent = { readonly item: LaneItem; readonly epoch: Epoch };
export type SaleSpec = {
  readonly sale?: string;
  readonly stock?: Readonly<Record<string, number>>;
  readonly limit?: number;
};

/** One lane by hand: a hot stock under test between an outbox and the rules, step by step. */
export class HotLine {
  readonly hot: HotStock;
  readonly ledger = new PureLedger();
  /** What left the outbox and did not come out of the lane. */
  lane: Sent[] = [];
  readonly markers: number[] = [];
  /** What the ledger has decided and hot stock has not heard. */
  news: { entries: ProjectedEntry[]; settled: Settled[] } = { entries: [], settled: [] };
  fence: Fence = { lane: 0, epoch: epoch(1), incarnation: "" };

  constructor({ hot }: Pick<HotSubject, "hot">) {
    this.hot = hot;
  }

  /** A line whose lane is open, with a sale. */
  static async open(subject: HotSubject, spec: SaleSpec = {}): Promise<HotLine> {
    const line = new HotLine(subject);
    line.ledger.open({ ...spec, stock: spec.stock ?? { A: 5 } });
    await line.rebuild();
    return line;
  }

  async admit(...tickets: Ticket[]): Promise<readonly Admission[]> {
    const admissions = openValue(await this.hot.admit(this.fence, tickets));
    await this.check();
    return admissions;
  }

  /** In a word each: the kind, and the code or what is missing. */
  async words(...tickets: Ticket[]): Promise<string[]> {
    return (await this.admit(...tickets)).map(wordOfAdmission);
  }

  /** Outbox → lane. */
  async relay(): Promise<LaneItem[]> {
    const head = await this.hot.outbox(0, 1_000);
    if (head.epoch === null) return [];
    const stamped = head.epoch;
    this.lane.push(...head.items.map(({ item }) => ({ item, epoch: stamped })));
    const fence = { lane: 0, epoch: stamped, incarnation: head.incarnation };
    await this.hot.forward(
      fence,
      head.items.map(({ seq }) => seq),
    );
    return head.items.map(({ item }) => item);
  }

  /** Lane → ledger; hot stock does not hear of it yet. */
  decide(): CommandResult[] {
    return this.lane.splice(0).flatMap(({ item, epoch: stamped }) => {
      if (item.kind === "marker") this.markers.push(item.seq);
      const envelope = { lane: 0, epoch: stamped, sentAt: 1, items: [item] };
      const command = commandOf(item, envelope, 1);
      return command === null ? [] : [this.tell(command)];
    });
  }

  tell(command: Command): CommandResult {
    const result = this.ledger.tell(command);
    this.news.entries.push(...this.ledger.book.projected);
    this.news.settled.push(...this.ledger.book.settled);
    return result;
  }

  /** As if it came out of the lane now: stamped with its epoch. */
  say(command: Command): CommandResult {
    const stamped = "stamp" in command && command.stamp !== null;
    const stamp = { lane: 0, epoch: this.fence.epoch };
    return this.tell(stamped ? { ...command, stamp } : command);
  }

  /** Ledger → hot stock: all news, or only these. */
  async project(
    some: { entries?: readonly ProjectedEntry[]; settled?: readonly Settled[] } = this.news,
  ): Promise<ProjectReply> {
    const projection = { entries: some.entries ?? [], settled: some.settled ?? [] };
    if (some === this.news) this.news = { entries: [], settled: [] };
    const reply = openValue(await this.hot.project(this.fence, projection));
    await this.check();
    return reply;
  }

  /** A ticket goes all the way. */
  async settle(...tickets: Ticket[]): Promise<CommandResult[]> {
    await this.admit(...tickets);
    await this.relay();
    const results = this.decide();
    await this.project();
    return results;
  }

  async begin(): Promise<Reply<null>> {
    const row = this.ledger.book.lane(0);
    const next = epoch(row.epoch + 1);
    const incarnation = await this.hot.incarnation(0);
    this.ledger.book.lanes.set(0, { ...row, epoch: next, incarnation });
    this.fence = { lane: 0, epoch: next, incarnation };
    return this.hot.beginRebuild(this.fence);
  }

  async load(): Promise<Reply<LoadReply>> {
    const held = await this.hot.heldTickets(this.fence);
    if (held.closed) return held;
    const decided = held.value.filter((id) => this.isDecided(id));
    return this.hot.load(this.fence, this.ledger.snapshot(decided));
  }

  async rebuild(): Promise<LoadReply> {
    openValue(await this.begin());
    await this.relay();
    this.decide();
    this.news = { entries: [], settled: [] };
    const reply = openValue(await this.load());
    await this.check();
    return reply;
  }

  isDecided(id: string): boolean {
    const { book } = this.ledger;
    const [kind, subject = "", operation = ""] = id.split(":");
    if (kind === "take") return book.operation(scopeOfSku(skuId(subject)), operation) !== undefined;
    if (kind !== "revive") return book.orders.has(id);
    const order = book.orders.get(subject);
    return order !== undefined && book.operation(scopeOfPayment(order.id), operation) !== undefined;
  }

  observe(): Promise<Observation> {
    return this.hot.observe(0, null);
  }

  async sku(sku = "A"): Promise<ObservedSku> {
    const [seen] = (await this.hot.observe(0, [skuId(sku)])).skus;
    if (seen === undefined) throw new Error(`hot stock has no ${sku}`);
    return seen;
  }

  async outbox(): Promise<LaneItem[]> {
    return (await this.hot.outbox(0, 1_000)).items.map(({ item }) => item);
  }

  /** Invariant I and all others, after every step. */
  async check(): Promise<void> {
    expectCoherent(worldBeside(this.ledger, [await this.observe()]));
  }

  /** The sale's policy as the ledger has it. */
  policy(sale = "s") {
    const found = this.ledger.book.sales.get(saleId(sale));
    if (found === undefined) throw new Error(`no sale ${sale}`);
    return found;
  }
}

export function openValue<T>(reply: Reply<T>): T {
  if (reply.closed) throw new Error(`closed: ${reply.why}`);
  return reply.value;
}

export function wordOfAdmission(admission: Admission): string {
  switch (admission.kind) {
    case "refused":
      return admission.code;
    case "replayed":
      return `replayed ${admission.state}`;
    case "missing":
      return `missing ${admission.what}`;
    case "admitted":
    case "busy":
      return admission.kind;
  }
}
