import { describe, expect, it } from "vitest";
import { ManualClock } from "../clock.ts";
import { SaleTraffic } from "./sale-traffic.ts";

function told(traffic: SaleTraffic, ...seconds: number[]): void {
  for (const each of seconds) {
    traffic.answered("a", { result: "reserved", code: null, seconds: each });
  }
}

describe("the traffic of a sale", () => {
  it("counts each answer under what the buyer was told", () => {
    const traffic = new SaleTraffic(new ManualClock());
    const seconds = 0.01;
    traffic.answered("a", { result: "reserved", code: null, seconds });
    traffic.answered("a", { result: "pending", code: null, seconds });
    traffic.answered("a", { result: "refused", code: "SOLD_OUT", seconds });
    traffic.answered("a", { result: "refused", code: "LIMIT_EXCEEDED", seconds });
    traffic.answered("a", { result: "replayed", code: "SOLD_OUT", seconds });
    traffic.answered("a", { result: "fault", code: null, seconds });
    traffic.answered("b", { result: "refused", code: "SOLD_OUT", seconds });
    expect(traffic.of("a")).toMatchObject({
      admitted: 2,
      reserved: 1,
      soldOut: 1,
      refused: 1,
      replayed: 1,
      faults: 1,
    });
    expect(traffic.of("b")).toMatchObject({ admitted: 0, soldOut: 1 });
    expect(traffic.of("nobody asked")).toMatchObject({ admitted: 0, p50Ms: null, p99Ms: null });
  });

  it("tells latencies within 8 per cent, and never better than they were", () => {
    const traffic = new SaleTraffic(new ManualClock());
    told(traffic, ...Array.from({ length: 98 }, () => 0.02), 0.5, 0.5);
    const { p50Ms, p99Ms } = traffic.of("a");
    expect(p50Ms).toBeGreaterThanOrEqual(20);
    expect(p50Ms).toBeLessThan(21.7);
    expect(p99Ms).toBeGreaterThanOrEqual(500);
    expect(p99Ms).toBeLessThan(541);
  });

  it("has no place for a latency that is none, or endless", () => {
    const traffic = new SaleTraffic(new ManualClock());
    told(traffic, 0, 1e9);
    expect(traffic.of("a").p50Ms).toBe(0.1);
    expect(traffic.of("a").p99Ms).toBeGreaterThan(25_000);
  });

  it("forgets latencies after ten seconds, and counts never", () => {
    const clock = new ManualClock();
    const traffic = new SaleTraffic(clock);
    told(traffic, 0.02);
    clock.advance(5_000);
    told(traffic, 1);
    expect(traffic.of("a").p50Ms).toBeLessThan(22);
    clock.advance(5_000);
    expect(traffic.of("a").p50Ms).toBeGreaterThanOrEqual(1_000);
    clock.advance(60_000);
    told(traffic, 0.001);
    expect(traffic.of("a")).toMatchObject({ admitted: 3 });
    expect(traffic.of("a").p99Ms).toBeLessThan(1.1);
  });

  it("is kept of a bounded number of sales", () => {
    const traffic = new SaleTraffic(new ManualClock());
    told(traffic, 0.01);
    for (let n = 0; n < 100; n++) {
      traffic.answered(`sale-${n}`, { result: "pending", code: null, seconds: 1 });
    }
    expect(traffic.of("a").admitted).toBe(0);
    expect(traffic.of("sale-99").admitted).toBe(1);
  });
});
