import { describe, expect, it } from "vitest";
import { pageOfLink } from "../urls.ts";
import { bytesAsText } from "./bytes-as-text.ts";
import { countOutcomes } from "./count-outcomes.ts";
import { differences } from "./differences.ts";
import { pageOfVersion, pagesInSight, versionOfRow } from "./entry-pages.ts";
import { soldLines } from "./sold-lines.ts";
import { parseLines } from "./stock-lines.ts";

describe("lines of stock", () => {
  it("are read as people type or paste them", () => {
    const pasted = 'phone 100\r\ncase,250\n"cable"\t"7"\n\n  plug=0  \n';
    expect(parseLines(pasted)).toEqual({
      lines: [
        { sku: "phone", stock: 100 },
        { sku: "case", stock: 250 },
        { sku: "cable", stock: 7 },
        { sku: "plug", stock: 0 },
      ],
      wrong: [],
    });
  });

  it.each(["phone", "phone many", "phone -1", "phone 1.5", "phone 1000000001", "-x 3"])(
    "that cannot be read are told with their number: %s",
    (text) => {
      const read = parseLines(`good 1\n${text}`);
      expect(read.lines).toHaveLength(1);
      expect(read.wrong).toEqual([{ line: 2, text }]);
    },
  );

  it("name a SKU once", () => {
    expect(parseLines("a 1\na 2").wrong).toEqual([{ line: 2, text: "a 2" }]);
  });
});

describe("a ledger with the newest entry first", () => {
  it("asks for the pages in sight, and for no other", () => {
    expect(pagesInSight({ first: 0, last: 30 }, 100_000)).toEqual([999]);
    expect(pagesInSight({ first: 0, last: 30 }, 100_005)).toEqual([1_000, 999]);
    expect(pagesInSight({ first: 50_000, last: 50_030 }, 100_000)).toEqual([499]);
    expect(pagesInSight({ first: 99_990, last: 100_000 }, 100_000)).toEqual([0]);
    expect(pagesInSight({ first: 0, last: 0 }, 0)).toEqual([]);
    expect(pagesInSight({ first: 0, last: 30 }, 3)).toEqual([0]);
  });

  it("finds each version on its page, once", () => {
    const newest = 250;
    const seen = Array.from({ length: newest }, (_, row) => versionOfRow(row, newest));
    expect(seen).toEqual(Array.from({ length: newest }, (_, n) => newest - n));
    expect(seen.map(pageOfVersion).filter((page) => page === 2)).toHaveLength(50);
    expect([1, 100, 101, 200].map(pageOfVersion)).toEqual([0, 0, 1, 1]);
  });
});

describe("what an act changed", () => {
  it("stands side by side, with what is missing on a side", () => {
    expect(differences({ a: 1, b: "x" }, { a: 2, c: null })).toEqual([
      { field: "a", before: "1", after: "2" },
      { field: "b", before: "x", after: "–" },
      { field: "c", before: "–", after: "null" },
    ]);
  });

  it("is told of values that have no fields, too", () => {
    expect(differences(null, [1])).toEqual([{ field: "·", before: "–", after: "[1]" }]);
  });
});

describe("what is still sold", () => {
  it("is what was bought without what went back", () => {
    const items = [
      { sku: "a", quantity: 3 },
      { sku: "b", quantity: 1 },
    ];
    const refund = { at: "", restock: true, paymentId: null, reason: "" };
    const refunds = [
      { ...refund, refundId: "1", items: [{ sku: "a", quantity: 1 }] },
      { ...refund, refundId: "2", items: [{ sku: "b", quantity: 1 }] },
    ];
    expect(soldLines({ items, refunds })).toEqual([{ sku: "a", quantity: 2 }]);
  });
});

describe("a dead letter's bytes", () => {
  it("are text where they are, else hexadecimal", () => {
    expect(bytesAsText(btoa("{}"))).toBe("{}");
    expect(bytesAsText(btoa("\xff\x00"))).toBe("ff 00");
  });
});

describe("outcomes", () => {
  it("are counted by what they came to", () => {
    const of = (id: number, outcome: string) => ({ id, outcome, detail: "" });
    expect(countOutcomes([of(1, "replayed"), of(2, "failed"), of(3, "replayed")])).toEqual({
      replayed: 2,
      failed: 1,
    });
  });
});

describe("a link of the API", () => {
  it.each([
    ["/v1/reservations/0.a.b", "/reservations/0.a.b"],
    ["/v1/stock/x%20y", "/stock/x%20y"],
    ["/v1/dead-letters/7", "/dead-letters/7"],
    ["javascript:alert(1)", null],
    ["https://elsewhere.example/v1/stock/x", null],
    [null, null],
  ])("%s leads to a page of ours or nowhere", (link, page) => {
    expect(pageOfLink(link)).toBe(page);
  });
});
