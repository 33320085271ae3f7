import type { Outcome } from "../src/domain/outcome.ts";
import type { Line } from "../src/domain/reservation.ts";
import type { ReservationView } from "../src/engine/engine.ts";
import type { Complain, LedgerAudit } from "./audit-ledger.ts";
import type { Told } from "./client.ts";
import { brief } from "./trace.ts";

export type Asked = {
  /** sale, buyer and key: what names a reservation. */
  readonly name: string;
  readonly content: string | null;
  /** What the ledger had decided before the question was put. */
  readonly before: Decision | undefined;
  /** Whether hot stock had heard of that decision. */
  readonly heardBefore: boolean;
  readonly admittedBefore: boolean;
  readonly toldBefore: boolean;
};

/** What the faults of a seed may have done: it decides what the seed is held to. */
export type Freedom = {
  /** Nobody edits hot stock, so it never admits what the ledger has not. */
  readonly exact: boolean;
  /** No ticket can be lost. */
  readonly strict: boolean;
  /** Nobody has edited hot stock since it was loaded. */
  readonly intact: boolean;
};

export type Decision = "reserved" | "rejected" | "void" | "cancelled";

const askAgain: ReadonlySet<string> = new Set(["STOCK_CLOSED", "BUSY"]);

/** Everything that clients were told, held against what the ledger has decided. */
export class AnswerAudit {
  readonly #ledger: LedgerAudit;
  readonly #complain: Complain;
  readonly #freedom: () => Freedom;
  readonly #hears: (id: string) => boolean;
  readonly #idOf = new Map<string, string>();
  readonly #contents = new Map<string, Set<string>>();
  readonly #views = new WeakSet<object>();
  /** Ids that a client was told of, and the decision it was told. */
  readonly told = new Map<string, Decision | "pending">();
  /** Ids that hot stock has admitted, with the cart it saw first. */
  readonly admitted = new Map<string, string>();
  /** Ids whose ticket the bus has stored before any barrier that would close it out. */
  readonly stored = new Set<string>();
  readonly payments = new Map<string, "taken" | "due" | "already">();
  readonly refunds = new Set<string>();
  answers = 0;

  constructor(
    ledger: LedgerAudit,
    parts: {
      readonly complain: Complain;
      readonly freedom: () => Freedom;
      /** Does hot stock remember a decision under the id? */
      readonly hears: (id: string) => boolean;
    },
  ) {
    this.#ledger = ledger;
    this.#complain = parts.complain;
    this.#freedom = parts.freedom;
    this.#hears = parts.hears;
  }

  /** Hot stock has admitted it, whether its caller knows or not. */
  sawAdmitted(ticket: {
    readonly id: string;
    readonly saleId: string;
    readonly buyerId: string;
    readonly idempotencyKey: string;
    readonly lines: readonly { sku: string; quantity: number }[];
  }): void {
    if (!this.admitted.has(ticket.id)) this.admitted.set(ticket.id, contentOf(ticket.lines));
    this.#idOf.set(nameOf({ ...ticket, key: ticket.idempotencyKey }), ticket.id);
  }

  ask(question: {
    readonly saleId: string;
    readonly buyerId: string;
    readonly key: string;
    readonly lines: readonly Line[];
  }): Asked {
    const name = nameOf(question);
    const content = contentOf(question.lines);
    const contents = this.#contents.get(name) ?? new Set();
    this.#contents.set(name, contents.add(content));
    return { name, content, ...this.#known(this.#idOf.get(name)) };
  }

  look(id: string): Asked {
    return { name: id, content: null, ...this.#known(id) };
  }

  #known(id: string | undefined): Omit<Asked, "name" | "content"> {
    if (id === undefined) {
      const nothing = { heardBefore: false, admittedBefore: false, toldBefore: false };
      return { before: undefined, ...nothing };
    }
    const told = this.told.get(id);
    return {
      before: this.#ledger.decision(id),
      heardBefore: this.#hears(id),
      admittedBefore: this.admitted.has(id),
      toldBefore: told !== undefined && told !== "pending",
    };
  }

  reserved(asked: Asked, outcome: Outcome<ReservationView>): void {
    this.answers += 1;
    if (outcome.ok) {
      this.#idOf.set(asked.name, outcome.value.id);
      this.#decided(asked, outcome.value);
      return;
    }
    const view = outcome.facts?.["reservation"];
    if (typeof view === "object" && view !== null) this.#views.add(view);
    if (this.isView(view)) this.#decided(asked, view);
    else if (outcome.code === "KEY_REUSED") this.#reused(asked);
    else if (!askAgain.has(outcome.code)) this.#refused(asked, outcome.code);
  }

  looked(asked: Asked, view: ReservationView | null): void {
    this.answers += 1;
    if (view === null) this.#complain("answers", `${asked.name} is nobody's, says a look`);
    else this.#decided(asked, view);
  }

  isView(value: unknown): value is ReservationView {
    return typeof value === "object" && value !== null && this.#views.has(value);
  }

  /** No false success: what is said to be decided stands in the ledger. */
  #decided(asked: Asked, view: ReservationView): void {
    const { id, state } = view;
    const claim = claimOf(view);
    if (claim === "pending") {
      if (!this.told.has(id)) this.told.set(id, "pending");
      if (asked.toldBefore) this.#complain("answers", `${id} was decided, and is pending again`);
      this.#pendingFor(asked, id);
      return;
    }
    const found = this.#ledger.decision(id);
    if (found === undefined) {
      this.#complain("I6", `${id} is ${state}, says an answer; the ledger has no such`);
      return;
    }
    if (found !== claim && !(found === "cancelled" && claim === "reserved")) {
      this.#complain("answers", `${id} is ${state}, says an answer; the ledger: ${found}`);
    }
    const before = this.told.get(id);
    if (before !== undefined && before !== "pending" && before !== found) {
      this.#complain("answers", `${id} was ${before}, and is ${found} now`);
    }
    this.told.set(id, found);
    const content = this.#ledger.contentOf(id);
    if (asked.content !== null && content !== null && content !== asked.content) {
      this.#complain("answers", `${id} holds ${content}, asked with ${asked.content}: no conflict`);
    }
  }

  /** While nothing is lost the cart that was admitted is the one that is on its way. */
  #pendingFor({ content }: Asked, id: string): void {
    const known = this.admitted.get(id);
    if (content === null || known === undefined || known === content) return;
    if (!this.#freedom().strict) return;
    this.#complain("answers", `${id} holds ${known}, and ${content} is told pending: no conflict`);
  }

  #reused(asked: Asked): void {
    const contents = this.#contents.get(asked.name)?.size ?? 0;
    if (contents > 1) return;
    this.#complain("answers", `${asked.name} was told with one content, and refused as reused`);
  }

  /** A refusal is only for an id that nothing is known of. */
  #refused(asked: Asked, code: string): void {
    const known = this.#contentBefore(asked);
    // At the gate of another SKU a key that was used before is not recognized: nothing is taken.
    if (code === "SOLD_OUT" && known !== null && known !== asked.content) return;
    const words = `${asked.name.replaceAll("\n", " ")} is refused (${code})`;
    const { strict, intact } = this.#freedom();
    // It stands behind no ticket and no entry, so an id whose ticket was lost is new to hot stock
    // until it is told. Any no is as good as another.
    const isTombstone = asked.before === "void" || asked.before === "cancelled";
    const isUnheard = isTombstone && !asked.heardBefore && !strict;
    if (asked.before !== undefined && intact && !isUnheard) {
      this.#complain("answers", `${words}; the ledger had decided: ${asked.before}`);
    } else if (asked.admittedBefore && strict) {
      this.#complain("answers", `${words}; it was admitted before, and nothing was lost`);
    }
  }

  #contentBefore(asked: Asked): string | null {
    const id = this.#idOf.get(asked.name);
    if (id === undefined) return null;
    return this.#ledger.contentOf(id) ?? this.admitted.get(id) ?? null;
  }

  /** True once the payment is decided. */
  paid(id: string, payment: string, outcome: Outcome<ReservationView>): boolean {
    this.answers += 1;
    const key = `${id} ${payment}`;
    const decided = paymentDecision(outcome);
    if (decided === null) {
      const code = outcome.ok ? outcome.value.state : outcome.code;
      if (!askAgain.has(code) && code !== "WRONG_STATE" && code !== "VOID") {
        this.#complain("payments", `payment ${key} was answered ${code}`);
      }
      return false;
    }
    const before = this.payments.get(key);
    if (before !== undefined && before !== decided) {
      this.#complain("payments", `payment ${key} was ${before}, and is ${decided} now`);
    }
    this.payments.set(key, decided);
    if (decided === "taken" && this.#ledger.paidBy(id) !== payment) {
      this.#complain("I6", `payment ${key} is taken, says an answer; the ledger has no such`);
    }
    return true;
  }

  /** True once it is clear whether it is cancelled. */
  cancelled(id: string, outcome: Outcome<ReservationView>): boolean {
    this.answers += 1;
    if (!outcome.ok) return !askAgain.has(outcome.code) && outcome.facts?.["state"] !== "pending";
    if (outcome.value.state !== "cancelled") return false;
    if (!this.#ledger.isCancelled(id)) {
      this.#complain("I6", `${id} is cancelled, says an answer; the ledger does not`);
    }
    return true;
  }

  /** True once the refund is decided. */
  refunded(id: string, refund: string, outcome: Outcome<ReservationView>): boolean {
    this.answers += 1;
    const key = `${id} ${refund}`;
    if (outcome.ok) {
      this.refunds.add(key);
      return true;
    }
    if (askAgain.has(outcome.code)) return false;
    if (this.refunds.has(key) && outcome.code !== "KEY_REUSED") {
      this.#complain("answers", `refund ${key} was done, and is refused (${outcome.code}) now`);
    }
    return true;
  }

  inWords(told: Told<unknown>): string {
    return told.known ? brief(told.value, 300) : `unknown: ${told.why}`;
  }
}

function nameOf(of: {
  readonly saleId: string;
  readonly buyerId: string;
  readonly key: string;
}): string {
  return `${of.saleId}\n${of.buyerId}\n${of.key}`;
}

/** The auditor's own words for a cart. */
export function contentOf(lines: readonly { sku: string; quantity: number }[]): string {
  const sums = new Map<string, number>();
  for (const { sku, quantity } of lines) sums.set(sku, (sums.get(sku) ?? 0) + quantity);
  return [...sums]
    .map(([sku, sum]) => `${sku}*${sum}`)
    .sort()
    .join(" ");
}

function claimOf(view: ReservationView): Decision | "pending" {
  if (view.state === "pending" || view.state === "rejected" || view.state === "void") {
    return view.state;
  }
  return "reserved";
}

function paymentDecision(outcome: Outcome<ReservationView>): "taken" | "due" | "already" | null {
  if (outcome.ok) {
    const { state } = outcome.value;
    return state === "confirmed" || state === "refunded" ? "taken" : null;
  }
  if (outcome.code === "REFUND_DUE") return "due";
  return outcome.code === "ALREADY_PAID" ? "already" : null;
}
