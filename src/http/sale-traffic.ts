import type { Clock } from "../clock.ts";
import type { Rejection } from "../domain/rejection.ts";
import type { ReserveResult } from "./metrics.ts";

/** What this process has answered to the buyers of one sale, since it started. */
export type Traffic = {
  /** Told reserved or pending, for the first time. */
  readonly admitted: number;
  readonly reserved: number;
  readonly soldOut: number;
  /** For any other reason. */
  readonly refused: number;
  readonly replayed: number;
  readonly faults: number;
  /** Of the last ten seconds; null when nobody asked. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
};

const counted = ["admitted", "reserved", "soldOut", "refused", "replayed", "faults"] as const;
type Counted = (typeof counted)[number];

/** Buckets of a latency grow by 8 %, from 0.1 ms to half a minute. */
const lowestMs = 0.1;
const growth = 1.08;
const bucketCount = 164;
const slotMs = 1_000;
const slotCount = 10;
const salesMax = 100;

/** Costs a buyer's call some arithmetic and no memory; the sale known longest goes first. */
export class SaleTraffic {
  readonly #clock: Clock;
  readonly #sales = new Map<string, OneSale>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  answered(saleId: string, answer: Answered): void {
    this.#of(saleId).add(answer, this.#clock.mono());
  }

  of(saleId: string): Traffic {
    const sale = this.#sales.get(saleId) ?? new OneSale();
    return sale.read(this.#clock.mono());
  }

  #of(saleId: string): OneSale {
    const known = this.#sales.get(saleId);
    if (known !== undefined) return known;
    const [oldest] = this.#sales.keys();
    if (oldest !== undefined && this.#sales.size >= salesMax) this.#sales.delete(oldest);
    const made = new OneSale();
    this.#sales.set(saleId, made);
    return made;
  }
}

export type Answered = {
  readonly result: ReserveResult;
  readonly code: Rejection | null;
  readonly seconds: number;
};

class OneSale {
  readonly #counts: Record<Counted, number> = {
    admitted: 0,
    reserved: 0,
    soldOut: 0,
    refused: 0,
    replayed: 0,
    faults: 0,
  };
  /** A ring of seconds, each with the number of the second that it holds. */
  readonly #slots = Array.from({ length: slotCount }, () => new Uint32Array(bucketCount));
  readonly #seconds = new Array<number>(slotCount).fill(-1);

  add({ result, code, seconds }: Answered, nowMs: number): void {
    for (const name of namesOf(result, code)) this.#counts[name]++;
    const second = Math.floor(nowMs / slotMs);
    const at = second % slotCount;
    const slot = this.#slots[at];
    if (slot === undefined) return;
    if (this.#seconds[at] !== second) {
      slot.fill(0);
      this.#seconds[at] = second;
    }
    const bucket = bucketOf(seconds * 1_000);
    slot[bucket] = (slot[bucket] ?? 0) + 1;
  }

  read(nowMs: number): Traffic {
    const since = Math.floor(nowMs / slotMs) - slotCount;
    const live = this.#slots.filter((_slot, at) => (this.#seconds[at] ?? -1) > since);
    const sums = new Array<number>(bucketCount).fill(0);
    for (const slot of live) {
      for (const [bucket, count] of slot.entries()) sums[bucket] = (sums[bucket] ?? 0) + count;
    }
    return { ...this.#counts, p50Ms: percentile(sums, 0.5), p99Ms: percentile(sums, 0.99) };
  }
}

function namesOf(result: ReserveResult, code: Rejection | null): readonly Counted[] {
  switch (result) {
    case "reserved":
      return ["admitted", "reserved"];
    case "pending":
      return ["admitted"];
    case "refused":
      return [code === "SOLD_OUT" ? "soldOut" : "refused"];
    case "replayed":
      return ["replayed"];
    case "fault":
      return ["faults"];
  }
}

function bucketOf(ms: number): number {
  const bucket = Math.ceil(Math.log(Math.max(ms, lowestMs) / lowestMs) / Math.log(growth));
  return Math.min(bucket, bucketCount - 1);
}

/** The upper edge of the bucket in which it falls: never better than it was. */
function percentile(sums: readonly number[], share: number): number | null {
  const total = sums.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.ceil(total * share);
  for (const [bucket, count] of sums.entries()) {
    left -= count;
    if (left <= 0) return Math.round(lowestMs * growth ** bucket * 100) / 100;
  }
  return null;
}
