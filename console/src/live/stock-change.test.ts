import { describe, expect, it } from "vitest";
import {
  balancesAfter,
  type ChangeKind,
  changeKinds,
  isDangerous,
  isPossible,
  isRelative,
  requestOf,
  verbOf,
} from "./stock-change.ts";

const level = { available: 10, reserved: 3, sold: 4, frozen: 5, lost: 1, total: 23 };

function sum({ available, reserved, sold, frozen, lost }: typeof level): number {
  return available + reserved + sold + frozen + lost;
}

describe("what comes of a change", () => {
  it.each([
    ["restock", 2, { available: 12, total: 25 }],
    ["withdraw", 2, { available: 8, total: 21 }],
    ["freeze", 2, { available: 8, frozen: 7, total: 23 }],
    ["unfreeze", 2, { available: 12, frozen: 3, total: 23 }],
    ["correct", 2, { available: 12, total: 25 }],
    ["correct", -2, { available: 8, total: 21 }],
    ["adjust", 20, { available: 7, total: 20 }],
    ["count", 3, { available: 13, frozen: 0, lost: 3, total: 23 }],
    ["count", 7, { available: 17, frozen: 0, lost: 1, total: 25 }],
    ["stop", 0, {}],
  ] as const)("%s of %i", (kind, quantity, changed) => {
    expect(balancesAfter(level, kind, quantity)).toEqual({ ...level, ...changed });
  });

  it.each(changeKinds)("of %s, the buckets add up to the total", (kind) => {
    const after = balancesAfter(level, kind, 4);
    expect(sum(after)).toBe(after.total);
  });

  it("is refused in the form where a bucket would go below nothing", () => {
    expect(isPossible(balancesAfter(level, "freeze", 10))).toBe(true);
    expect(isPossible(balancesAfter(level, "freeze", 11))).toBe(false);
    expect(isPossible(balancesAfter(level, "unfreeze", 6))).toBe(false);
  });
});

describe("what has to be typed out first", () => {
  it.each([
    ["restock", 1, false],
    ["withdraw", 1, true],
    ["freeze", 1, true],
    ["correct", -1, true],
    ["correct", 1, false],
    ["adjust", 22, true],
    ["adjust", 24, false],
    ["count", 4, true],
    ["count", 5, false],
    ["stop", 0, true],
    ["resume", 0, false],
  ] as const)("%s of %i: %s", (kind, quantity, expected) => {
    expect(isDangerous(level, kind, quantity)).toBe(expected);
  });
});

describe("the call", () => {
  const asked = { operationId: "op", reason: "why", quantity: 7, version: 12 };
  const common = { operationId: "op", reason: "why" };

  it.each([
    ["restock", "restock", { ...common, quantity: 7 }],
    ["withdraw", "withdraw", { ...common, quantity: 7 }],
    ["freeze", "freeze", { ...common, quantity: 7 }],
    ["unfreeze", "unfreeze", { ...common, quantity: 7 }],
    ["correct", "adjust", { ...common, delta: 7 }],
    ["adjust", "adjust", { ...common, total: 7 }],
    ["count", "count", { ...common, found: 7 }],
  ] as [ChangeKind, string, object][])(
    "of %s has a body of its own, and says on which version it was decided",
    (kind, verb, body) => {
      expect(verbOf(kind)).toBe(verb);
      expect(requestOf(kind, asked)).toEqual({ body, headers: { "if-match": '"12"' } });
    },
  );

  it("of units that come or go may be about whatever there is", () => {
    const body = { ...common, quantity: 7 };
    expect(requestOf("restock", { ...asked, version: null })).toEqual({ body, headers: {} });
    expect(changeKinds.filter((kind) => !isRelative(kind))).toEqual([
      "adjust",
      "count",
      "stop",
      "resume",
    ]);
  });

  it.each(["stop", "resume"] as const)("to %s is never too late", (kind) => {
    expect(requestOf(kind, asked)).toEqual({ body: common, headers: {} });
  });
});
