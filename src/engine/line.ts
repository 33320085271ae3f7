import type { DecisionNews } from "../bus/bus.ts";
import type { Clock, Random } from "../clock.ts";
import type { Command, CommandResult } from "../domain/command.ts";
import { Fault } from "../domain/fault.ts";
import { invariant } from "../domain/invariant.ts";
import type { Events } from "../events.ts";
import type { Commit, Ledger } from "../ledger/ledger.ts";
import { countDecisions } from "./count-decisions.ts";
import type { Decisions } from "./decisions.ts";
import type { Projected, Projector } from "./projector.ts";

/** Commands decided in one transaction. */
const batchMax = 500;
/**
 * Of those that give way, for each that somebody waits for; and so many at least, so that they
 * come to their end beside any number of buyers.
 */
const givingWayShare = 0.25;
const givingWayMin = 16;
/** Those that give way wait so long for others to come back. */
const othersStayMs = 5;
/** Commands that may wait for a transaction; past it a caller is told to come back. */
const waitingMax = 20_000;
const tries = 4;
const pauseMs = 20;

export type Decided = { readonly results: readonly CommandResult[]; readonly projected: Projected };

type Waiting = {
  readonly commands: readonly Command[];
  readonly resolve: (decided: Decided) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * The group commit: commands that come while a transaction is under way are decided together in
 * the next one. No timer: a lone command waits for nobody. What nobody waits for gives way: beside
 * others it gets a share of each transaction, alone the whole. After the commit whoever waits for a
 * decision is told, then hot stock; there is no second path to stock.
 */
export class Line {
  readonly #ledger: Ledger;
  readonly #projector: Projector;
  readonly #decisions: Decisions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #events: Events;
  readonly #news: Pick<DecisionNews, "tell"> | null;
  #waiting: Waiting[] = [];
  /** Nobody waits for these: ten thousand holds that end at once must not hold up a buyer. */
  #givingWay: Waiting[] = [];
  #waitingCommands = 0;
  #decidedAt = Number.NEGATIVE_INFINITY;
  /** When the last transaction that others waited for was decided. */
  #othersAt = Number.NEGATIVE_INFINITY;
  #othersCame = new AbortController();
  #busy = false;

  constructor(parts: {
    ledger: Ledger;
    projector: Projector;
    decisions: Decisions;
    clock: Clock;
    random: Random;
    events: Events;
    /** Null: nobody waits anywhere else. */
    news?: Pick<DecisionNews, "tell"> | null;
  }) {
    this.#ledger = parts.ledger;
    this.#projector = parts.projector;
    this.#decisions = parts.decisions;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#events = parts.events;
    this.#news = parts.news ?? null;
  }

  /** Decides these commands, in order. `projected` says whether hot stock has heard. */
  run(commands: readonly Command[]): Promise<Decided> {
    const decided = this.#enqueue(this.#waiting, commands);
    this.#othersCame.abort();
    this.#start();
    return decided;
  }

  /** As above, each for itself and in any order, beside what others wait for. */
  async runGivingWay(commands: readonly Command[]): Promise<readonly CommandResult[]> {
    const each = commands.map((command) => this.#enqueue(this.#givingWay, [command]));
    this.#start();
    return (await Promise.all(each)).flatMap(({ results }) => results);
  }

  #enqueue(queue: Waiting[], commands: readonly Command[]): Promise<Decided> {
    if (this.#waitingCommands + commands.length > waitingMax) {
      return Promise.reject(new Fault("OVERLOADED", `${waitingMax} commands wait already`));
    }
    return new Promise((resolve, reject) => {
      queue.push({ commands, resolve, reject });
      this.#waitingCommands += commands.length;
    });
  }

  #start(): void {
    if (!this.#busy) void this.#work();
  }

  async one(command: Command): Promise<CommandResult> {
    const { results } = await this.run([command]);
    const [result] = results;
    invariant(result !== undefined, "a command has a result");
    return result;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length + this.#givingWay.length > 0) {
      const leftMs = this.#othersAt + othersStayMs - this.#clock.mono();
      if (this.#waiting.length === 0 && leftMs > 0) await this.#othersComeIn(leftMs);
      const areThere = this.#waiting.length > 0;
      await this.#commitBatch(this.#take());
      if (areThere) this.#othersAt = this.#decidedAt;
    }
    this.#busy = false;
  }

  #take(): readonly Waiting[] {
    const first = takeFrom(this.#waiting, batchMax);
    const count = commandsIn(first);
    const wanted = count === 0 ? batchMax : Math.floor(count * givingWayShare);
    const room = Math.max(givingWayMin, Math.min(wanted, batchMax - count));
    const batch = [...first, ...takeFrom(this.#givingWay, room)];
    this.#waitingCommands -= commandsIn(batch);
    return batch;
  }

  /** Who was there a moment ago will be back: one transaction for both is cheaper than two. */
  #othersComeIn(ms: number): Promise<void> {
    this.#othersCame = new AbortController();
    return this.#clock.sleep(ms, this.#othersCame.signal);
  }

  async #commitBatch(batch: readonly Waiting[]): Promise<void> {
    const commands = batch.flatMap((each) => each.commands);
    try {
      const startedAt = this.#clock.mono();
      const commit = await this.#commit(commands);
      this.#decidedAt = this.#clock.mono();
      this.#events.batchCommitted(commands.length, this.#decidedAt - startedAt);
      countDecisions(this.#events, commands, commit.results, this.#clock.now());
      this.#tell(commands, commit.results);
      const projected = await this.#projector.project(commit.entries, commit.settled);
      let from = 0;
      for (const { commands: own, resolve } of batch) {
        resolve({ results: commit.results.slice(from, from + own.length), projected });
        from += own.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Commands carry their ids, so a batch whose outcome is unknown is simply told again. */
  async #commit(commands: readonly Command[]): Promise<Commit> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#ledger.commit(commands);
      } catch (error) {
        if (!(error instanceof Fault)) return this.#isolate(commands, error);
        if (!error.retryable || attempt === tries) throw error;
        this.#events.unknownOutcome("commit");
        await this.#clock.sleep(pauseMs * 2 ** attempt * (0.5 + this.#random.next()));
      }
    }
  }

  /** Something that cannot be: the one command that meets it is set aside, the others go on. */
  async #isolate(commands: readonly Command[], error: unknown): Promise<Commit> {
    if (commands.length === 1) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#events.alarm("broken", reason);
      return { results: [{ status: "broken", sku: null, reason }], entries: [], settled: [] };
    }
    const half = Math.ceil(commands.length / 2);
    const first = await this.#commit(commands.slice(0, half));
    const second = await this.#commit(commands.slice(half));
    return {
      results: [...first.results, ...second.results],
      entries: [...first.entries, ...second.entries],
      settled: [...first.settled, ...second.settled],
    };
  }

  #tell(commands: readonly Command[], results: readonly CommandResult[]): void {
    const elsewhere: string[] = [];
    for (const [index, command] of commands.entries()) {
      const result = results[index];
      const id = waitedFor(command);
      if (id === null || result === undefined) continue;
      if (result.status === "accepted" || result.status === "rejected") {
        if (!this.#decisions.tell(id, result)) elsewhere.push(id);
      }
    }
    if (elsewhere.length > 0) this.#news?.tell(elsewhere);
  }
}

/** So many commands at most, and one caller's at least, however many those are. */
function takeFrom(queue: Waiting[], max: number): readonly Waiting[] {
  let commands = 0;
  let count = 0;
  for (const { commands: more } of queue) {
    if (count > 0 && commands + more.length > max) break;
    commands += more.length;
    count += 1;
  }
  return queue.splice(0, count);
}

function commandsIn(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { commands }) => sum + commands.length, 0);
}

/** The id under which somebody may wait for this command's decision. */
function waitedFor(command: Command): string | null {
  switch (command.kind) {
    case "ticket":
      return command.ticket.id;
    case "void":
    case "cancel":
    case "confirm":
    case "expire":
    case "refund":
    case "extend":
      return command.id;
    case "barrier":
    case "refuse-late":
    case "settle-payment":
    case "give":
    case "count":
    case "create-sale":
    case "sale-state":
    case "sku-status":
      return null;
  }
}
