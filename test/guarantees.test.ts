import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Documents that name the tests which hold what they say. */
const documents = ["docs/guarantees.md", "docs/adapters.md", "docs/architecture.md"];
const named = /`((?:[\w-]+\/)+[\w.-]+\.(?:ts|md))`/g;

describe.each(documents)("%s", (path) => {
  const text = readFileSync(path, "utf8");
  const paths = [...new Set([...text.matchAll(named)].map(([, file]) => file ?? ""))];

  it("names files that are there", () => {
    expect(paths.length).toBeGreaterThan(2);
    expect(paths.filter((file) => !existsSync(file) && !existsSync(`src/${file}`))).toEqual([]);
  });
});

describe("every line of docs/guarantees.md", () => {
  const rows = readFileSync("docs/guarantees.md", "utf8")
    .split("\n")
    .filter(
      (line) => line.startsWith("| ") && !line.startsWith("| under") && !line.startsWith("| what"),
    );

  it("is held by a test", () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/\.test\.ts`/.test(row))).toEqual([]);
  });
});
