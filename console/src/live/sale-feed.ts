import type { SaleFrame, Totals } from "./sale-frame.ts";
import { frameAfter, totalsOf } from "./sale-frame.ts";

/**
 * What the frames of a sale come to: the last one, a minute of points, and how the stream is.
 * Pure: the clock comes in with every event. A frame is whole, so that one which is lost, late or
 * told twice does no harm: an older one is ignored, and rates are taken over the real time between.
 */
export type Point = {
  /** Server's clock, in ms. */
  readonly at: number;
  readonly totals: Totals;
  readonly admitted: number | null;
  readonly committed: number | null;
  readonly refused: number | null;
  readonly soldOut: number | null;
  /** Buyers who got no answer, because a store was away. */
  readonly faults: number | null;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Messages that the ledger writer has not taken; null where the broker cannot tell. */
  readonly lag: number | null;
};

export type SaleFeed = {
  readonly frame: SaleFrame | null;
  readonly points: readonly Point[];
  /** Our clock, when the last frame came. */
  readonly heardAt: number | null;
  readonly isOpen: boolean;
  /** The stream has ended, or never began, at least once. */
  readonly wasLost: boolean;
  readonly isPaused: boolean;
  /** Came while the page was paused; shown when it goes on. */
  readonly waiting: SaleFrame | null;
};

export type FeedEvent =
  | { readonly kind: "frame"; readonly frame: SaleFrame; readonly now: number }
  | { readonly kind: "change"; readonly frame: SaleFrame; readonly now: number }
  | { readonly kind: "opened" }
  | { readonly kind: "lost" }
  | { readonly kind: "pause" }
  | { readonly kind: "go-on"; readonly now: number };

export const pointsMax = 300;
/** Three frames missed: what is shown is said to be old. */
export const staleAfterMs = 3_500;

export const emptyFeed: SaleFeed = {
  frame: null,
  points: [],
  heardAt: null,
  isOpen: false,
  wasLost: false,
  isPaused: false,
  waiting: null,
};

export function feedAfter(feed: SaleFeed, event: FeedEvent): SaleFeed {
  switch (event.kind) {
    case "opened":
      return { ...feed, isOpen: true };
    case "lost":
      return { ...feed, isOpen: false, wasLost: true };
    case "pause":
      return { ...feed, isPaused: true };
    case "go-on": {
      const onward = { ...feed, isPaused: false, waiting: null };
      return feed.waiting === null ? onward : withFrame(onward, feed.waiting, event.now);
    }
    case "change": {
      // A change before any whole frame says nothing: the next connection begins with a whole one.
      const before = feed.waiting ?? feed.frame;
      if (before === null) return feed;
      const frame = frameAfter(before, event.frame);
      return feedAfter(feed, { kind: "frame", frame, now: event.now });
    }
    case "frame":
      return feed.isPaused
        ? { ...feed, waiting: event.frame, heardAt: event.now, isOpen: true }
        : withFrame(feed, event.frame, event.now);
  }
}

function withFrame(feed: SaleFeed, frame: SaleFrame, now: number): SaleFeed {
  const last = feed.points.at(-1);
  const heard = { ...feed, heardAt: now, isOpen: true };
  if (last !== undefined && Date.parse(frame.at) <= last.at) return heard;
  const points = [...feed.points.slice(1 - pointsMax), pointOf(frame, feed.frame)];
  return { ...heard, frame, points };
}

function pointOf(frame: SaleFrame, before: SaleFrame | null): Point {
  const at = Date.parse(frame.at);
  const rate = (count: (frame: SaleFrame) => number): number | null => {
    const seconds = before === null ? 0 : (at - Date.parse(before.at)) / 1_000;
    // Another process, or the same one after a start, counts from nothing: no rate, not a fall.
    return before === null || count(frame) < count(before)
      ? null
      : (count(frame) - count(before)) / seconds;
  };
  return {
    at,
    totals: totalsOf(frame.sale.items),
    admitted: rate(({ traffic }) => traffic.admitted),
    committed: rate(({ sale }) => sale.items.reduce((sum, { version }) => sum + version, 0)),
    refused: rate(({ traffic }) => traffic.refused),
    soldOut: rate(({ traffic }) => traffic.soldOut),
    faults: rate(({ traffic }) => traffic.faults),
    p50Ms: frame.traffic.p50Ms,
    p99Ms: frame.traffic.p99Ms,
    lag: frame.lane?.lag ?? null,
  };
}

export type Liveness = "connecting" | "live" | "paused" | "stale" | "lost";

export function livenessOf(feed: SaleFeed, now: number): Liveness {
  if (feed.isPaused) return "paused";
  if (feed.heardAt === null) return "connecting";
  if (!feed.isOpen) return "lost";
  return now - feed.heardAt > staleAfterMs ? "stale" : "live";
}
