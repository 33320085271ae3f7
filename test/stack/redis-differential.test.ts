import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock, systemRandom } from "../../src/clock.ts";
import type { Ticket } from "../../src/domain/ticket.ts";
import { operationId, reservationId, saleId, skuId } from "../../src/domain/values.ts";
import type { Observation } from "../../src/hot-stock/hot-stock.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import { HotLine } from "../support/hot-line.ts";
import { type HotSubject, hotStockAdapters } from "../support/hot-stock-adapters.ts";
import { reserveTicket, reviveTicket, takeTicket } from "../support/tickets.ts";

/** Sequences of this run; HOLDFAST_TEST_SEQUENCES=10000 for as many as a release has. */
const sequences = Number(process.env["HOLDFAST_TEST_SEQUENCES"] ?? 200);
const stock = { A: 6, B: 3, C: 1 };
const ticketsMax = 8;

const verbs = [
  ...["admit", "admit", "admit", "admit", "relay", "decide", "hear", "hearOne", "settle"],
  ...["void", "cancel", "expire", "confirm", "repeat", "lose", "mark", "lookup", "known"],
  ...["policy", "status", "forgetSale", "adopt", "begin", "load", "rebuild", "flush", "reborn"],
] as const;
type Deed = { readonly verb: string; readonly n: number; readonly m: number };

const deeds = fc.array(fc.record({ verb: fc.constantFrom(...verbs), n: fc.nat(9), m: fc.nat(9) }), {
  minLength: 5,
  maxLength: 40,
});

/** The same id comes with other content now and then. */
function ticketOf(n: number, m: number): Ticket {
  const cart = { [["A", "B", "C"][m % 3] ?? "A"]: 1 + (m % 2), ...(m > 6 ? { B: 2 } : {}) };
  const buyer = ["ann", "bob", "cy"][n % 3] ?? "ann";
  if (m === 9) return takeTicket("freeze", `o${n}`, 1 + (n % 3), { sku: "A" });
  if (m === 8) return reviveTicket(`r${n}`, `p${n}`, cart, buyer);
  return reserveTicket(`r${n}`, cart, { buyer, sale: n === 9 && m < 2 ? "other" : "s" });
}

class Play {
  readonly line: HotLine;
  readonly #subject: HotSubject;
  #past: HotLine["lane"] = [];
  #operations = 0;

  constructor(subject: HotSubject) {
    this.#subject = subject;
    this.line = new HotLine(subject);
    this.line.ledger.open({ stock, limit: 3 });
  }

  /** What it answered, whatever it is. */
  async act({ verb, n, m }: Deed): Promise<unknown> {
    const { line } = this;
    const { hot, fence, ledger } = line;
    switch (verb) {
      case "admit": {
        const more = Array.from({ length: m % 4 }, (_, k) =>
          ticketOf((n + k) % 10, (m * 3 + k) % 10),
        );
        return hot.admit(fence, [ticketOf(n, m), ...more]);
      }
      case "relay": {
        const items = await line.relay();
        this.#past.push(...line.lane);
        return items;
      }
      case "decide":
        return line.decide();
      case "hear": {
        const { news } = line;
        line.news = { entries: [], settled: [] };
        return hot.project(fence, news);
      }
      case "hearOne": {
        const entry = ledger.entries[(n * 10 + m) % Math.max(1, ledger.entries.length)];
        return hot.project(fence, { entries: entry === undefined ? [] : [entry], settled: [] });
      }
      case "settle":
        return hot.project(fence, { entries: [], settled: line.news.settled });
      case "repeat":
        line.lane.push(...this.#past.slice(0, 5));
        return null;
      case "lose":
        line.lane = [];
        return null;
      case "mark":
        return hot.mark(fence);
      case "lookup":
        return hot.lookup(0, `r${n}`);
      default:
        return this.#rare(verb, n, m);
    }
  }

  async #rare(verb: string, n: number, m: number): Promise<unknown> {
    const { line } = this;
    const { hot, fence, ledger } = line;
    const id = reservationId(`r${n}`);
    const [level] = ledger.snapshot().levels.filter(({ sku }) => sku === "ABC"[m % 3]);
    switch (verb) {
      case "void": {
        const ticket = m === 8 || m === 9 ? ticketOf(n, m) : null;
        return hot.enqueue(fence, { kind: "void", id: ticket?.id ?? id, ticket, reason: "" });
      }
      case "cancel":
        return hot.enqueue(fence, { kind: "cancel", id, actor: "a b", reason: "" });
      case "expire":
        return line.tell({ kind: "cancel", id, stamp: null, actor: "op", reason: "" }).status;
      case "confirm": {
        this.#operations += 1;
        const paymentId = operationId(`pay${this.#operations}`);
        return line.tell({ kind: "confirm", id, paymentId, paidAt: null, actor: "" }).status;
      }
      case "known": {
        const known = await hot.knownIds(fence, skuId("ABC"[m % 3]));
        return known.closed ? known : [known.value.available, [...known.value.ids].sort()];
      }
      case "policy": {
        const state = m === 0 ? "closed" : m % 3 === 1 ? "paused" : "open";
        return hot.setPolicy(fence, { ...line.policy(), revision: n, state });
      }
      case "status":
        return hot.setStatus(fence, { sku: skuId("A"), stopped: m === 0, revision: n });
      case "forgetSale":
        return hot.forgetSale(fence, saleId("s"));
      case "adopt":
        return level === undefined ? null : hot.adopt(fence, level);
      case "begin":
        return line.begin();
      case "load":
        return line.load();
      case "rebuild":
        return [await line.begin(), await line.relay(), line.decide(), await line.load()];
      case "flush":
        return m < 4 ? this.#subject.flush() : null;
      default:
        return m < 4 ? this.#subject.reborn() : null;
    }
  }
}

/** Times and names differ between any two servers; nothing else may. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (key, each: unknown) => {
    if (each instanceof Map || each instanceof Set) return [...each];
    if (key === "incarnation") return null;
    if (/^(admittedAt|at|oldestAt|outboxOldestAt|oldestTicketAt)$/.test(key)) return each !== null;
    return each;
  });
  return text === undefined ? null : JSON.parse(text);
}

function plainObservation(seen: Observation): unknown {
  const skus = [...seen.skus].sort((a, b) => (a.sku < b.sku ? -1 : 1));
  const policies = [...seen.policies].sort((a, b) => (a.saleId < b.saleId ? -1 : 1));
  return plain({ ...seen, skus, policies });
}

describe("hot stock on Redis beside the one in memory", () => {
  it(
    `says the same and holds the same in ${sequences} random sequences`,
    async () => {
      const adapter = hotStockAdapters.find(({ name }) => name === "redis");
      if (adapter === undefined) throw new Error("this project has no Redis");
      await fc.assert(
        fc.asyncProperty(deeds, async (sequence) => {
          const hot = new MemoryHotStock({
            clock: new ManualClock(),
            random: systemRandom,
            ticketsMax,
          });
          const memory = new Play({
            hot,
            reborn: async () => hot.restart(hot.copy()),
            flush: async () => hot.flush(),
          });
          const subject = await adapter.open({ ticketsMax });
          const redis = new Play(subject);
          const first: Deed = { verb: "rebuild", n: 0, m: 0 };
          for (const deed of [first, ...sequence]) {
            const expected = plain(await memory.act(deed));
            expect(plain(await redis.act(deed)), deed.verb).toEqual(expected);
            const [ours, theirs] = [await redis.line.observe(), await memory.line.observe()];
            expect(plainObservation(ours), `after ${deed.verb}`).toEqual(plainObservation(theirs));
          }
          await subject.hot.close();
        }),
        { numRuns: sequences },
      );
    },
    Math.max(600_000, sequences * 2_000),
  );
});
