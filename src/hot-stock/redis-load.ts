import type { HotLevel, Snapshot } from "../domain/snapshot.ts";
import { type SkuId, skuId } from "../domain/values.ts";
import type { Fence, LoadReply, Reply } from "./hot-stock.ts";
import { type RedisLane, skuArguments } from "./redis-lane.ts";
import { answerWords, policyWords, type TicketRecord, word } from "./redis-words.ts";
import { decimal, type ScriptName } from "./scripts.ts";

const stepMax = 200;
const stepsAtOnce = 4;
const outboxPage = "500";
const voidsMax = "10000";

type Plan = { readonly snapshot: Snapshot; readonly name: string };
type Step = { readonly skus: readonly SkuId[]; readonly words: readonly string[] };

/**
 * Into a lane that waits, closed, in steps that each keep the server busy for a moment only; the
 * last one opens it. Steps carry the load's name: a second load, begun beside or after it, leaves
 * the first without effect, and starts from the levels again, so half of one is never kept.
 */
export function loadLane(lane: RedisLane, fence: Fence, plan: Plan): Promise<Reply<LoadReply>> {
  return new Load(lane, fence, plan).run();
}

/** The lane is not the one that this load began in. */
class Overtaken extends Error {
  readonly reply: Reply<never>;

  constructor(reply: Reply<never>) {
    super("overtaken");
    this.reply = reply;
  }
}

class Load {
  readonly #lane: RedisLane;
  readonly #fence: Fence;
  readonly #plan: Plan;

  constructor(lane: RedisLane, fence: Fence, plan: Plan) {
    this.#lane = lane;
    this.#fence = fence;
    this.#plan = plan;
  }

  async run(): Promise<Reply<LoadReply>> {
    try {
      return { closed: false, value: await this.#load() };
    } catch (error) {
      if (error instanceof Overtaken) return error.reply;
      throw error;
    }
  }

  async #load(): Promise<LoadReply> {
    const { snapshot } = this.#plan;
    await this.#call("load-begin");
    const loaded = new Set(snapshot.levels.map(({ sku }) => sku));
    const strangers = (await this.#lane.skus()).filter((sku) => !loaded.has(sku));
    for (const part of partsOf(strangers)) await this.#call("load-clear", { skus: part });
    const ledgerWentBack = await this.#levels();
    const { kept, dropped } = await this.#tickets(loaded);
    await this.#facts(loaded);
    await this.#outbox();
    await this.#call("load-open", { args: [voidsMax] });
    return { kept, dropped, ledgerWentBack };
  }

  async #levels(): Promise<LoadReply["ledgerWentBack"]> {
    const wentBack: { sku: SkuId; hotVersion: number }[] = [];
    for (const part of partsOf(this.#plan.snapshot.levels)) {
      const words = part.map(levelWords);
      const found = await this.#step("load-levels", { skus: part.map(({ sku }) => sku), words });
      for (let at = 0; at < found.length; at += 2) {
        wentBack.push({ sku: skuId(found[at]), hotVersion: Number(found[at + 1]) });
      }
    }
    return wentBack;
  }

  /** In the order in which they were admitted, so that those sent again stand in it too. */
  async #tickets(loaded: ReadonlySet<SkuId>): Promise<{ kept: number; dropped: number }> {
    const { decided } = this.#plan.snapshot;
    const held = await this.#lane.tickets(this.#fence, "held-tickets");
    if (held.closed) throw new Overtaken(held);
    const sum = { kept: 0, dropped: 0 };
    const linesOf = ({ ticket }: TicketRecord): readonly SkuId[] =>
      ticket.lines.map(({ sku }) => sku);
    for (const part of partsOf(held.value, (each) => each.ticket.lines.length)) {
      const words = part.map((each) => {
        const keeps = !decided.has(each.ticket.id) && linesOf(each).every((sku) => loaded.has(sku));
        return `${keeps ? "K" : "D"} ${each.ticket.id}`;
      });
      const skus = [...new Set(part.flatMap(linesOf))];
      const [kept, dropped] = await this.#step("load-tickets", { skus, words });
      sum.kept += Number(kept);
      sum.dropped += Number(dropped);
    }
    return sum;
  }

  async #facts(loaded: ReadonlySet<SkuId>): Promise<void> {
    const { policies, buyers, answers } = this.#plan.snapshot;
    const counts = buyers.filter(({ sku }) => loaded.has(sku));
    const facts: { skus: readonly SkuId[]; words: string }[] = [
      ...policies.map((each) => ({ skus: [], words: `P ${each.saleId} ${policyWords(each)}` })),
      ...counts.map(({ sku, buyerId, units }) => ({
        skus: [sku],
        words: `B ${sku} ${buyerId} ${decimal(units)}`,
      })),
      ...answers.map((each) => ({ skus: each.skus, words: `A ${answerWords(each)}` })),
    ];
    const steps = [...partsOf(facts, ({ skus }) => skus.length)];
    // None of them looks at what another brought, so the server need not wait for the next.
    for (let from = 0; from < steps.length; from += stepsAtOnce) {
      const calls = steps.slice(from, from + stepsAtOnce).map((part) => {
        const skus = [...new Set(part.flatMap((each) => each.skus))];
        return this.#step("load-facts", { skus, words: part.map(({ words }) => words) });
      });
      await Promise.all(calls);
    }
  }

  async #outbox(): Promise<void> {
    let from = "0-0";
    while (from !== "%") {
      const [last = "%"] = await this.#call("load-outbox", { args: [from, outboxPage] });
      from = last;
    }
  }

  #step(name: ScriptName, { skus, words }: Step): Promise<readonly string[]> {
    return this.#call(name, { skus, args: [...skuArguments(skus), ...words] });
  }

  async #call(
    name: ScriptName,
    { skus = [], args = [] }: { skus?: readonly SkuId[]; args?: readonly string[] } = {},
  ): Promise<readonly string[]> {
    const call = { name, skus, args: [this.#plan.name, ...args] };
    const reply = await this.#lane.run(this.#fence, call);
    if (reply.closed) throw new Overtaken(reply);
    return reply.value;
  }
}

function levelWords(level: HotLevel): string {
  const { sku, version, hash, available, saleId, stopped, revision } = level;
  const numbers = `${decimal(version)} ${word(hash)} ${decimal(available)}`;
  return `${sku} ${numbers} ${saleId ?? "%"} ${stopped ? "1" : "0"} ${decimal(revision)}`;
}

function* partsOf<T>(
  all: readonly T[],
  weightOf: (each: T) => number = () => 1,
): Generator<readonly T[]> {
  let part: T[] = [];
  let weight = 0;
  for (const each of all) {
    const more = Math.max(1, weightOf(each));
    if (part.length > 0 && weight + more > stepMax) {
      yield part;
      part = [];
      weight = 0;
    }
    part.push(each);
    weight += more;
  }
  if (part.length > 0) yield part;
}
