import type { LevelBody, SaleFrameBody } from "../../../src/http/contract.ts";

/** A `level` is whole; a `change` holds only the SKUs that are not as they were told last. */
export type SaleFrame = SaleFrameBody;

/** The whole after a change: SKUs that it does not name are as they were. */
export function frameAfter(before: SaleFrame | null, change: SaleFrame): SaleFrame {
  if (before === null) return change;
  const changed = new Map(change.sale.items.map((level) => [level.sku, level]));
  const items = before.sale.items.map((level) => changed.get(level.sku) ?? level);
  return { ...change, sale: { ...change.sale, items } };
}

export type Totals = {
  readonly total: number;
  readonly available: number;
  readonly reserved: number;
  readonly sold: number;
  readonly frozen: number;
  readonly lost: number;
  readonly left: number;
  readonly inFlight: number;
  readonly drift: number;
  readonly behind: number;
  /** SKUs whose hot stock does not answer now. */
  readonly closed: number;
  readonly stopped: number;
  readonly oldestTicketSeconds: number;
};

const nothing: Totals = {
  ...{ total: 0, available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0, left: 0 },
  ...{ inFlight: 0, drift: 0, behind: 0, closed: 0, stopped: 0, oldestTicketSeconds: 0 },
};

export function totalsOf(levels: readonly LevelBody[]): Totals {
  const sum = { ...nothing };
  for (const level of levels) {
    sum.total += level.total;
    sum.available += level.available;
    sum.reserved += level.reserved;
    sum.sold += level.sold;
    sum.frozen += level.frozen;
    sum.lost += level.lost;
    sum.left += Math.max(0, level.hot?.available ?? 0);
    sum.inFlight += level.hot?.inFlight ?? 0;
    sum.drift += Math.abs(level.drift);
    sum.behind += level.behind;
    sum.closed += level.hot === null ? 1 : 0;
    sum.stopped += level.status === "stopped" ? 1 : 0;
    sum.oldestTicketSeconds = Math.max(sum.oldestTicketSeconds, level.oldestTicketSeconds);
  }
  return sum;
}
