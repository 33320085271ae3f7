import { describe, expect, it } from "vitest";
import type { LevelBody } from "../../../src/http/contract.ts";
import {
  emptyFeed,
  type FeedEvent,
  feedAfter,
  livenessOf,
  pointsMax,
  type SaleFeed,
  staleAfterMs,
} from "./sale-feed.ts";
import { type SaleFrame, totalsOf } from "./sale-frame.ts";

const start = Date.parse("2026-11-11T00:00:00.000Z");

function level(more: Partial<LevelBody> = {}): LevelBody {
  return {
    ...{ sku: "a", status: "normal", statusReason: null, saleId: "s", version: 1, hash: "h" },
    ...{ total: 10, available: 10, reserved: 0, sold: 0, frozen: 0, lost: 0 },
    ...{
      hot: { version: 1, available: 10, inFlight: 0 },
      drift: 0,
      behind: 0,
      oldestTicketSeconds: 0,
    },
    ...more,
  };
}

const quiet: SaleFrame["traffic"] = {
  ...{ admitted: 0, reserved: 0, soldOut: 0, refused: 0, replayed: 0, faults: 0 },
  ...{ p50Ms: null, p99Ms: null },
};

function frame(second: number, version: number, traffic = quiet): SaleFrame {
  return {
    at: new Date(start + second * 1_000).toISOString(),
    sale: {
      ...{ saleId: "s", title: "", state: "open", revision: 1, opensAt: null, closesAt: null },
      ...{ holdSeconds: 60, limitPerBuyer: null, createdAt: "", closedAt: null },
      items: [level({ version })],
    },
    traffic,
    lane: null,
    oldestTicketSeconds: 0,
  };
}

function after(...events: FeedEvent[]): SaleFeed {
  return events.reduce(feedAfter, emptyFeed);
}

const heard = (second: number, version: number): FeedEvent => ({
  kind: "frame",
  frame: frame(second, version),
  now: start + second * 1_000,
});

describe("the feed of a sale", () => {
  it("takes rates over the real time between two frames", () => {
    const { points } = after(heard(0, 100), heard(4, 140));
    expect(points.map(({ committed }) => committed)).toEqual([null, 10]);
  });

  it("ignores a frame that is told twice or comes late", () => {
    const feed = after(heard(0, 1), heard(2, 5), heard(2, 5), heard(1, 3));
    expect(feed.points).toHaveLength(2);
    expect(feed.frame?.sale.items[0]?.version).toBe(5);
  });

  it("takes no rate over a process that counts from nothing again", () => {
    const busy = { ...quiet, admitted: 50 };
    const { points } = after(
      { kind: "frame", frame: frame(0, 1, busy), now: start },
      heard(1, 2),
      heard(2, 2),
    );
    expect(points.map(({ admitted }) => admitted)).toEqual([null, null, 0]);
  });

  it("takes rates of what the server counts", () => {
    const traffic = { ...quiet, admitted: 5, refused: 7, soldOut: 9, p50Ms: 1, p99Ms: 2 };
    const more = { ...traffic, admitted: 15, refused: 107, soldOut: 9 };
    const { points } = after(
      { kind: "frame", frame: frame(0, 1, traffic), now: start },
      { kind: "frame", frame: frame(2, 1, more), now: start + 2_000 },
    );
    expect(points.at(-1)).toMatchObject({ admitted: 5, refused: 50, soldOut: 0, p99Ms: 2 });
  });

  it("stands still while paused, and goes on with the newest frame", () => {
    const paused = after(heard(0, 1), { kind: "pause" }, heard(1, 2), heard(2, 9));
    expect(paused.frame?.sale.items[0]?.version).toBe(1);
    const onward = feedAfter(paused, { kind: "go-on", now: start + 2_500 });
    expect(onward.frame?.sale.items[0]?.version).toBe(9);
    expect(onward.points.at(-1)?.committed).toBe(4);
  });

  it("of a large sale hears only what has changed, also while paused", () => {
    const whole = frame(0, 1);
    const two = { ...whole, sale: { ...whole.sale, items: [level(), level({ sku: "b" })] } };
    const change = (second: number, version: number): FeedEvent => {
      const one = frame(second, version);
      const items = [level({ sku: "b", version })];
      return { kind: "change", frame: { ...one, sale: { ...one.sale, items } }, now: start };
    };
    const feed = after({ kind: "frame", frame: two, now: start }, change(1, 4));
    const versions = (shown: SaleFeed) => shown.frame?.sale.items.map(({ version }) => version);
    expect(versions(feed)).toEqual([1, 4]);
    const paused = [{ kind: "pause" } as const, change(2, 5), change(3, 6)].reduce(feedAfter, feed);
    expect(versions(paused)).toEqual([1, 4]);
    expect(versions(feedAfter(paused, { kind: "go-on", now: start }))).toEqual([1, 6]);
    expect(after(change(1, 4)).frame).toBeNull();
  });

  it("keeps a bounded number of points", () => {
    const frames = Array.from({ length: pointsMax + 20 }, (_, second) => heard(second, second));
    const { points } = after(...frames);
    expect(points).toHaveLength(pointsMax);
    expect(points.at(-1)?.at).toBe(start + (pointsMax + 19) * 1_000);
  });
});

describe("how fresh it is", () => {
  const feed = after({ kind: "opened" }, heard(0, 1));

  it("is live, then stale once frames stop, then lost once the stream is", () => {
    expect(livenessOf(emptyFeed, start)).toBe("connecting");
    expect(livenessOf(feed, start + staleAfterMs)).toBe("live");
    expect(livenessOf(feed, start + staleAfterMs + 1)).toBe("stale");
    expect(livenessOf(feedAfter(feed, { kind: "lost" }), start)).toBe("lost");
    expect(livenessOf(feedAfter(feed, { kind: "pause" }), start)).toBe("paused");
  });
});

describe("the totals of a sale", () => {
  it("never let one SKU's drift hide another's", () => {
    const totals = totalsOf([level({ drift: 3 }), level({ drift: -3 })]);
    expect(totals.drift).toBe(6);
  });

  it("count SKUs whose hot stock is closed, and sell nothing of them", () => {
    const totals = totalsOf([level({ hot: null }), level({ status: "stopped" })]);
    expect(totals).toMatchObject({ closed: 1, stopped: 1, left: 10 });
  });
});
