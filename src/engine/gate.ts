import type { Clock } from "../clock.ts";
import type { ReserveTicket } from "../domain/ticket.ts";
import type { Epoch, SaleId, SkuId } from "../domain/values.ts";

/** One request per SKU goes through a closed gate this often, to see whether it should open. */
const probeEveryMs = 100;

type Closed = { readonly epoch: Epoch; readonly ids: ReadonlySet<string>; nextProbeAt: number };

/**
 * The sold-out gate: when a SKU has nothing left, this process refuses by itself, so the losing
 * 99 % never reach hot stock. While it is closed nothing is admitted here, so the ids that it
 * loaded on closing are all: those go through, to be answered as replays.
 */
export class SoldOutGate {
  readonly #clock: Pick<Clock, "mono">;
  readonly #closed = new Map<string, Closed>();

  constructor(clock: Pick<Clock, "mono">) {
    this.#clock = clock;
  }

  /** The SKU for which the gate refuses this ticket; null lets it through. */
  refuses(ticket: ReserveTicket, epoch: Epoch): SkuId | null {
    if (this.#closed.size === 0) return null;
    for (const { sku } of ticket.lines) {
      if (this.#isClosedTo(ticket, sku, epoch)) return sku;
    }
    return null;
  }

  isClosed(saleId: SaleId, sku: SkuId): boolean {
    return this.#closed.has(keyOf(saleId, sku));
  }

  close(saleId: SaleId, sku: SkuId, known: { epoch: Epoch; ids: Iterable<string> }): void {
    this.#closed.set(keyOf(saleId, sku), {
      epoch: known.epoch,
      ids: new Set(known.ids),
      nextProbeAt: this.#clock.mono() + probeEveryMs,
    });
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
    if (closed.epoch !== epoch) {
      this.#closed.delete(key);
      return false;
    }
    const now = this.#clock.mono();
    if (now < closed.nextProbeAt) return true;
    closed.nextProbeAt = now + probeEveryMs;
    return false;
  }
}

function keyOf(saleId: SaleId, sku: SkuId): string {
  return `${saleId}\n${sku}`;
}
