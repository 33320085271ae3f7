import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { embeddedOnly } from "../support/embedded-cases.ts";

const ids = [
  ...["C01", "C02", "C04", "C05", "C07", "C08", "C09", "C10", "C13", "C14", "C16", "C17", "C18"],
  ...["C19", "C21", "C24", "C27", "C28", "C29"],
  ...["C32", "C33", "C35", "C36", "C37", "C38", "C39", "C40", "C41", "C43"],
];
/** Cases with more than one part: each part stands in a test's name. */
const parts: Readonly<Record<string, string>> = {
  C02: "abc",
  C05: "ab",
  C09: "ab",
  C10: "abcd",
  C14: "ab",
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

const root = new URL("../../", import.meta.url);

function filesIn(folder: string, pattern: RegExp): readonly string[] {
  const names = readdirSync(new URL(folder, root)).filter((name) => pattern.test(name));
  return names.map((name) => folder + name);
}

const caseFile = /^c\d\d-.*\.test\.ts$/;
/** Over the embedded stores and again over HTTP on servers; and those that only servers have. */
const files = [...filesIn("test/cases/", caseFile), ...filesIn("test/cases/stack/", caseFile)];
/** The ledger's own, on MySQL and MariaDB both. */
const others = filesIn("test/stack/", /^ledger-.*\.test\.ts$/);

/** How the names of a file's tests begin: `C18 (a)`, or `C18`. */
function namesIn(file: string): readonly string[] {
  const text = readFileSync(new URL(file, root), "utf8");
  const names = text.matchAll(/\(\s*"(C\d\d(?: \([a-z]\))?) /g);
  return [...names].map(([, name]) => name ?? "");
}

const names = new Map(files.map((file) => [file, namesIn(file)]));
const all = new Set([...names.values(), ...others.map(namesIn)].flat());

test.each(ids)("case %s has a test that is named by it, for each of its parts", (id) => {
  const wanted = (parts[id] ?? "").split("").map((part) => `${id} (${part})`);
  for (const name of wanted.length === 0 ? [id] : wanted) expect([...all]).toContain(name);
});

test("each file holds the tests of its case, and docs/cases.md names it", () => {
  const told = readFileSync(new URL("docs/cases.md", root), "utf8");
  for (const [file, found] of names) {
    const id = (file.split("/").at(-1) ?? "").slice(0, 3).toUpperCase();
    expect([file, found.length > 0]).toEqual([file, true]);
    expect([...new Set(found.map((name) => name.slice(0, 3)))]).toEqual([id]);
    expect(told).toContain(file);
  }
});

test("every case that servers cannot play is one that there is, with its reason", () => {
  const texts = files.map((file) => readFileSync(new URL(file, root), "utf8"));
  for (const [name, reason] of Object.entries(embeddedOnly)) {
    expect(texts.filter((text) => text.includes(`"${name}"`))).toHaveLength(1);
    expect(reason).not.toBe("");
  }
});
