import { describe, expect, it } from "vitest";
import { makeCursor, pageOf, readCursor, readCursorNumber } from "./cursor.ts";
import {
  InputError,
  idempotencyKey,
  ifMatchVersion,
  instantOf,
  KeyMissingError,
  preferredWaitMs,
} from "./input.ts";
import { searchText } from "./search-text.ts";

describe("an Idempotency-Key", () => {
  it.each([
    ["8e03", "8e03"],
    ['"8e03-a.b_c~"', "8e03-a.b_c~"],
  ])("may be bare or in quotes: %s", (header, key) => {
    expect(idempotencyKey(header)).toBe(key);
  });

  it.each(["", '""', '"', '"a', "a b", "a, b", '"a";p=1', "é", "a".repeat(65), "-a"])(
    "is refused as %j",
    (header) => {
      expect(() => idempotencyKey(header)).toThrow(InputError);
    },
  );

  it("is told apart from a missing one", () => {
    expect(() => idempotencyKey(undefined)).toThrow(KeyMissingError);
  });
});

describe("the time that a caller would wait", () => {
  it.each([
    [undefined, 2_000],
    ["wait=0", 0],
    ["wait=7", 7_000],
    ["respond-async, wait=10", 10_000],
    ["wait = 3; foo=bar", 3_000],
    ["wait=30", 30_000],
    ["wait=31", 30_000],
    ["wait=99999999", 30_000],
    ["wait=-1", 2_000],
    ["wait=x", 2_000],
    ["nowait=5", 2_000],
    ["return=minimal", 2_000],
  ])("of Prefer %j is %d ms", (header, ms) => {
    expect(preferredWaitMs(header)).toBe(ms);
  });
});

describe("a time", () => {
  it("is read to the millisecond", () => {
    expect(instantOf("2026-11-11T00:00:00.005Z", "body", "/a")).toBe(Date.UTC(2026, 10, 11) + 5);
    expect(instantOf("2026-11-11T00:00:00Z", "body", "/a")).toBe(Date.UTC(2026, 10, 11));
  });

  it.each(["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z"])(
    "that is not in the calendar is refused: %s",
    (text) => {
      expect(() => instantOf(text, "body", "/a")).toThrow(InputError);
    },
  );
});

describe("If-Match", () => {
  it.each([
    ['"12"', 12],
    ["12", 12],
    ['"0"', 0],
  ])("%s is a version", (header, version) => {
    expect(ifMatchVersion(header)).toBe(version);
  });

  it.each([undefined, "", "*", 'W/"12"', '"012"', '"1","2"', '"-1"', "1e3"])(
    "%j is refused",
    (header) => {
      expect(() => ifMatchVersion(header)).toThrow(InputError);
    },
  );
});

describe("a cursor", () => {
  it("comes back as the place that it was made for", () => {
    expect(readCursor("stock", makeCursor("stock", "sku-1"))).toBe("sku-1");
    expect(readCursorNumber("entries", makeCursor("entries", "42"))).toBe(42);
    expect(readCursor("stock", undefined)).toBeNull();
  });

  it.each(["", "zzzz", "AAAA", makeCursor("sales", "sale-1"), makeCursor("stock", "a\nb")])(
    "that was not made for this list is refused: %j",
    (cursor) => {
      expect(() => readCursor("stock", cursor)).toThrow(InputError);
    },
  );

  it("of a list of numbers is refused with anything else in it", () => {
    expect(() => readCursorNumber("entries", makeCursor("entries", "1e3"))).toThrow(InputError);
  });
});

describe("a page", () => {
  const link = { path: "/v1/stock", query: { limit: "2", cursor: "old" }, list: "stock" } as const;
  const key = (item: string): string => item;

  it("links to the next one when there is more", () => {
    const page = pageOf(["a", "b", "c"], 2, { ...link, key });
    expect(page.items).toEqual(["a", "b"]);
    expect(page.next).toBe(`/v1/stock?limit=2&cursor=${makeCursor("stock", "b")}`);
  });

  it("links to nothing when it is the last", () => {
    expect(pageOf(["a", "b"], 2, { ...link, key }).next).toBeNull();
    expect(pageOf([], 2, { ...link, key }).next).toBeNull();
  });
});

describe("a pasted id", () => {
  it.each([
    ["  sku-1 ", "sku-1"],
    ['"sku-1"', "sku-1"],
    ["“sku-1”", "sku-1"],
    ["「 sku-1 」", "sku-1"],
    ["sku-1", "sku-1"],
  ])("%j is looked for as %j", (pasted, text) => {
    expect(searchText(pasted)).toBe(text);
  });
});
