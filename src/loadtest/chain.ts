import { type Buckets, bucketNames, type EntryFact } from "./witness.ts";

/** A SKU's history played again from its entries alone. */
export type Replay = {
  readonly buckets: Buckets;
  readonly version: number;
  readonly hash: string;
  /** Units that came in from outside, less those that went out again. */
  readonly stocked: number;
  /** What each order holds now. */
  readonly orders: ReadonlyMap<string, Holding>;
  /** The most that was ever taken beyond what had come in until then. */
  readonly oversold: number;
  /**
   * Of the units that were on sale at the version from which the replay watches, or came in from
   * outside since: those that nobody ever took. What was given back is not among them: while it
   * was on its way, hot stock had nothing.
   */
  readonly untouched: number;
  /** Units of admissions that the ledger refused in that time. */
  readonly rejected: number;
  readonly availableAt: ReadonlyMap<number, number>;
  /** The first thing that does not fit, in words. */
  readonly broken: string | null;
};

export type Holding = {
  readonly buyer: string | null;
  /** Units taken by the order's `reserve`; 0 if it was only revived. */
  taken: number;
  reserved: number;
  sold: number;
};

type Bucket = keyof Buckets;

type Movement = readonly [Bucket | "outside", Bucket | "outside"] | null;

/** The movements, written down again: a fault in the engine's table must not hide here too. */
const movements: Readonly<Record<string, Movement>> = {
  restock: ["outside", "available"],
  adjust_up: ["outside", "available"],
  count_surplus: ["outside", "available"],
  withdraw: ["available", "outside"],
  adjust_down: ["available", "outside"],
  reserve: ["available", "reserved"],
  reject: null,
  confirm: ["reserved", "sold"],
  revive: ["available", "sold"],
  cancel: ["reserved", "available"],
  expire: ["reserved", "available"],
  refund: ["sold", "available"],
  refund_lost: ["sold", "lost"],
  freeze: ["available", "frozen"],
  unfreeze: ["frozen", "available"],
  count_found: ["frozen", "available"],
  count_lost: ["frozen", "lost"],
};

const noHash = "0".repeat(64);
/** A balance at a version is looked up for hot stock, which is never far behind. */
const versionsKept = 100_000;

export async function replay(
  entries: AsyncIterable<EntryFact>,
  watchFrom: { readonly version: number },
): Promise<Replay> {
  const state = new Replaying(watchFrom.version);
  for await (const entry of entries) state.take(entry);
  return state.result();
}

class Replaying {
  readonly #watchFrom: number;
  readonly #orders = new Map<string, Holding>();
  readonly #availableAt = new Map<number, number>([[0, 0]]);
  #buckets: Record<Bucket, number> = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };
  #version = 0;
  #hash = noHash;
  #stocked = 0;
  #oversold = 0;
  #untouched = 0;
  #rejected = 0;
  #broken: string | null = null;

  constructor(watchFrom: number) {
    this.#watchFrom = watchFrom;
  }

  take(entry: EntryFact): void {
    this.#expect(entry, entry.version === this.#version + 1, `follows version ${this.#version}`);
    this.#expect(entry, entry.previousHash === this.#hash, "does not continue the chain");
    const movement = movements[entry.operation];
    this.#expect(entry, movement !== undefined, `"${entry.operation}" is no movement`);
    if (movement !== undefined && movement !== null) this.#move(entry, movement);
    for (const bucket of bucketNames) {
      const fits = entry.after[bucket] === this.#buckets[bucket] && entry.after[bucket] >= 0;
      this.#expect(
        entry,
        fits,
        `${bucket} is ${entry.after[bucket]}, not ${this.#buckets[bucket]}`,
      );
    }
    const { reserved, sold, frozen, lost } = this.#buckets;
    this.#oversold = Math.max(this.#oversold, reserved + sold + frozen + lost - this.#stocked);
    this.#version = entry.version;
    this.#hash = entry.hash;
    this.#availableAt.set(entry.version, entry.after.available);
    this.#availableAt.delete(entry.version - versionsKept);
    this.#watch(entry, movement ?? null);
  }

  result(): Replay {
    return {
      buckets: this.#buckets,
      version: this.#version,
      hash: this.#hash,
      stocked: this.#stocked,
      oversold: this.#oversold,
      orders: this.#orders,
      untouched: Math.max(0, this.#untouched),
      rejected: this.#rejected,
      availableAt: this.#availableAt,
      broken: this.#broken,
    };
  }

  #expect(entry: EntryFact, isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.#broken ??= `entry ${entry.version}: ${otherwise}`;
  }

  #move(entry: EntryFact, [from, to]: NonNullable<Movement>): void {
    if (from === "outside") this.#stocked += entry.quantity;
    else this.#buckets[from] -= entry.quantity;
    if (to === "outside") this.#stocked -= entry.quantity;
    else this.#buckets[to] += entry.quantity;
    if (entry.reservationId === null) return;
    const holding = this.#holding(entry.reservationId, entry.buyerId);
    if (entry.operation === "reserve") holding.taken += entry.quantity;
    if (from === "reserved" || from === "sold") holding[from] -= entry.quantity;
    if (to === "reserved" || to === "sold") holding[to] += entry.quantity;
  }

  #holding(id: string, buyer: string | null): Holding {
    const known = this.#orders.get(id);
    if (known !== undefined) return known;
    const fresh: Holding = { buyer, taken: 0, reserved: 0, sold: 0 };
    this.#orders.set(id, fresh);
    return fresh;
  }

  #watch(entry: EntryFact, movement: Movement): void {
    if (entry.version <= this.#watchFrom) this.#untouched = this.#buckets.available;
    if (entry.version <= this.#watchFrom) return;
    if (entry.operation === "reject") this.#rejected += entry.quantity;
    if (movement?.[0] === "available") this.#untouched -= entry.quantity;
    if (movement?.[0] === "outside" && movement[1] === "available") {
      this.#untouched += entry.quantity;
    }
  }
}
