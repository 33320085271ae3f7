import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ids = [
  ...["C01", "C02", "C04", "C05", "C10", "C16", "C17", "C18", "C19", "C21", "C29"],
  ...["C32", "C33", "C35", "C36", "C37", "C38", "C39", "C40", "C41", "C43"],
];
/** Cases with more than one part: each part stands in a test's name. */
const parts: Readonly<Record<string, string>> = {
  C02: "abc",
  C05: "ab",
  C10: "abcd",
  C17: "ab",
  C18: "abc",
  C19: "abc",
  C21: "abc",
  C29: "ab",
  C33: "abc",
  C37: "abc",
  C40: "abcde",
  C41: "abc",
  C43: "abc",
};

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((name) => /^c\d\d-.*\.test\.ts$/.test(name));

/** How the names of a file's tests begin: `C18 (a)`, or `C18`. */
function namesIn(file: string): readonly string[] {
  const text = readFileSync(new URL(file, folder), "utf8");
  const names = text.matchAll(/\(\s*"(C\d\d(?: \([a-z]\))?) /g);
  return [...names].map(([, name]) => name ?? "");
}

const names = new Map(files.map((file) => [file, namesIn(file)]));
const all = new Set([...names.values()].flat());

test.each(ids)("case %s has a test that is named by it, for each of its parts", (id) => {
  const wanted = (parts[id] ?? "").split("").map((part) => `${id} (${part})`);
  for (const name of wanted.length === 0 ? [id] : wanted) expect([...all]).toContain(name);
});

test("each file holds the tests of its case, and docs/cases.md names it", () => {
  const told = readFileSync(new URL("../../docs/cases.md", folder), "utf8");
  for (const [file, found] of names) {
    const id = file.slice(0, 3).toUpperCase();
    expect([file, found.length > 0]).toEqual([file, true]);
    expect([...new Set(found.map((name) => name.slice(0, 3)))]).toEqual([id]);
    expect(told).toContain(`test/cases/${file}`);
  }
});
