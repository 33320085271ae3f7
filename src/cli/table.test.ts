import { describe, expect, it } from "vitest";
import { bar, displayWidth, table } from "./table.ts";

describe("the width of a text on a terminal", () => {
  it.each([
    ["abc", 3],
    ["库存", 4],
    ["预占 reserved", 13],
    ["（全角）", 8],
    ["e\u0301", 1],
    ["\u001b[32m绿\u001b[0m", 2],
    ["✔", 1],
    ["█", 1],
    ["🎉", 2],
    ["", 0],
  ])("of %j is %i", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe("a table", () => {
  it("keeps its columns straight in two languages", () => {
    const lines = table(
      [
        ["可售", "3"],
        ["reserved", "1200"],
      ],
      ["left", "right"],
    );
    expect(lines).toEqual(["可售         3", "reserved  1200"]);
    expect(new Set(lines.map(displayWidth))).toEqual(new Set([14]));
  });

  it("leaves no blanks at the end", () => {
    expect(
      table(
        [
          ["a", ""],
          ["bb", "c"],
        ],
        ["left", "left"],
      ),
    ).toEqual(["a", "bb  c"]);
  });
});

describe("a bar", () => {
  it("shows whatever is there, however little", () => {
    expect(bar(0, 1000, 10)).toBe("");
    expect(bar(1, 1000, 10)).toBe("█");
    expect(bar(1000, 1000, 10)).toHaveLength(10);
  });
});
