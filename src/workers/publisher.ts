import { isoTime } from "../clock.ts";
import type { Lease } from "../domain/lease.ts";
import type { SkuId } from "../domain/values.ts";
import type { Parts } from "../engine/parts.ts";
import type { EntryRow } from "../ledger/ledger.ts";
import type { LeasedWorker } from "./leased.ts";

const publishMax = 500;
const everyMs = 50;
/** Without an outlet there is no hurry, and an update for each second costs nothing. */
const quietEveryMs = 1_000;

/** Where the events of the ledger go: they are confirmed by resolving. */
export interface Outlet {
  deliver(events: readonly CloudEvent[]): Promise<void>;
}

/** CloudEvents 1.0, structured. */
export type CloudEvent = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly data: EntryRow;
};

/**
 * Tells the world: the entries of each SKU in version order, at least once, marked when the
 * outlet has confirmed. What is next is asked of the ledger, never "greater than the last seen".
 */
export class Publisher implements LeasedWorker {
  readonly name = "publisher";
  readonly #parts: Parts;
  readonly #outlet: Outlet | null;

  /** Without an outlet nobody subscribes: entries count as told, and none is read for it. */
  constructor(parts: Parts, outlet: Outlet | null) {
    this.#parts = parts;
    this.#outlet = outlet;
  }

  async step(lease: Lease): Promise<number> {
    const { ledger } = this.#parts;
    if (this.#outlet === null) {
      const [pending] = await ledger.unpublished(1);
      if (pending !== undefined) await ledger.publishedAll(lease);
      return 0;
    }
    const rows = await ledger.unpublished(publishMax);
    if (rows.length === 0) return 0;
    await this.#outlet.deliver(rows.map(eventOf));
    const marks = new Map<SkuId, number>();
    for (const { sku, version } of rows) marks.set(sku, Math.max(version, marks.get(sku) ?? 0));
    const told = [...marks].map(([sku, version]) => ({ sku, version }));
    await ledger.published(told, lease);
    return rows.length;
  }

  idle(signal: AbortSignal): Promise<void> {
    const ms = this.#outlet === null ? quietEveryMs : everyMs;
    return this.#parts.clock.sleep(ms, signal);
  }
}

function eventOf(entry: EntryRow): CloudEvent {
  return {
    specversion: "1.0",
    id: `${entry.sku}@${entry.version}`,
    source: "/holdfast/ledger",
    type: `dev.holdfast.stock.${entry.operation}.v1`,
    subject: entry.sku,
    time: isoTime(entry.at),
    datacontenttype: "application/json",
    data: entry,
  };
}
