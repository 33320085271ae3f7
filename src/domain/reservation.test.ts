import { describe, expect, it } from "vitest";
import {
  isDecidedState,
  isReservationState,
  mayBecome,
  type ReservationState,
  sumLines,
  transitions,
} from "./reservation.ts";
import { quantity, skuId } from "./values.ts";

const states = Object.keys(transitions) as ReservationState[];
const allowed = new Set([
  "pending reserved",
  "pending rejected",
  "pending cancelled",
  "pending void",
  "reserved confirmed",
  "reserved cancelled",
  "reserved expired",
  "expired confirmed",
  "confirmed refunded",
]);

describe("a reservation", () => {
  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
    "goes from %s to %s only if the table says so",
    (from, to) => {
      expect(mayBecome(from, to)).toBe(allowed.has(`${from} ${to}`));
    },
  );

  it("is pending only in the eyes of who asks: the ledger does not know that state", () => {
    expect(isReservationState("pending")).toBe(true);
    expect(isDecidedState("pending")).toBe(false);
    expect(isDecidedState("reserved")).toBe(true);
    expect(isDecidedState("constructor")).toBe(false);
  });
});

describe("a cart", () => {
  const line = (sku: string, units: number) => ({ sku: skuId(sku), quantity: quantity(units) });

  it("has one line a SKU, with the sum, in the order in which rows are locked", () => {
    const lines = [line("b", 1), line("A", 2), line("b", 3), line("a", 1), line("Z", 1)];
    expect(sumLines(lines, quantity)).toEqual([
      line("A", 2),
      line("Z", 1),
      line("a", 1),
      line("b", 4),
    ]);
  });

  it("is refused when a sum is more than a quantity may be", () => {
    const half = line("A", 600_000_000);
    expect(() => sumLines([half, half], quantity)).toThrow("quantity");
  });
});
