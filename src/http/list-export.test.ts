import { describe, expect, it } from "vitest";
import { asCsv, asLines, type Column, csvField, type Listing } from "./list-export.ts";

type Row = { readonly id: number; readonly name: string };

const columns: readonly Column<Row>[] = [
  ["id", ({ id }) => id],
  ["name", ({ name }) => name],
];

function listOf(count: number, limit: number | null = null) {
  const asked: (number | null)[] = [];
  const listing: Listing<Row> = {
    read: async (after, most) => {
      asked.push(after?.id ?? null);
      const left = Math.max(0, Math.min(most, count - (after?.id ?? 0)));
      return Array.from({ length: left }, (_, n) => ({ id: (after?.id ?? 0) + n + 1, name: "x" }));
    },
    limit,
  };
  return { listing, asked };
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
    const { listing, asked } = listOf(1_001);
    const lines = (await textOf(asLines(listing))).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(
      Array.from({ length: 1_001 }, (_, n) => n + 1),
    );
    expect(asked).toEqual([null, 500, 1_000]);
  });

  it("stops at its limit", async () => {
    const { listing } = listOf(1_001, 502);
    expect((await textOf(asLines(listing))).trimEnd().split("\n")).toHaveLength(502);
  });

  it("as CSV has a header line, and a byte order mark for Excel when it is asked for", async () => {
    const { listing } = listOf(1);
    expect(await textOf(asCsv(listing, columns, false))).toBe("id,name\r\n1,x\r\n");
    expect(await textOf(asCsv(listing, columns, true))).toBe("\ufeffid,name\r\n1,x\r\n");
  });

  it("of nothing is only the header line", async () => {
    const { listing } = listOf(0);
    expect(await textOf(asLines(listing))).toBe("");
    expect(await textOf(asCsv(listing, columns, false))).toBe("id,name\r\n");
  });
});
