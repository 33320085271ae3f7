import type { LevelBody, SaleBody } from "../../../src/http/contract.ts";

/** What the server counts beside the levels; a server of one role may not know it. */
export type Traffic = {
  readonly admitted: number;
  readonly refused: number;
  readonly soldOut: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
};

/** A frame of `GET /v1/sales/{saleId}/events`: whole, once a second. */
export type SaleFrame = {
  readonly at: string;
  readonly sale: SaleBody;
  readonly traffic?: Traffic | null;
};

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
};

const nothing: Totals = {
  ...{ total: 0, available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0, left: 0 },
  ...{ inFlight: 0, drift: 0, behind: 0, closed: 0, stopped: 0 },
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
  }
  return sum;
}
