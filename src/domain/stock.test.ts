import { describe, expect, it } from "vitest";
import {
  availableDelta,
  type Balances,
  buckets,
  canMove,
  isOperation,
  move,
  moves,
  noUnits,
  type Operation,
  totalOf,
  unitsDelta,
} from "./stock.ts";
import { levelMax } from "./values.ts";

/** Restated by hand: from, to, what it does to the total, to available, to the buyer's count. */
const table: Readonly<Record<Operation, readonly [string | null, string | null, ...number[]]>> = {
  restock: ["supply", "available", 1, 1, 0],
  withdraw: ["available", "supply", -1, -1, 0],
  adjust_up: ["supply", "available", 1, 1, 0],
  adjust_down: ["available", "supply", -1, -1, 0],
  reserve: ["available", "reserved", 0, -1, 1],
  reject: [null, null, 0, 0, 0],
  confirm: ["reserved", "sold", 0, 0, 0],
  revive: ["available", "sold", 0, -1, 1],
  cancel: ["reserved", "available", 0, 1, -1],
  expire: ["reserved", "available", 0, 1, -1],
  refund: ["sold", "available", 0, 1, -1],
  refund_lost: ["sold", "lost", 0, 0, -1],
  freeze: ["available", "frozen", 0, -1, 0],
  unfreeze: ["frozen", "available", 0, 1, 0],
  count_found: ["frozen", "available", 0, 1, 0],
  count_lost: ["frozen", "lost", 0, 0, 0],
  count_surplus: ["supply", "available", 1, 1, 0],
};
const operations = Object.keys(table) as Operation[];
const plenty: Balances = { available: 10, reserved: 10, sold: 10, frozen: 10, lost: 10 };

describe.each(operations)("%s", (operation) => {
  const [from, to, total, available, units] = table[operation];

  it("moves units from one bucket to the other, and no other bucket", () => {
    const after = move(plenty, operation, 3);
    for (const bucket of buckets) {
      const expected = 10 - (bucket === from ? 3 : 0) + (bucket === to ? 3 : 0);
      expect([bucket, after[bucket]]).toEqual([bucket, expected]);
    }
    expect(moves[operation]).toMatchObject({ from, to });
  });

  it("conserves units, but for what comes from supply or goes there", () => {
    expect(totalOf(move(plenty, operation, 3)) - totalOf(plenty)).toBe(3 * (total ?? 0));
  });

  it("tells hot stock what it does to available, and to the buyer's count", () => {
    expect(availableDelta(operation, 3) + 0).toBe(3 * (available ?? 0));
    expect(unitsDelta(operation, 3) + 0).toBe(3 * (units ?? 0));
    expect(move(plenty, operation, 3).available - 10).toBe(availableDelta(operation, 3));
  });

  it("never takes more than its bucket holds", () => {
    const bounded = from !== null && from !== "supply";
    expect(canMove(plenty, operation, 10)).toBe(true);
    expect(canMove(plenty, operation, 11)).toBe(!bounded);
    expect(canMove(noUnits, operation, 1)).toBe(!bounded);
    if (bounded) expect(() => move(noUnits, operation, 1)).toThrow("not covered");
  });
});

describe("a SKU", () => {
  it("takes no more from supply than can be counted exactly", () => {
    const full = { ...noUnits, sold: levelMax - 1 };
    expect(canMove(full, "restock", 1)).toBe(true);
    expect(canMove(full, "restock", 2)).toBe(false);
    expect(canMove(full, "count_surplus", 2)).toBe(false);
  });

  it("knows no move but those of the table", () => {
    expect(Object.keys(moves).sort()).toEqual([...operations].sort());
    for (const text of ["toString", "__proto__", "hold", ""]) expect(isOperation(text)).toBe(false);
  });
});
