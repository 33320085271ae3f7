import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Command } from "../../src/domain/command.ts";
import { operationId, reservationId } from "../../src/domain/values.ts";
import { HotLine, openValue } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { NaiveHotStock } from "../support/naive-hot-stock.ts";
import { reserveTicket } from "../support/tickets.ts";

const limit = 3;
/** One deed of the world; numbers choose among what there is. */
type Deed =
  | { readonly do: "reserve"; readonly who: number; readonly a: number; readonly b: number }
  | { readonly do: "confirm" | "cancel" | "expire" | "refund" | "void"; readonly who: number }
  | { readonly do: "hear"; readonly which: number }
  | { readonly do: "relay" | "decide" | "lose" | "repeat" | "hearAll" | "resend" }
  | { readonly do: "rebuild"; readonly flushed: boolean };

const who = fc.nat(7);
const deeds = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant("reserve"), who, a: fc.nat(3), b: fc.nat(2) }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("relay", "decide", "hearAll") }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("hear"), which: fc.nat(20) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom("confirm", "cancel", "expire", "refund", "void"),
        who,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("lose", "repeat", "resend") }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("rebuild"), flushed: fc.boolean() }) },
  ) as fc.Arbitrary<Deed>,
  { maxLength: 60, size: "max" },
);

class Play {
  readonly line: HotLine;
  readonly naive: NaiveHotStock;
  readonly #subject: HotSubject;
  /** Messages that may be delivered once more. */
  #past: HotLine["lane"] = [];

  constructor(subject: HotSubject, line: HotLine) {
    this.#subject = subject;
    this.line = line;
    this.naive = new NaiveHotStock(line, limit);
    this.naive.rebuild(true);
  }

  async act(deed: Deed): Promise<void> {
    const { line } = this;
    switch (deed.do) {
      case "reserve":
        return this.#reserve(deed);
      case "relay":
        await line.relay();
        this.#past.push(...line.lane);
        return;
      case "decide":
        line.decide();
        return;
      case "lose":
        line.lane = [];
        return;
      case "repeat":
        line.lane.push(...this.#past);
        return;
      case "hear":
        return this.#hear(deed.which);
      case "hearAll":
        return this.#hearAll();
      case "resend":
        return this.#resend();
      case "rebuild":
        return this.#rebuild(deed.flushed);
      case "confirm":
      case "cancel":
      case "expire":
      case "refund":
      case "void":
        line.say(commandOf(deed, line.ledger.log.length));
    }
  }

  async #reserve({ who: n, a, b }: Extract<Deed, { do: "reserve" }>): Promise<void> {
    const cart = { ...(a > 0 ? { A: a } : {}), ...(b > 0 || a === 0 ? { B: b + 1 } : {}) };
    const ticket = reserveTicket(`r${n}`, cart, { buyer: n % 2 === 0 ? "ann" : "bob" });
    expect(await this.line.words(ticket)).toEqual([this.naive.admit(ticket)]);
  }

  /** Any one of the ledger's entries, heard already or not, in any order. */
  async #hear(which: number): Promise<void> {
    const { ledger } = this.line;
    const entry = ledger.entries[which % Math.max(1, ledger.entries.length)];
    const same = ledger.log.find((each) => each.hash === entry?.hash);
    if (entry === undefined || same === undefined) return;
    await this.line.project({ entries: [entry] });
    this.naive.hear(same);
  }

  async #hearAll(): Promise<void> {
    const { line } = this;
    const { settled } = line.news;
    line.news = { entries: [], settled: [] };
    await line.project({ entries: line.ledger.entries, settled });
    for (const entry of line.ledger.log) this.naive.hear(entry);
    for (const { id } of settled) this.naive.settle(id);
  }

  async #resend(): Promise<void> {
    const { hot, fence } = this.line;
    const marker = openValue(await hot.mark(fence));
    const overdue = openValue(await hot.overdue(fence, marker));
    await hot.resend(
      fence,
      marker,
      overdue.map(({ ticket }) => ticket.id),
    );
  }

  async #rebuild(flushed: boolean): Promise<void> {
    if (flushed) await this.#subject.flush();
    await this.line.rebuild();
    this.naive.rebuild(flushed);
  }

  async compare(): Promise<void> {
    for (const sku of ["A", "B"]) {
      const { available, inFlight, version } = await this.line.sku(sku);
      expect({ sku, available, inFlight, version }).toEqual({
        sku,
        available: this.naive.available(sku),
        inFlight: this.naive.inFlight(sku),
        version: this.naive.heard.get(sku),
      });
    }
    await this.line.check();
  }
}

function commandOf(deed: { do: string; who: number }, unique: number): Command {
  const id = reservationId(`r${deed.who}`);
  const acting = { actor: "op", reason: "" };
  switch (deed.do) {
    case "confirm":
      return { kind: "confirm", id, paymentId: operationId(`p${unique}`), paidAt: null, actor: "" };
    case "cancel":
      return { kind: "cancel", id, stamp: null, ...acting };
    case "expire":
      return { kind: "cancel", id, stamp: { lane: 0, epoch: 0 as never }, ...acting };
    case "refund": {
      const refundId = operationId(`f${unique}`);
      return { kind: "refund", id, refundId, lines: null, restock: true, ...acting };
    }
    default:
      return { kind: "void", stamp: { lane: 0, epoch: 0 as never }, id, ticket: null, reason: "" };
  }
}

/** A cluster runs the scripts of the single server: what is its own is in redis-cluster.test.ts. */
const subjects = hotStockAdapters.filter(({ name }) => name !== "redis cluster");

describe.each(subjects)("hot stock $name beside a naive one", ({ open }) => {
  it("says the same and holds the same, whatever befalls the line", async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (play) => {
        const subject = await open();
        const line = await HotLine.open(subject, { stock: { A: 6, B: 4 }, limit });
        const world = new Play(subject, line);
        for (const deed of play) {
          await world.act(deed);
          await world.compare();
        }
        // At rest: everything is relayed, decided and heard.
        for (const last of ["relay", "decide", "hearAll"] as const) {
          await world.act({ do: last });
          await world.compare();
        }
        await subject.hot.close();
      }),
      { numRuns: 150 },
    );
  }, 300_000);
});
