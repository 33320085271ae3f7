import type { ReserveTicket } from "../domain/ticket.ts";
import type { Epoch, SaleId, SkuId } from "../domain/values.ts";
import type { Left } from "../hot-stock/hot-stock.ts";

type Closed = {
  readonly epoch: Epoch;
  readonly idsSeen: number;
  readonly ids: ReadonlySet<string>;
};

/**
 * The sold-out gate: when a SKU has nothing left, the losing 99 % are not admitted one by one.
 * The ids that hot stock knew on closing go through, to be answered as replays. The others are
 * refused on its word that nothing is left still and no id has become known since, by whatever
 * process: one cheap question for all that wait.
 */
export class SoldOutGate {
  readonly #closed = new Map<string, Closed>();

  /** The SKU at whose gate this ticket stands; null lets it through. */
  stopping(ticket: ReserveTicket, epoch: Epoch): SkuId | null {
    if (this.#closed.size === 0) return null;
    const line = ticket.lines.find(({ sku }) => this.#isClosedTo(ticket, sku, epoch));
    return line?.sku ?? null;
  }

  isClosed(saleId: SaleId, sku: SkuId): boolean {
    return this.#closed.has(keyOf(saleId, sku));
  }

  close(
    saleId: SaleId,
    sku: SkuId,
    known: { readonly epoch: Epoch; readonly idsSeen: number; readonly ids: Iterable<string> },
  ): void {
    const { epoch, idsSeen, ids } = known;
    this.#closed.set(keyOf(saleId, sku), { epoch, idsSeen, ids: new Set(ids) });
  }

  /** Is what it refuses still what hot stock would refuse? If not, it opens. */
  holds(saleId: SaleId, { sku, available, idsSeen }: Left): boolean {
    const closed = this.#closed.get(keyOf(saleId, sku));
    if (closed === undefined) return false;
    if (available <= 0 && idsSeen === closed.idsSeen) return true;
    this.open(sku);
    return false;
  }

  open(sku: SkuId): void {
    if (this.#closed.size === 0) return;
    for (const key of this.#closed.keys()) if (key.endsWith(`\n${sku}`)) this.#closed.delete(key);
  }

  openAll(): void {
    this.#closed.clear();
  }

  #isClosedTo(ticket: ReserveTicket, sku: SkuId, epoch: Epoch): boolean {
    const key = keyOf(ticket.saleId, sku);
    const closed = this.#closed.get(key);
    if (closed === undefined || closed.ids.has(ticket.id)) return false;
    if (closed.epoch === epoch) return true;
    this.#closed.delete(key);
    return false;
  }
}

function keyOf(saleId: SaleId, sku: SkuId): string {
  return `${saleId}\n${sku}`;
}
