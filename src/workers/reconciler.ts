import type { Lease } from "../domain/lease.ts";
import type { Sale } from "../domain/sale.ts";
import type { Lane, SaleId, SkuId } from "../domain/values.ts";
import type { ReconciledSku } from "../engine/engine.ts";
import { observeOpen } from "../engine/levels.ts";
import type { Parts } from "../engine/parts.ts";
import { reconcile, skusPerTurn } from "../engine/reconcile.ts";
import type { Fence, Observation } from "../hot-stock/hot-stock.ts";
import type { LeasedWorker } from "./leased.ts";

const everyMs = 500;
/** Looking takes a fifth of the time, until damage would wait too long to be seen. */
const restForEach = 4;
const restMsMax = 5_000;
/** Summing a SKU's orders costs as much as it has; so much of the time at most goes there. */
const sumsTimeShare = 0.02;

/**
 * The continuous check, and the healing that is safe by construction: catch up by version, tell
 * a policy again, send a lost ticket again (by a marker), rebuild. Damage to the ledger itself
 * stops the SKU and calls a person.
 */
export class Reconciler implements LeasedWorker {
  readonly name = "reconciler";
  readonly #parts: Parts;
  #sumCursor: string | null = null;
  #nextSumAt = 0;
  #restMs = everyMs;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async step(lease: Lease): Promise<number> {
    const { clock, lanes } = this.#parts;
    const startedAt = clock.mono();
    const { items } = await reconcile(this.#parts);
    for (const item of items) await this.#heal(item, lease);
    for (let lane = 0; lane < lanes; lane += 1) await this.#tendLane(lane);
    await this.#sumOrders(lease);
    const rest = (clock.mono() - startedAt) * restForEach;
    this.#restMs = Math.min(restMsMax, Math.max(everyMs, rest));
    return 0;
  }

  idle(signal: AbortSignal): Promise<void> {
    return this.#parts.clock.sleep(this.#restMs, signal);
  }

  async #heal(item: ReconciledSku, lease: Lease): Promise<void> {
    const { ledger, fences, projector } = this.#parts;
    if (item.status === "ok" || item.status === "closed") return;
    const row = await ledger.level(item.sku);
    if (row === null) return;
    const fence = fences.get(row.lane);
    const { sku, hotVersion } = item;
    switch (item.status) {
      case "behind":
        if (fence !== null) await projector.catchUp(fence, sku, hotVersion);
        return;
      case "stopped":
        // Stopped for buyers; what the ledger has decided is projected all the same.
        if (fence === null || !item.fits || item.behind === 0) return;
        await projector.catchUp(fence, sku, hotVersion);
        return;
      case "missing":
        await projector.projectLevel(row);
        return;
      case "drift":
        fences.doubt(row.lane, `SKU ${item.sku} is off by ${item.drift}`);
        return;
      case "halted":
        fences.doubt(row.lane, `${sku} is stopped in hot stock alone`);
        return;
      case "ahead":
      case "forked":
        await this.#stop(item.sku, `the ledger went back: hot stock ${item.status}`, lease);
        return;
      case "damaged":
        await this.#stop(item.sku, "its row is not what its last entry left behind", lease);
        return;
    }
  }

  /** What hot stock should know besides stock: sales, stopped SKUs; and a marker on its way. */
  async #tendLane(lane: Lane): Promise<void> {
    const { hot, fences, projector, outboxBell } = this.#parts;
    const seen = await observeOpen(this.#parts, lane, null);
    const fence = fences.get(lane);
    if (seen === null || fence === null) return;
    const known = new Map(seen.policies.map(({ saleId, revision }) => [saleId, revision]));
    for (const sale of await this.#salesToTend(known)) {
      if (sale.lane !== lane || (known.get(sale.saleId) ?? 0) >= sale.revision) continue;
      await projector.projectSale(sale);
    }
    await this.#tendStatuses(seen);
    await this.#endSales(fence, known);
    // No message will ever release them, and the equation holds: only a rebuild gives them back.
    const orphan = seen.skus.find(({ inFlight }) => inFlight > 0);
    if (orphan !== undefined && seen.tickets === 0) {
      fences.doubt(lane, `SKU ${orphan.sku} holds ${orphan.inFlight} for a ticket that is gone`);
    }
    if (seen.tickets + seen.voids > 0) {
      await hot.mark(fence);
      outboxBell.ring();
    }
  }

  async #tendStatuses({ skus }: Observation): Promise<void> {
    const { ledger, projector, turn } = this.#parts;
    const revisions = new Map(skus.map(({ sku, statusRevision }) => [sku, statusRevision]));
    for (let from = 0; from < skus.length; from += skusPerTurn) {
      if (from > 0) await turn();
      const part = skus.slice(from, from + skusPerTurn).map(({ sku }) => sku);
      for (const level of await ledger.levels(part)) {
        if (level.statusRevision > (revisions.get(level.sku) ?? 0)) {
          await projector.projectStatus(level);
        }
      }
    }
  }

  /** What runs by the ledger, and what hot stock still takes for running. */
  async #salesToTend(known: ReadonlyMap<SaleId, number>): Promise<readonly Sale[]> {
    const { ledger } = this.#parts;
    const running = await ledger.salesIn(["draft", "open", "paused"]);
    const seen = new Set(running.map(({ saleId }) => saleId));
    const closed: Sale[] = [];
    for (const saleId of known.keys()) {
      const sale = seen.has(saleId) ? null : await ledger.sale(saleId);
      if (sale !== null) closed.push(sale);
    }
    return [...running, ...closed];
  }

  /** When a closed sale's holds have ended, its answers are forgotten. */
  async #endSales(fence: Fence, known: ReadonlyMap<SaleId, number>): Promise<void> {
    const { ledger, hot } = this.#parts;
    for (const saleId of await ledger.endedSales([...known.keys()])) {
      await hot.forgetSale(fence, saleId);
    }
  }

  /** Σ of orders against buckets, a SKU at a time, round and round. */
  async #sumOrders(lease: Lease): Promise<void> {
    const { ledger, clock } = this.#parts;
    const startedAt = clock.mono();
    if (startedAt < this.#nextSumAt) return;
    const [row] = await ledger.levelPage(this.#sumCursor, 1);
    this.#sumCursor = row?.sku ?? null;
    if (row === undefined || row.status === "stopped") return;
    for (const damage of await ledger.bucketDamage([row.sku])) {
      const { sku, what, expected, found, reservationId: id } = damage;
      const whose = id === null ? "" : ` of order ${id}`;
      await this.#stop(sku, `${what}${whose}: ${expected} expected, ${found} found`, lease);
    }
    this.#nextSumAt = startedAt + (clock.mono() - startedAt) / sumsTimeShare;
  }

  async #stop(sku: SkuId, reason: string, lease: Lease): Promise<void> {
    const { line, events, projector } = this.#parts;
    const stop = { kind: "sku-status", sku, to: "stopped", operationId: null } as const;
    const result = await line.one({ ...stop, actor: "reconciler", reason, lease });
    if (result.status !== "accepted" || result.replayed) return;
    events.skuStopped(sku, reason);
    if (result.subject.level !== undefined) await projector.projectStatus(result.subject.level);
  }
}
