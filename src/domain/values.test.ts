import { describe, expect, it } from "vitest";
import { isRejection, rejections } from "./rejection.ts";
import { epoch, isId, level, quantity, quantityMax, skuId } from "./values.ts";

describe("an id", () => {
  it.each(["a", "0", "A.b_c~d-e", "x".repeat(64)])("may be %j", (text) => {
    expect(isId(text)).toBe(true);
    expect(skuId(text)).toBe(text);
  });

  it.each([
    ["nothing", ""],
    ["65 characters", "x".repeat(65)],
    ["a first character that is a sign", "-a"],
    ["a first character that is a dot", ".a"],
    ["a space", "a b"],
    ["a space at the end", "a "],
    ["a line feed at the end", "a\n"],
    ["a colon, which frames ids", "a:b"],
    ["a slash", "a/b"],
    ["a null", "a\0"],
    ["letters outside ASCII", "é"],
    ["Chinese", "库存"],
    ["a full-width digit", "１"],
    ["a number", 1],
    ["null", null],
    ["a list of one id", ["a"]],
  ])("may not be %s", (_, text) => {
    expect(isId(text)).toBe(false);
    expect(() => skuId(text)).toThrow("SKU: expected 1–64 characters");
  });
});

describe("a number", () => {
  it.each([1, 2, quantityMax])("may be a quantity: %d", (value) => {
    expect(quantity(value)).toBe(value);
  });

  it.each([0, -1, 1.5, quantityMax + 1, Number.NaN, Infinity, "1", null, 1n])(
    "may not be a quantity: %s",
    (value) => expect(() => quantity(value)).toThrow("quantity: expected"),
  );

  it.each([0, 1, Number.MAX_SAFE_INTEGER])("may be a level and an epoch: %d", (value) => {
    expect(level(value)).toBe(value);
    expect(epoch(value)).toBe(value);
  });

  it.each([-1, 0.5, Number.MAX_SAFE_INTEGER + 1, "0", undefined])(
    "may be neither a level nor an epoch: %s",
    (value) => {
      expect(() => level(value)).toThrow("level");
      expect(() => epoch(value)).toThrow("epoch");
    },
  );
});

describe("the refusals", () => {
  it("stand in order of precedence, each once", () => {
    expect(new Set(rejections).size).toBe(rejections.length);
    const reserving = ["KEY_REUSED", "SKU_NOT_FOUND", "SALE_NOT_OPEN", "SALE_PAUSED", "SALE_ENDED"];
    const asked = [...reserving, "SOLD_OUT", "LIMIT_EXCEEDED"];
    expect(rejections.filter((code) => asked.includes(code))).toEqual(asked);
  });

  it("are told from any other text", () => {
    expect(isRejection("SOLD_OUT")).toBe(true);
    expect(isRejection("sold_out")).toBe(false);
    expect(isRejection(null)).toBe(false);
  });
});
