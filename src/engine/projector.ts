import type { SkuRow } from "../domain/command.ts";
import type { ProjectedEntry, Settled } from "../domain/entry.ts";
import { Fault } from "../domain/fault.ts";
import type { Sale } from "../domain/sale.ts";
import type { Lane, SkuId } from "../domain/values.ts";
import type { Events } from "../events.ts";
import type { Fence, HotStock, Projection, ProjectReply } from "../hot-stock/hot-stock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Fences } from "./fences.ts";
import type { SoldOutGate } from "./gate.ts";

/** Entries read at once when hot stock is behind. */
const catchUpMax = 500;

export type Projected =
  /** Hot stock has it. */
  | "done"
  /** The lane is closed: the rebuild will bring it. */
  | "closed"
  /** Hot stock did not answer, or lacks something: tell it again. */
  | "later";

/**
 * The ledger's news on their way to hot stock. What is missing in between is read from the
 * ledger first: catching up is normal work, not a repair.
 */
export class Projector {
  readonly #hot: HotStock;
  readonly #ledger: Ledger;
  readonly #fences: Fences;
  readonly #gate: SoldOutGate;
  readonly #events: Events;

  constructor(parts: {
    hot: HotStock;
    ledger: Ledger;
    fences: Fences;
    gate: SoldOutGate;
    events: Events;
  }) {
    this.#hot = parts.hot;
    this.#ledger = parts.ledger;
    this.#fences = parts.fences;
    this.#gate = parts.gate;
    this.#events = parts.events;
  }

  /** Of any lanes; the worst outcome of them. */
  async project(
    entries: readonly ProjectedEntry[],
    settled: readonly Settled[],
  ): Promise<Projected> {
    const lanes = new Set([...entries, ...settled].map(({ lane }) => lane));
    const outcomes: Projected[] = [];
    for (const lane of lanes) {
      const of = (each: { lane: Lane }): boolean => each.lane === lane;
      const projection = { entries: entries.filter(of), settled: settled.filter(of) };
      outcomes.push(await this.#projectLane(lane, projection));
    }
    return (
      outcomes.find((each) => each === "later") ??
      outcomes.find((each) => each === "closed") ??
      "done"
    );
  }

  /**
   * Brings one SKU's missing entries to hot stock, oldest first. Where they do not fit, nothing
   * helps but a person: the lane does not wait for that.
   */
  async catchUp(fence: Fence, sku: SkuId, version: number): Promise<Projected | "forked"> {
    let from = version;
    for (;;) {
      const entries = await this.#ledger.entriesAfter(sku, from, catchUpMax);
      const last = entries.at(-1);
      if (last === undefined) return "done";
      const reply = await this.#hot.project(fence, { entries, settled: [] });
      if (reply.closed) return this.#closed(fence, reply.why);
      this.#openGate(reply.value);
      this.#noteForks(fence.lane, reply.value);
      if (reply.value.forks.length > 0) return "forked";
      if (reply.value.missing.length > 0) return "later";
      from = last.version;
      if (entries.length < catchUpMax) return "done";
    }
  }

  /** Tells hot stock a sale as the ledger has it: its SKUs first, then its policy. */
  async projectSale(sale: Sale): Promise<Projected> {
    return this.#guarded(sale.lane, async (fence) => {
      if (sale.state !== "closed") {
        for (const level of await this.#ledger.levels(sale.skus)) {
          const adopted = await this.#adopt(fence, level);
          if (adopted !== "done") return adopted;
        }
      }
      const reply = await this.#hot.setPolicy(fence, sale);
      if (reply.closed) return this.#closed(fence, reply.why);
      for (const sku of sale.skus) this.#gate.open(sku);
      return "done";
    });
  }

  /** A SKU that hot stock does not have: new to it, or lost. */
  async projectLevel(level: SkuRow): Promise<Projected> {
    return this.#guarded(level.lane, (fence) => this.#adopt(fence, level));
  }

  /** Tells hot stock whether a SKU is stopped. */
  async projectStatus(level: SkuRow): Promise<Projected> {
    return this.#guarded(level.lane, async (fence) => {
      const reply = await this.#hot.setStatus(fence, {
        sku: level.sku,
        stopped: level.status === "stopped",
        revision: level.statusRevision,
      });
      if (reply.closed) return this.#closed(fence, reply.why);
      this.#gate.open(level.sku);
      return "done";
    });
  }

  #projectLane(lane: Lane, projection: Projection): Promise<Projected> {
    return this.#guarded(lane, async (fence) => {
      const reply = await this.#hot.project(fence, projection);
      if (reply.closed) return this.#closed(fence, reply.why);
      this.#openGate(reply.value);
      this.#noteForks(lane, reply.value);
      return this.#fill(fence, projection, reply.value);
    });
  }

  /** What hot stock lacked is brought first; then the drops that had to wait are told again. */
  async #fill(fence: Fence, projection: Projection, found: ProjectReply): Promise<Projected> {
    for (const sku of found.missing) {
      const [level] = await this.#ledger.levels([sku]);
      if (level === undefined) continue;
      const adopted = await this.#adopt(fence, level);
      if (adopted !== "done") return adopted;
    }
    const forked = new Set<SkuId>();
    for (const { sku, version } of found.gaps) {
      const caught = await this.catchUp(fence, sku, version);
      if (caught === "forked") forked.add(sku);
      else if (caught !== "done") return caught;
    }
    if (projection.settled.length === 0) return "done";
    if (found.gaps.length === 0 && found.missing.length === 0) return "done";
    const again = await this.#hot.project(fence, { entries: [], settled: projection.settled });
    if (again.closed) return this.#closed(fence, again.why);
    this.#openGate(again.value);
    return again.value.gaps.every(({ sku }) => forked.has(sku)) ? "done" : "later";
  }

  /** A SKU that the lane never had is new; one that it had is lost, and the lane in doubt. */
  async #adopt(fence: Fence, level: SkuRow): Promise<Projected> {
    const { sku, saleId, version, hash, balances, status } = level;
    const reply = await this.#hot.adopt(fence, {
      sku,
      saleId,
      version,
      hash,
      available: balances.available,
      stopped: status === "stopped",
      revision: level.statusRevision,
    });
    if (reply.closed) return this.#closed(fence, reply.why);
    if (reply.value !== "lost") return "done";
    this.#fences.doubt(fence.lane, `SKU ${sku} is missing`);
    return "later";
  }

  async #guarded(lane: Lane, act: (fence: Fence) => Promise<Projected>): Promise<Projected> {
    try {
      const fence = await this.#fences.known(lane);
      if (fence === null) return "closed";
      const projected = await act(fence);
      const next = this.#fences.get(lane);
      if (projected !== "closed" || next === null || next.epoch === fence.epoch) return projected;
      // Another process has rebuilt the lane: this may have come after its snapshot.
      return await act(next);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#events.unknownOutcome("project");
      return "later";
    }
  }

  async #closed(fence: Fence, why: Parameters<Fences["closed"]>[1]): Promise<Projected> {
    await this.#fences.closed(fence.lane, why);
    return "closed";
  }

  #openGate(reply: ProjectReply): void {
    for (const sku of reply.gaveBack) this.#gate.open(sku);
  }

  #noteForks(lane: Lane, reply: ProjectReply): void {
    for (const { sku, version } of reply.forks) {
      const where = `SKU ${sku} in lane ${lane}`;
      this.#events.alarm("fork", `${where}: entries do not fit hot stock's version ${version}`);
    }
  }
}
