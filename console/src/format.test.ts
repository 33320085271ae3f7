import { describe, expect, it } from "vitest";
import {
  formatChange,
  formatDuration,
  formatLatencies,
  formatLatency,
  formatNumber,
  formatPercent,
  formatRate,
} from "./format.ts";

describe("two latencies", () => {
  it.each([
    [null, 5, "–"],
    [1.23, 5.1, "1.2 / 5.1 ms"],
    [87.4, 554.2, "87 / 554 ms"],
    [102, 1_240, "0.1 / 1.2 s"],
  ])("%s and %s are %s: in one unit", (low, high, written) => {
    expect(formatLatencies(low, high, "en")).toBe(written);
  });
});

describe("durations", () => {
  it.each([
    [0, "0 sec", "0秒"],
    [999, "1 sec", "1秒"],
    [59_400, "59 sec", "59秒"],
    [125_000, "2 min 5 sec", "2分钟 5秒"],
    [3_600_000, "1 hr", "1小时"],
    [90_061_000, "1 day 1 hr", "1天 1小时"],
  ])("of %i ms are said in two units at most", (ms, en, zh) => {
    expect(formatDuration(ms, "en")).toBe(en);
    expect(formatDuration(ms, "zh-CN")).toBe(zh);
  });

  it("never count below nothing", () => {
    expect(formatDuration(-5_000, "en")).toBe("0 sec");
  });
});

describe("numbers", () => {
  it("are grouped, and keep every digit of a large one", () => {
    expect(formatNumber(9_007_199_254_740_991, "en")).toBe("9,007,199,254,740,991");
  });

  it("that are a change carry their sign", () => {
    expect([5, -5, 0].map((value) => formatChange(value, "en"))).toEqual(["+5", "−5", "±0"]);
  });

  it("of a rate have a digit after the point only where it matters", () => {
    const shown = [0, 3.26, 3_260.4, null].map((rate) => formatRate(rate, "en"));
    expect(shown).toEqual(["0", "3.3", "3,260", "–"]);
  });

  it("of a part of nothing are not a number at all", () => {
    expect([formatPercent(1, 4, "en"), formatPercent(0, 0, "en")]).toEqual(["25%", "–"]);
  });

  it("of a latency turn to seconds when they are long", () => {
    const shown = [0.44, 12.6, 1_500, null].map((ms) => formatLatency(ms, "en"));
    expect(shown).toEqual(["0.4 ms", "13 ms", "1.5 s", "–"]);
  });
});
