import type { Shop, Told } from "../../src/loadtest/shop.ts";
import type {
  Buckets,
  EntryFact,
  OrderFact,
  StoresFact,
  Witness,
} from "../../src/loadtest/witness.ts";

/** What is wrong with a tiny store: each must be found by the one who judges it. */
export const tinyFaults = {
  "sells one too many": "oversold",
  "says reserved and writes nothing": "no-entry",
  "refuses the last five": "leaked",
  "refuses at rest what came back": "leaked",
  "takes units into no order": "leaked",
  "loses a payment": "payment-lost",
  "makes a second order for a repeat": "two-ids",
  "gives two keys one order": "one-id",
  "takes a payment twice": "leaked",
  "refuses a payment that is told twice": "two-answers",
  "answers a payment with somebody else's": "odd-answer",
  "takes back what it promised": "taken-back",
  "holds for a buyer who was told no": "told-no",
  "leaves keys undecided": "pending",
  "edits an entry": "audit",
  drifts: "drift",
  "needs a repair": "repairs",
  "never comes to rest": "not-at-rest",
  "stops the SKU": "stopped",
} as const;
export type TinyFault = keyof typeof tinyFaults;

type Order = { readonly id: string; readonly quantity: number; state: string };

/** A shop with one SKU in a few lines, sound unless a fault is planted in it. */
export class TinyStore {
  readonly sku = "tiny";
  readonly stocked: number;
  readonly shop: Shop;
  readonly witness: Witness;
  readonly #fault: TinyFault | null;
  readonly #entries: EntryFact[] = [];
  readonly #orders = new Map<string, Order>();
  readonly #keys = new Map<string, string>();
  #buckets: Buckets = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };
  #calls = 0;

  constructor(stock: number, fault: TinyFault | null = null) {
    this.#fault = fault;
    this.stocked = stock;
    this.#enter("restock", stock, null, { available: stock });
    const told = (work: () => Omit<Told, "retryMs">): Promise<Told> =>
      Promise.resolve({ ...work(), retryMs: 1 });
    this.shop = {
      reserve: (key, { buyerId, quantity }) => told(() => this.#reserve(key, buyerId, quantity)),
      look: (id) => told(() => this.#tell(id)),
      pay: (id) => told(() => this.#pay(id)),
      cancel: (id) => told(() => this.#cancel(id)),
      close: () => Promise.resolve(),
    };
    this.witness = {
      level: () => Promise.resolve(this.#level()),
      entries: () => this.#read(),
      order: (id) => Promise.resolve(this.#order(id)),
      audit: () => Promise.resolve({ ok: true, entries: this.#entries.length, firstBroken: null }),
    };
  }

  stores(): StoresFact {
    const is = (fault: TinyFault): number => (this.#fault === fault ? 1 : 0);
    const item = {
      sku: this.sku,
      hotVersion: this.#entries.length,
      hotAvailable: this.#buckets.available + is("drifts"),
      inFlight: 0,
      drift: 0,
    };
    return {
      drift: 0,
      behind: is("never comes to rest"),
      inFlight: 0,
      repairs: this.#calls === 0 ? 0 : is("needs a repair"),
      closed: 0,
      stopped: is("stops the SKU"),
      items: [item],
    };
  }

  #reserve(key: string, buyer: string, quantity: number): Omit<Told, "retryMs"> {
    this.#calls++;
    const known = this.#keys.get(key);
    if (known !== undefined && this.#fault === "takes back what it promised") {
      return { kind: "refused", what: "SOLD_OUT", id: known };
    }
    if (known !== undefined && this.#fault !== "makes a second order for a repeat") {
      return this.#tell(known);
    }
    if (this.#isRefused(quantity)) return { kind: "refused", what: "SOLD_OUT", id: null };
    if (this.#fault === "leaves keys undecided" && this.#calls % 7 === 0) {
      return { kind: "pending", what: "pending", id: "nobody" };
    }
    const id = this.#fault === "gives two keys one order" ? "same" : `order-${this.#calls}`;
    this.#keys.set(key, id);
    this.#orders.set(id, { id, quantity, state: "reserved" });
    this.#enterReserve(id, buyer, quantity);
    const isLie = this.#fault === "holds for a buyer who was told no" && this.#calls === 3;
    if (isLie) return { kind: "refused", what: "SOLD_OUT", id: null };
    return { kind: "held", what: "reserved", id };
  }

  #isRefused(quantity: number): boolean {
    const { available } = this.#buckets;
    if (this.#fault === "refuses the last five") return available - quantity < 5;
    if (this.#fault === "refuses at rest what came back" && available < 1) this.#isShut = true;
    if (this.#isShut) return true;
    return available + (this.#fault === "sells one too many" ? 1 : 0) < quantity;
  }
  #isShut = false;

  #enterReserve(id: string, buyer: string, quantity: number): void {
    if (this.#fault === "says reserved and writes nothing" && this.#calls === 2) return;
    const { available, reserved } = this.#buckets;
    const after = { available: available - quantity, reserved: reserved + quantity };
    this.#enter("reserve", quantity, { id, buyer }, after);
    if (this.#fault === "takes units into no order" && this.#calls === 2) {
      this.#orders.set(id, { id, quantity, state: "rejected" });
    }
  }

  #pay(id: string): Omit<Told, "retryMs"> {
    const order = this.#orders.get(id);
    const isAgain = order?.state === "confirmed" && this.#fault !== "takes a payment twice";
    if (isAgain && this.#fault !== "refuses a payment that is told twice") return this.#tell(id);
    const isOpen = order?.state === "reserved" || this.#fault === "takes a payment twice";
    if (order === undefined || !isOpen) return { kind: "refused", what: "WRONG_STATE", id: null };
    const other = [...this.#orders.keys()].find((one) => one !== id) ?? id;
    if (this.#fault === "answers a payment with somebody else's") {
      return { kind: "held", what: "confirmed", id: other };
    }
    if (this.#fault === "loses a payment") return { kind: "held", what: "confirmed", id };
    order.state = "confirmed";
    const { reserved, sold } = this.#buckets;
    const { quantity } = order;
    const after = { reserved: reserved - quantity, sold: sold + quantity };
    this.#enter("confirm", quantity, { id, buyer: "" }, after);
    return this.#tell(id);
  }

  #cancel(id: string): Omit<Told, "retryMs"> {
    const order = this.#orders.get(id);
    if (order?.state === "cancelled") return this.#tell(id);
    if (order?.state !== "reserved") return { kind: "refused", what: "WRONG_STATE", id: null };
    order.state = "cancelled";
    const { available, reserved } = this.#buckets;
    const { quantity } = order;
    const after = { available: available + quantity, reserved: reserved - quantity };
    this.#enter("cancel", quantity, { id, buyer: "" }, after);
    return this.#tell(id);
  }

  #tell(id: string): Omit<Told, "retryMs"> {
    const state = this.#orders.get(id)?.state ?? "pending";
    if (state === "pending") return { kind: "pending", what: state, id };
    return { kind: state === "cancelled" ? "over" : "held", what: state, id };
  }

  #enter(
    operation: string,
    quantity: number,
    order: { readonly id: string; readonly buyer: string } | null,
    after: Partial<Buckets>,
  ): void {
    this.#buckets = { ...this.#buckets, ...after };
    const version = this.#entries.length + 1;
    this.#entries.push({
      version,
      operation,
      quantity,
      reservationId: order?.id ?? null,
      buyerId: order?.buyer ?? null,
      after: this.#buckets,
      previousHash: this.#entries.at(-1)?.hash ?? "0".repeat(64),
      hash: `hash-${version}`,
    });
  }

  #level() {
    const last = this.#entries.at(-1);
    const hash = last?.hash ?? "";
    return { sku: this.sku, version: this.#entries.length, hash, buckets: this.#buckets };
  }

  async *#read(): AsyncIterable<EntryFact> {
    const isEdited = (version: number): boolean =>
      this.#fault === "edits an entry" && version === 4;
    for (const entry of this.#entries) {
      yield isEdited(entry.version) ? { ...entry, quantity: entry.quantity + 1 } : entry;
    }
  }

  #order(id: string): OrderFact | null {
    const order = this.#orders.get(id);
    if (order === undefined) return null;
    const lines = [{ sku: this.sku, quantity: order.quantity }];
    return { id, state: order.state, lines, refunded: [] };
  }
}
