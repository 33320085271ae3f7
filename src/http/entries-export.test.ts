import { describe, expect, it } from "vitest";
import { someEntry } from "../../test/support/fake-engine.ts";
import type { EntryQuery } from "../ledger/ledger.ts";
import { csvField, type EntryPages, entriesAsCsv, entriesAsLines } from "./entries-export.ts";

function pagesOf(count: number, more: Partial<EntryPages> = {}) {
  const asked: EntryQuery[] = [];
  const pages: EntryPages = {
    read: async (query) => {
      asked.push(query);
      const left = Math.max(0, Math.min(query.limit, count - query.after));
      return Array.from({ length: left }, (_, n) => someEntry(query.after + n + 1));
    },
    query: { after: 0, from: null, to: null },
    limit: null,
    ...more,
  };
  return { pages, asked };
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

describe("a field of an export", () => {
  it.each([
    ["=cmd()", "'=cmd()"],
    ["+1", "'+1"],
    ["-1+2", "'-1+2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["＝1", "'＝1"],
    ["a=b", "a=b"],
    ['say "hi", twice', '"say ""hi"", twice"'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    [-5, "-5"],
    [null, ""],
  ])("%j is written as %j, so that no spreadsheet runs it", (value, written) => {
    expect(csvField(value)).toBe(written);
  });
});

describe("an export", () => {
  it("reads page after page until a page is not full", async () => {
    const { pages, asked } = pagesOf(1_001);
    const lines = (await textOf(entriesAsLines(pages))).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).version)).toEqual(
      Array.from({ length: 1_001 }, (_, n) => n + 1),
    );
    expect(asked.map(({ after }) => after)).toEqual([0, 500, 1_000]);
  });

  it("stops at its limit", async () => {
    const { pages } = pagesOf(1_001, { limit: 502 });
    expect((await textOf(entriesAsLines(pages))).trimEnd().split("\n")).toHaveLength(502);
  });

  it("as CSV has a header line, and a byte order mark for Excel when it is asked for", async () => {
    const { pages } = pagesOf(1);
    const plain = await textOf(entriesAsCsv(pages, false));
    expect(plain.startsWith("sku,version,operation,")).toBe(true);
    expect(plain.split("\r\n")).toHaveLength(3);
    expect(await textOf(entriesAsCsv(pages, true))).toBe(`\ufeff${plain}`);
  });

  it("of nothing is only the header line", async () => {
    const { pages } = pagesOf(0);
    expect(await textOf(entriesAsLines(pages))).toBe("");
    expect((await textOf(entriesAsCsv(pages, false))).split("\r\n")).toHaveLength(2);
  });
});
