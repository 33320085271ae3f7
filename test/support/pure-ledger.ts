import { Book } from "../../src/domain/book.ts";
import type { Command, CommandResult, SkuRow } from "../../src/domain/command.ts";
import { decide } from "../../src/domain/decide.ts";
import { answerOf } from "../../src/domain/decide-ticket.ts";
import type { LedgerEntry, ProjectedEntry } from "../../src/domain/entry.ts";
import type { Order } from "../../src/domain/reservation.ts";
import type { Snapshot } from "../../src/domain/snapshot.ts";
import type { Ticket } from "../../src/domain/ticket.ts";
import { buyerId, epoch, saleId, skuId } from "../../src/domain/values.ts";

/** The rules without a store: each command is decided on a book of its own, as in a commit. */
export class PureLedger {
  /** The book of the last command: what it changed, and what hot stock is told. */
  book: Book;
  /** Every entry as hot stock takes it, in commit order. */
  readonly entries: ProjectedEntry[] = [];
  readonly log: LedgerEntry[] = [];

  constructor(now = 1_000_000) {
    this.book = new Book(now);
    this.book.lanes.set(0, { lane: 0, epoch: epoch(1), met: epoch(1), incarnation: null });
  }

  tell(command: Command): CommandResult {
    this.pass(0);
    const result = decide(this.book, command);
    this.entries.push(...this.book.projected);
    this.log.push(...this.book.changes.entries);
    return result;
  }

  pass(ms: number): void {
    const next = new Book(this.book.now + ms);
    copyInto(next.lanes, this.book.lanes);
    copyInto(next.skus, this.book.skus);
    copyInto(next.orders, this.book.orders);
    copyInto(next.payments, this.book.payments);
    copyInto(next.sales, this.book.sales);
    copyInto(next.operations, this.book.operations);
    copyInto(next.units, this.book.units);
    this.book = next;
  }

  /** A sale with its stock, open; the entries of its stock are told to nobody. */
  open(spec: { sale?: string; stock: Readonly<Record<string, number>>; limit?: number }): void {
    const id = saleId(spec.sale ?? "s");
    const items = Object.entries(spec.stock).map(([sku, stock]) => ({ sku: skuId(sku), stock }));
    this.tell({
      kind: "create-sale",
      saleId: id,
      title: "",
      opensAt: null,
      closesAt: null,
      holdMs: 60_000,
      limitPerBuyer: spec.limit ?? null,
      items,
      lane: 0,
      fingerprint: JSON.stringify(items),
      actor: "op",
    });
    this.tell({ kind: "sale-state", saleId: id, to: "open", operationId: null, actor: "op" });
  }

  /** The ticket comes out of the lane. */
  decideTicket(ticket: Ticket): CommandResult {
    const stamp = { lane: 0, epoch: this.book.lane(0).epoch };
    const times = { admittedAt: this.book.now, sentAt: this.book.now };
    return this.tell({ kind: "ticket", stamp, ticket, ...times, attempt: 1 });
  }

  row(sku: string): SkuRow {
    const row = this.book.skus.get(skuId(sku));
    if (row === undefined) throw new Error(`no SKU ${sku}`);
    return row;
  }

  order(id: string): Order {
    const order = this.book.orders.get(id);
    if (order === undefined) throw new Error(`no order ${id}`);
    return order;
  }

  /** What a rebuild loads: all sales count as remembered. */
  snapshot(decided: readonly string[] = []): Snapshot {
    return {
      levels: [...this.book.skus.values()].map((row) => ({
        sku: row.sku,
        saleId: row.saleId,
        available: row.balances.available,
        version: row.version,
        hash: row.hash,
        stopped: row.status === "stopped",
        revision: row.statusRevision,
      })),
      policies: [...this.book.sales.values()],
      buyers: [...this.book.units].flatMap(([key, units]) => this.#buyer(key, units)),
      answers: [...this.book.orders.values()].map(answerOf),
      decided: new Set(decided),
    };
  }

  #buyer(key: string, units: number): Snapshot["buyers"][number][] {
    const [sale, sku, buyer] = key.split("\n");
    const row = this.book.skus.get(skuId(sku));
    if (units === 0 || row === undefined || row.saleId !== sale) return [];
    return [{ sku: row.sku, buyerId: buyerId(buyer), units }];
  }
}

function copyInto<K, V>(to: Map<K, V>, from: ReadonlyMap<K, V>): void {
  for (const [key, value] of from) to.set(key, value);
}
