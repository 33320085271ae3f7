import { createHistogram } from "node:perf_hooks";
import type { Clock } from "../clock.ts";
import { chanceFrom } from "./chance.ts";
import {
  type Answer,
  answersMax,
  endingOf,
  idsOf,
  type KeyRecord,
  type Settled,
} from "./history.ts";
import { arrivalMs, type CrowdPlan } from "./plan.ts";
import type { Shop, Told } from "./shop.ts";

/** Buyers who wait for an answer at one time; more come when one has gone. */
const presentMax = 20_000;
const launchesPerTurn = 256;
const settleTriesMax = 20;
const secondClickMs = 1_000;
const thinkMs = 1_500;

export type CrowdResult = {
  readonly records: readonly KeyRecord[];
  /** Clicks and retries: every call that asked for a reservation. */
  readonly requests: number;
  readonly seconds: number;
  /** From the moment a click was meant to happen until its decided answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly isInterrupted: boolean;
};

export type CrowdProgress = {
  readonly buyers: number;
  readonly answered: number;
  readonly reserved: number;
  readonly seconds: number;
};

export type CrowdWorld = {
  readonly shop: Shop;
  readonly clock: Clock;
  /** No new buyers; those who wait get their answers, and nobody pays. */
  readonly signal: AbortSignal;
};

/** Lets a crowd loose on a sale and takes down what everybody was told. */
export async function runCrowd(plan: CrowdPlan, world: CrowdWorld): Promise<CrowdResult> {
  return new Crowd(plan, world).run();
}

export class Crowd {
  readonly #plan: CrowdPlan;
  readonly #world: CrowdWorld;
  readonly #chance: () => number;
  readonly #records: KeyRecord[] = [];
  /** Microseconds: a histogram counts integers. */
  readonly #latency = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 });
  readonly #startMs: number;
  readonly #gone: (() => void)[] = [];
  #present = 0;
  #requests = 0;
  #answered = 0;
  #reserved = 0;

  constructor(plan: CrowdPlan, world: CrowdWorld) {
    this.#plan = plan;
    this.#world = world;
    this.#chance = chanceFrom(plan.seed);
    this.#startMs = world.clock.mono();
  }

  async run(): Promise<CrowdResult> {
    await this.#arrive();
    while (this.#present > 0) await this.#oneGone();
    const seconds = this.#sinceMs() / 1000;
    const { aborted } = this.#world.signal;
    if (this.#plan.settling === "after" && !aborted) await this.#settleAll();
    return {
      records: this.#records,
      requests: this.#requests,
      seconds,
      p50Ms: this.#latency.percentile(50) / 1000,
      p99Ms: this.#latency.percentile(99) / 1000,
      isInterrupted: aborted || this.#records.length < this.#plan.buyers,
    };
  }

  progress(): CrowdProgress {
    return {
      buyers: this.#plan.buyers,
      answered: this.#answered,
      reserved: this.#reserved,
      seconds: this.#sinceMs() / 1000,
    };
  }

  async #arrive(): Promise<void> {
    const { arrival, buyers } = this.#plan;
    const { clock, signal } = this.#world;
    for (let buyer = 0; buyer < buyers && !signal.aborted; buyer++) {
      const dueMs = arrivalMs(arrival, buyer, buyers);
      const aheadMs = dueMs - this.#sinceMs();
      // A full turn of launches lets the answers in, however late we are.
      if (aheadMs >= 1 || buyer % launchesPerTurn === 0) {
        await clock.sleep(Math.max(0, aheadMs), signal);
      }
      while (this.#present >= presentMax) await this.#oneGone();
      this.#present++;
      void this.#visit(buyer, dueMs).finally(() => {
        this.#present--;
        for (const wake of this.#gone.splice(0)) wake();
      });
    }
  }

  #oneGone(): Promise<void> {
    return new Promise((resolve) => this.#gone.push(resolve));
  }

  /** One buyer's visit: the clicks, and later what becomes of what was won. */
  async #visit(buyer: number, dueMs: number): Promise<void> {
    const record = this.#newRecord(buyer);
    const clicks = [this.#click(record, dueMs)];
    if (this.#chance() < this.#plan.repeatShare) {
      const laterMs = this.#chance() * secondClickMs;
      const again = this.#world.clock.sleep(laterMs);
      clicks.push(again.then(() => this.#click(record, dueMs + laterMs)));
    }
    await Promise.all(clicks);
    this.#answered++;
    if (endingOf(record) !== "reserved") return;
    this.#reserved++;
    if (this.#plan.settling !== "thinking") return;
    await this.#world.clock.sleep(this.#chance() * thinkMs);
    await this.#settle(record);
  }

  #newRecord(buyer: number): KeyRecord {
    const { run, skus, quantityMax } = this.#plan;
    const sku = skus[Math.floor(this.#chance() * skus.length)] ?? "";
    const record: KeyRecord = {
      key: `${run}-k${buyer}`,
      buyer: `${run}-b${buyer}`,
      sku,
      quantity: 1 + Math.floor(this.#chance() * quantityMax),
      answers: [],
      settled: null,
      settledAgain: null,
    };
    this.#records.push(record);
    return record;
  }

  /** Asks until the key is decided: an answer that is missing is asked for again, same key. */
  async #click(record: KeyRecord, intendedMs: number): Promise<void> {
    const { clock, signal } = this.#world;
    let pendingId: string | null = null;
    let untilMs = Number.POSITIVE_INFINITY;
    while (this.#sinceMs() < untilMs) {
      const told = await this.#ask(record, pendingId);
      if (told.kind === "held" || told.kind === "over" || told.kind === "refused") break;
      untilMs = Math.min(untilMs, this.#sinceMs() + this.#patienceMs());
      if (told.kind === "pending") pendingId = told.id;
      else if (signal.aborted) break;
      else await clock.sleep(told.retryMs * (0.5 + this.#chance()));
    }
    this.#latency.record(Math.max(1, Math.round((this.#sinceMs() - intendedMs) * 1000)));
  }

  /** Somebody who is called away still hears what is nearly decided. */
  #patienceMs(): number {
    return this.#world.signal.aborted ? 2_000 : this.#plan.patienceMs;
  }

  async #ask(record: KeyRecord, pendingId: string | null): Promise<Told> {
    const { shop } = this.#world;
    const askedMs = this.#sinceMs();
    if (pendingId === null) this.#requests++;
    const told =
      pendingId === null
        ? await shop.reserve(record.key, {
            saleId: this.#plan.saleId,
            buyerId: record.buyer,
            sku: record.sku,
            quantity: record.quantity,
          })
        : await shop.look(pendingId);
    note(record, {
      kind: told.kind,
      what: told.what,
      id: told.id ?? pendingId,
      askedMs,
      toldMs: this.#sinceMs(),
    });
    return told;
  }

  async #settleAll(): Promise<void> {
    const holders = this.#records.filter((record) => endingOf(record) === "reserved").values();
    const lane = async (): Promise<void> => {
      for (const holder of holders) {
        if (this.#world.signal.aborted) return;
        await this.#settle(holder);
      }
    };
    await Promise.all(Array.from({ length: this.#plan.connections }, lane));
  }

  /** Callbacks come twice too: the same act, at the same moment, under the same id. */
  async #settle(record: KeyRecord): Promise<void> {
    const { payShare, cancelShare, repeatShare } = this.#plan;
    const wish = this.#chance();
    const isTwice = this.#chance() < repeatShare;
    const [id] = idsOf(record);
    if (id === undefined || wish >= payShare + cancelShare) return;
    const act = wish < payShare ? "pay" : "cancel";
    const tell = (): Promise<Settled> => this.#act(act, id, `${record.key}-pay`);
    const [first, again] = await Promise.all([tell(), isTwice ? tell() : null]);
    record.settled = first;
    record.settledAgain = again;
  }

  /** A payment keeps its id over every retry, so that it is taken once. */
  async #act(act: Settled["act"], id: string, paymentId: string): Promise<Settled> {
    const { shop, clock, signal } = this.#world;
    for (let tries = 0; tries < settleTriesMax && !signal.aborted; tries++) {
      const told = act === "pay" ? await shop.pay(id, paymentId) : await shop.cancel(id);
      const settled = settledBy(act, id, told);
      if (settled !== null) return settled;
      await clock.sleep(told.retryMs * (0.5 + this.#chance()));
    }
    return { act, told: "unknown", what: "no answer" };
  }

  #sinceMs(): number {
    return this.#world.clock.mono() - this.#startMs;
  }
}

/** What an answer to a payment or cancel means; null: ask again. */
function settledBy(act: Settled["act"], id: string, told: Told): Settled | null {
  if (told.kind === "refused") return { act, told: "refused", what: told.what };
  if (told.kind !== "held" && told.kind !== "over") return null;
  const wanted = act === "pay" ? ["confirmed", "refunded"] : ["cancelled"];
  const isOwn = told.id === id && wanted.includes(told.what);
  return { act, told: isOwn ? "done" : "odd", what: `${told.what} ${told.id}` };
}

/** Keeps the notes of one key bounded: a repeat of the last answer only moves its time. */
function note(record: KeyRecord, answer: Answer): void {
  const { answers } = record;
  const last = answers.at(-1);
  const isSame = last?.kind === answer.kind && last.what === answer.what && last.id === answer.id;
  if (last !== undefined && isSame && (answer.kind === "pending" || answers.length >= answersMax)) {
    answers[answers.length - 1] = { ...last, toldMs: answer.toldMs };
  } else if (answers.length < answersMax) {
    answers.push(answer);
  } else {
    answers[answers.length - 1] = answer;
  }
}
