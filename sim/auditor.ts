import { skuId } from "../src/domain/values.ts";
import type { LaneState } from "../src/hot-stock/lane-state.ts";
import { AnswerAudit, type Freedom } from "./audit-answers.ts";
import { HotAudit } from "./audit-hot.ts";
import { LeaseAudit } from "./audit-leases.ts";
import { type Complain, LedgerAudit } from "./audit-ledger.ts";
import { isObject } from "./audit-objects.ts";
import { num, type Rows } from "./audit-rows.ts";
import { StampAudit } from "./audit-stamps.ts";
import type { Observed } from "./faults.ts";

/** Calls after which hot stock may be another. */
const changing: ReadonlySet<string> = new Set([
  "admit",
  "project",
  "load",
  "resend",
  "setPolicy",
  "adopt",
  "forgetSale",
  "forgetSku",
]);
/** Every so many changes the slower half of the comparison is made. */
const deepEvery = 16;

/**
 * The independent auditor: it sees every effect on a store, does its own arithmetic on plain
 * rows, and is asked again when everything has come to rest.
 */
export class Auditor {
  readonly ledger: LedgerAudit;
  readonly hot: HotAudit;
  readonly answers: AnswerAudit;
  readonly stamps: StampAudit;
  readonly leases: LeaseAudit;
  readonly #rows: Rows;
  readonly #complain: Complain;
  readonly #peek: (lane: number) => LaneState | null;
  readonly #freedom: () => Freedom;

  constructor(parts: {
    readonly rows: Rows;
    readonly complain: Complain;
    readonly peek: (lane: number) => LaneState | null;
    readonly freedom: () => Freedom;
    readonly now: () => number;
  }) {
    this.#rows = parts.rows;
    this.#complain = parts.complain;
    this.#peek = parts.peek;
    this.#freedom = parts.freedom;
    this.leases = new LeaseAudit(parts.complain, parts.now);
    this.stamps = new StampAudit(parts.complain);
    this.ledger = new LedgerAudit(parts.rows, parts.complain);
    this.hot = new HotAudit(this.ledger, parts.complain);
    const { complain, freedom, peek } = parts;
    // An id begins with its lane.
    const hears = (id: string) => peek(Number.parseInt(id, 10))?.answers.has(id) ?? false;
    this.answers = new AnswerAudit(this.ledger, { complain, freedom, hears });
  }

  observe(call: Observed): void {
    if (call.port === "ledger") this.leases.check(call);
    if (call.port === "ledger" && call.method === "commit") this.stamps.check(call);
    if (call.port === "ledger" && call.method === "commit" && changed(call)) {
      this.#guard(this.ledger.follow());
    }
    if (call.port !== "hot" || !changing.has(call.method)) return;
    const [fence, what] = call.args;
    const lane = isObject(fence) && typeof fence["lane"] === "number" ? fence["lane"] : 0;
    const done = isObject(call.result) && call.result["closed"] === false;
    if (done && call.method === "forgetSku") this.hot.endFork(lane, skuId(what));
    if (done && call.method === "load") this.#endForks(lane);
    if (done && call.method === "admit") this.#admitted(lane, call);
    if (done && call.method === "load" && isObject(fence)) {
      this.#guard(this.#loaded(lane, Number(fence["epoch"])));
    }
    this.sample(lane, done && call.method === "load");
  }

  sample(lane: number, deep = false): void {
    const state = this.#peek(lane);
    if (state === null) return;
    this.hot.sample(lane, state, this.#freedom());
    if (deep || this.hot.samples % deepEvery === 0) this.hot.deep(lane, state);
  }

  /** A load may pass a forked version; it may not lower one. */
  #endForks(lane: number): void {
    const state = this.#peek(lane);
    if (state === null) return;
    const { forks } = this.hot.facts(lane);
    for (const [sku, { version }] of state.skus) {
      const fork = forks.get(sku);
      if (fork !== undefined && version > fork.version) this.hot.endFork(lane, sku);
    }
  }

  /** Fail-closed: nothing is admitted between a loss and the load after it. */
  #admitted(lane: number, call: Observed): void {
    const [, tickets] = call.args;
    const value = isObject(call.result) ? call.result["value"] : null;
    if (!Array.isArray(tickets) || !Array.isArray(value)) return;
    for (const [index, ticket] of tickets.entries()) {
      const admission: unknown = value[index];
      if (!isObject(admission) || admission["kind"] !== "admitted" || !isObject(ticket)) continue;
      if (this.hot.facts(lane).lost) {
        const id = String(ticket["id"]);
        this.#complain("fail-closed", `${id} is admitted after a loss and before the rebuild`);
      }
      if (ticket["kind"] === "reserve") {
        this.answers.sawAdmitted({
          id: String(ticket["id"]),
          saleId: String(ticket["saleId"]),
          buyerId: String(ticket["buyerId"]),
          idempotencyKey: String(ticket["idempotencyKey"]),
          lines: linesOf(ticket["lines"]),
        });
      }
    }
  }

  async #loaded(lane: number, epoch: number): Promise<void> {
    const facts = this.hot.facts(lane);
    facts.lost = false;
    facts.tampered = false;
    const [row] = await this.#rows("select met from lanes where lane = ?", [lane]);
    const met = row === undefined ? 0 : num(row, "met");
    if (met >= epoch) return;
    this.#complain("barrier", `lane ${lane} was loaded for ${epoch}, and only ${met} is met`);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#complain("auditor", error instanceof Error ? (error.stack ?? "") : String(error));
    });
  }
}

/** A commit that made no entry, settled no ticket and created no sale has changed no stock. */
function changed({ args, result }: Observed): boolean {
  if (!isObject(result)) return true;
  const [commands] = args;
  const creates = (each: unknown): boolean => isObject(each) && each["kind"] === "create-sale";
  if (Array.isArray(commands) && commands.some(creates)) return true;
  return [result["entries"], result["settled"]].some(
    (list) => !Array.isArray(list) || list.length > 0,
  );
}

function linesOf(value: unknown): { sku: string; quantity: number }[] {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [];
  return lines.flatMap((line) =>
    isObject(line) ? [{ sku: String(line["sku"]), quantity: Number(line["quantity"]) }] : [],
  );
}
