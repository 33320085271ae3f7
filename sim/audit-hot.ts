import type { SkuId } from "../src/domain/values.ts";
import type { HotSku, LaneState } from "../src/hot-stock/lane-state.ts";
import type { Complain, LedgerAudit, SkuAccount } from "./audit-ledger.ts";

/** What the world knows about a lane that no process does. */
export type LaneFacts = {
  /** Hot stock lost something, and no load has followed. */
  lost: boolean;
  /** Somebody edited the keys, and no load has followed. */
  tampered: boolean;
  /** SKU → the version seen last, since the last loss. */
  readonly versions: Map<string, number>;
  /** SKUs that stand on an entry which the ledger does not have, until a person has looked. */
  readonly forks: Map<SkuId, Fork>;
};

export type Fork = { readonly version: number; readonly hash: string };

/** The most that may stand in an outbox or an overlay: memory is bounded. */
const heldMax = 5_000;

/** Compares hot stock with the ledger's entries, exactly, at a moment between two events. */
export class HotAudit {
  readonly #ledger: LedgerAudit;
  readonly #complain: Complain;
  readonly #facts = new Map<number, LaneFacts>();
  samples = 0;

  constructor(ledger: LedgerAudit, complain: Complain) {
    this.#ledger = ledger;
    this.#complain = complain;
  }

  facts(lane: number): LaneFacts {
    const known = this.#facts.get(lane);
    if (known !== undefined) return known;
    const facts: LaneFacts = {
      lost: false,
      tampered: false,
      versions: new Map(),
      forks: new Map(),
    };
    this.#facts.set(lane, facts);
    return facts;
  }

  all(): readonly LaneFacts[] {
    return [...this.#facts.values()];
  }

  /** Invariant I, versions, hashes: cheap enough for every change. */
  sample(lane: number, state: LaneState, options: { readonly exact: boolean }): void {
    this.samples += 1;
    const facts = this.facts(lane);
    if (state.outbox.size > heldMax || state.tickets.size > heldMax) {
      this.#complain("bounded", `lane ${lane} holds more than ${heldMax} items`);
    }
    for (const [id, sku] of state.skus) {
      const account = this.#ledger.skus.get(id);
      if (account === undefined) {
        this.#complain("I8", `hot stock has SKU ${id}, which the ledger never had`);
        continue;
      }
      const fork = facts.forks.get(id);
      if (fork !== undefined) this.#fork(id, sku, fork);
      if (facts.tampered || state.rebuilding || fork !== undefined) continue;
      this.#equation(account, sku);
      const before = facts.versions.get(id) ?? 0;
      if (!facts.lost && sku.version < before) {
        this.#complain("I8", `SKU ${id} went back from ${before} to ${sku.version} in hot stock`);
      }
      facts.versions.set(id, sku.version);
      if (options.exact && sku.available < 0) {
        this.#complain("I10", `SKU ${id}: hot available is ${sku.available}, and nobody edited it`);
      }
    }
  }

  /** The ledger went back, so it seems: nothing is mended by machine. */
  #fork(id: SkuId, sku: HotSku, { version, hash }: Fork): void {
    if (sku.version === version && sku.hash === hash) return;
    const found = `is at ${sku.version} now, and nobody has looked`;
    this.#complain("fork", `SKU ${id} stood at version ${version} of another history; it ${found}`);
  }

  /** A person has looked, or a rebuild has passed the version: the ledger's history holds. */
  endFork(lane: number, id: SkuId): void {
    const facts = this.facts(lane);
    facts.forks.delete(id);
    facts.versions.delete(id);
  }

  /** A SKU that is gone stands on no history. */
  forgetForks(lane: number, state: LaneState): void {
    for (const sku of this.facts(lane).forks.keys()) {
      if (!state.skus.has(sku)) this.endFork(lane, sku);
    }
  }

  #equation(account: SkuAccount, sku: HotSku): void {
    const step = account.steps[sku.version];
    if (step === undefined) {
      const found = `hot stock is at version ${sku.version}, the ledger at ${account.last.version}`;
      this.#complain("I8", `SKU ${account.id}: ${found}`);
      return;
    }
    let held = 0;
    for (const quantity of sku.overlay.values()) held += quantity;
    if (sku.available + held !== step.available) {
      const found = `${sku.available} + ${held} in flight, ledger ${step.available}`;
      this.#complain("I8", `SKU ${account.id} at version ${sku.version}: hot ${found}`);
    }
    if (sku.hash !== step.hash) {
      this.#complain("I12", `SKU ${account.id}: another hash at version ${sku.version}`);
    }
  }

  /** Overlay ↔ tickets, buyers' counts and answers: the slower half. */
  deep(lane: number, state: LaneState): void {
    const facts = this.facts(lane);
    if (facts.tampered || facts.lost || state.rebuilding) return;
    this.#overlay(state);
    for (const [id, sku] of state.skus) {
      // At a version of another history nobody's count can be held against the ledger's.
      if (!facts.forks.has(id)) this.#buyers(state, id, sku);
    }
    this.#answers(state, facts);
  }

  #overlay(state: LaneState): void {
    for (const [id, sku] of state.skus) {
      for (const [ticketId, quantity] of sku.overlay) {
        const lines = state.tickets.get(ticketId)?.ticket.lines ?? [];
        if (lines.some((line) => line.sku === id && line.quantity === quantity)) continue;
        this.#complain("I8", `SKU ${id}: ${quantity} held for ${ticketId}, which has no ticket`);
      }
    }
    for (const [ticketId, { ticket }] of state.tickets) {
      // A SKU that is not there was forgotten for a rebuild, which gives the units again.
      const held = ticket.lines.some(
        (line) => state.skus.get(line.sku)?.overlay.has(ticketId) ?? true,
      );
      if (!held) this.#complain("I8", `ticket ${ticketId} holds nothing`);
    }
  }

  /** A buyer's count = what the ledger says at the version + what is in flight. */
  #buyers(state: LaneState, id: string, sku: HotSku): void {
    const account = this.#ledger.skus.get(id);
    const sale = sku.saleId;
    if (account === undefined || sale === null) return;
    const flying = new Map<string, number>();
    for (const [ticketId, quantity] of sku.overlay) {
      const ticket = state.tickets.get(ticketId)?.ticket;
      if (ticket === undefined || ticket.kind === "take" || ticket.saleId !== sale) continue;
      flying.set(ticket.buyerId, (flying.get(ticket.buyerId) ?? 0) + quantity);
    }
    const buyers = new Set<string>([...sku.buyers.keys(), ...flying.keys()]);
    for (const key of account.units.keys()) {
      const [of, buyer] = key.split("\n");
      if (of === sale && buyer !== undefined) buyers.add(buyer);
    }
    const counts = new Map<string, number>(sku.buyers);
    for (const buyer of buyers) {
      const decided = account.unitsAt(`${sale}\n${buyer}`, sku.version);
      const expected = decided + (flying.get(buyer) ?? 0);
      const found = counts.get(buyer) ?? 0;
      if (found === expected) continue;
      const what = `${found} units for buyer ${buyer}, ledger and overlay say ${expected}`;
      this.#complain("I7", `SKU ${id}: hot stock counts ${what}`);
    }
  }

  /**
   * Every decision that the projection has passed is remembered, so a repeat is answered. A SKU
   * that stands on another history has passed no decision, however high its version.
   */
  #answers(state: LaneState, { forks }: LaneFacts): void {
    const sales = new Set<string>(state.policies.keys());
    const versions = new Map<string, number>();
    for (const [sku, { version }] of state.skus) if (!forks.has(sku)) versions.set(sku, version);
    for (const order of this.#ledger.orders.values()) {
      if (order.sale === null || !sales.has(order.sale) || state.answers.has(order.id)) continue;
      let passed = order.lines.size > 0;
      for (const [sku, line] of order.lines) {
        if ((versions.get(sku) ?? 0) < line.decidedAt) passed = false;
      }
      if (passed) this.#complain("answers", `hot stock forgot the decision of ${order.id}`);
    }
  }
}
