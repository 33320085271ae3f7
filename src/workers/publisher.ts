import { isoTime } from "../clock.ts";
import type { Lease } from "../domain/lease.ts";
import { ledgerName } from "../domain/ledger-name.ts";
import { moves } from "../domain/stock.ts";
import type { SkuId } from "../domain/values.ts";
import type { Parts } from "../engine/parts.ts";
import type { EntryRow } from "../ledger/ledger.ts";
import { type CloudEvent, NotAllTold, type Outlet } from "../outlet/outlet.ts";
import type { LeasedWorker } from "./leased.ts";

/** Entries are gathered for so long: each round locks the rows that buyers' commits want, too. */
const everyMs = 1_000;
/**
 * Buyers first: a round is followed by a pause so many times as long. On a busy machine both
 * are long, and events fall behind; they catch up when it is quiet.
 */
const restFactor = 4;
const restMsMax = 500;
const batchMax = 500;
const dataschema = "urn:holdfast:schema:stock-entry:v1";

/**
 * Tells the world: the entries of each SKU in version order, at least once, marked when the
 * outlet has confirmed. What is next is asked of the ledger, never "greater than the last seen".
 */
export class Publisher implements LeasedWorker {
  readonly name = "publisher";
  readonly #parts: Parts;
  readonly #outlet: Outlet | null;
  readonly #source: string;
  #notBefore = 0;

  /** Without an outlet nobody subscribes: entries count as told, and none is read for it. */
  constructor(parts: Parts, outlet: Outlet | null) {
    this.#parts = parts;
    this.#outlet = outlet;
    this.#source = `/holdfast/${ledgerName(parts.idSecret)}`;
  }

  async step(lease: Lease): Promise<number> {
    const { ledger, clock } = this.#parts;
    if (this.#outlet === null) {
      const [pending] = await ledger.unpublished(1);
      if (pending !== undefined) await ledger.publishedAll(lease);
      return 0;
    }
    const startedAt = clock.mono();
    if (startedAt < this.#notBefore) return 0;
    const max = this.#outlet.batchMax ?? batchMax;
    const rows = await ledger.unpublished(max);
    this.#notBefore = rows.length < max ? startedAt + everyMs : startedAt;
    if (rows.length === 0) return 0;
    await this.#tell(this.#outlet, rows, lease);
    const endedAt = clock.mono();
    const restMs = Math.min(restFactor * (endedAt - startedAt), restMsMax);
    this.#notBefore = Math.max(this.#notBefore, endedAt + restMs);
    return rows.length;
  }

  idle(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const ms = this.#outlet === null ? everyMs : this.#notBefore - clock.mono();
    return clock.sleep(Math.max(1, ms), signal);
  }

  async #tell(outlet: Outlet, rows: readonly EntryRow[], lease: Lease): Promise<void> {
    const events = rows.map((row) => eventOf(row, this.#source));
    try {
      await outlet.deliver(events);
    } catch (error) {
      if (error instanceof NotAllTold) await this.#mark(toldInOrder(events, error.told), lease);
      throw error;
    }
    await this.#mark(events, lease);
  }

  async #mark(events: readonly CloudEvent[], lease: Lease): Promise<void> {
    const marks = new Map<SkuId, number>();
    for (const { data } of events) {
      const { sku, version } = data;
      marks.set(sku, Math.max(version, marks.get(sku) ?? 0));
    }
    const told = [...marks].map(([sku, version]) => ({ sku, version }));
    if (told.length > 0) await this.#parts.ledger.published(told, lease);
  }
}

/** Of each SKU up to the first that was not confirmed: what comes behind it is told again. */
function toldInOrder(
  events: readonly CloudEvent[],
  told: ReadonlySet<CloudEvent>,
): readonly CloudEvent[] {
  const held = new Set<SkuId>();
  return events.filter((event) => {
    if (!told.has(event)) held.add(event.data.sku);
    return !held.has(event.data.sku);
  });
}

function eventOf(entry: EntryRow, source: string): CloudEvent {
  const { publication: _, ...rest } = entry;
  const { from, to } = moves[entry.operation];
  const time = isoTime(entry.at);
  return {
    specversion: "1.0",
    id: `${entry.sku}@${entry.version}`,
    source,
    type: `dev.holdfast.stock.${entry.operation}.v1`,
    subject: entry.sku,
    time,
    datacontenttype: "application/json",
    dataschema,
    data: { ...rest, from, to, at: time },
  };
}
