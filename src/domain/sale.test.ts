import { describe, expect, it } from "vitest";
import {
  isSaleState,
  maySaleBecome,
  type SalePolicy,
  type SaleState,
  saleTransitions,
  windowRefusal,
} from "./sale.ts";
import { saleId } from "./values.ts";

const states = Object.keys(saleTransitions) as SaleState[];
const policy: SalePolicy = {
  saleId: saleId("s"),
  revision: 1,
  state: "open",
  opensAt: 100,
  closesAt: 200,
  limitPerBuyer: null,
  skus: [],
};

describe("the window of a sale", () => {
  it.each([
    ["draft", 50, "SALE_NOT_OPEN"],
    ["draft", 150, "SALE_NOT_OPEN"],
    ["draft", 250, "SALE_NOT_OPEN"],
    ["open", 99, "SALE_NOT_OPEN"],
    ["open", 100, null],
    ["open", 199, null],
    ["open", 200, "SALE_ENDED"],
    ["paused", 99, "SALE_NOT_OPEN"],
    ["paused", 150, "SALE_PAUSED"],
    ["paused", 250, "SALE_PAUSED"],
    ["closed", 50, "SALE_ENDED"],
    ["closed", 150, "SALE_ENDED"],
  ] as const)("of a sale that is %s answers at %d: %s", (state, now, refusal) => {
    expect(windowRefusal({ ...policy, state }, now)).toBe(refusal);
  });

  it("has no bound where none is given", () => {
    expect(windowRefusal({ ...policy, opensAt: null, closesAt: null }, 0)).toBeNull();
    expect(windowRefusal({ ...policy, closesAt: null }, 1e15)).toBeNull();
  });
});

describe("the state of a sale", () => {
  const allowed = ["draft open", "draft closed", "open paused", "open closed", "paused open"];
  const all = new Set([...allowed, "paused closed"]);
  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
    "goes from %s to %s only if the table says so",
    (from, to) => {
      expect(maySaleBecome(from, to)).toBe(all.has(`${from} ${to}`));
    },
  );

  it("is one of four words", () => {
    expect(states.every(isSaleState)).toBe(true);
    expect(isSaleState("hasOwnProperty")).toBe(false);
  });
});
