import { describe, expect, it } from "vitest";
import { laneTag, slotOf, slots } from "./lane-tag.ts";

/** How many of these lanes each of so many primaries with equal shares has. */
function shares(lanes: number, primaries: number, from = 0): number[] {
  const counts: number[] = Array(primaries).fill(0);
  for (let lane = from; lane < from + lanes; lane += 1) {
    const primary = Math.floor((slotOf(laneTag(lane)) * primaries) / slots);
    counts[primary] = (counts[primary] ?? 0) + 1;
  }
  return counts.sort((a, b) => a - b);
}

describe("the tag of a lane", () => {
  it("has the slot that the servers reckon", () => {
    // From the specification of Redis Cluster, and from CLUSTER KEYSLOT.
    expect(slotOf("123456789")).toBe(0x31c3);
    expect(slotOf("foo")).toBe(12_182);
  });

  it("never changes", () => {
    expect([0, 1, 2, 3, 15].map(laneTag)).toMatchInlineSnapshot(`
      [
        "0.13",
        "1.0",
        "2.43",
        "3.60",
        "15.20",
      ]
    `);
  });

  it.each([
    [16, 3, [5, 5, 6]],
    [16, 2, [8, 8]],
    [16, 4, [4, 4, 4, 4]],
    [4, 4, [1, 1, 1, 1]],
    [8, 4, [2, 2, 2, 2]],
  ])("spreads %i lanes over %i primaries", (lanes, primaries, expected) => {
    expect(shares(lanes, primaries)).toEqual(expected);
    expect(shares(16, 4, 5)).toEqual([4, 4, 4, 4]);
  });
});
