import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ownChecks } from "../src/cli/commands/doctor.ts";
import { refusedIds, toldIds } from "../src/doctor/ids.ts";
import { partLooks } from "../src/doctor/live-checks.ts";

const text = readFileSync("docs/doctor.md", "utf8");
const [, symptoms = "", table = ""] = text.split(/^## (?:The ten symptoms|Every check)$/m);
const rows = [...table.matchAll(/^\| `([\w.-]+)` \|[^|]*\|([^|]*)\|$/gm)];

function catalogue(language: string): Record<string, Record<string, string>> {
  return JSON.parse(readFileSync(`src/doctor/messages/${language}.json`, "utf8"));
}
const places = (words: string | undefined) => [...new Set(words?.match(/\{\w+\}/g))].sort();

describe("docs/doctor.md", () => {
  it("lists every check of the code, once, and no other", () => {
    expect(rows.map(([, id = ""]) => id).sort()).toEqual([...ownChecks, ...toldIds].sort());
  });

  it("marks those that a server is refused for", () => {
    const refused = rows.filter(([, , mark = ""]) => mark.trim() === "refused");
    expect(refused.map(([, id = ""]) => id).sort()).toEqual([...refusedIds].sort());
  });

  it("leads each of the ten symptoms to checks that there are", () => {
    const lines = symptoms
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(1);
    expect(lines).toHaveLength(10);
    for (const line of lines) {
      const ids = [...(line.split("|")[3] ?? "").matchAll(/`([\w.-]+)`/g)].map(([, id]) => id);
      expect(ids.length, line).toBeGreaterThan(0);
      expect(ids.filter((id) => !toldIds.includes(id ?? ""))).toEqual([]);
    }
  });
});

describe("the doctor's words", () => {
  it.each(["en", "zh-CN"])("are there for every check in %s, and for no other", (language) => {
    expect(Object.keys(catalogue(language)).sort()).toEqual([...toldIds].sort());
    for (const words of Object.values(catalogue(language))) {
      expect(Object.values(words).every((part) => part !== "")).toBe(true);
    }
  });

  it("name the same facts in every language, and are translated", () => {
    const [english, chinese] = [catalogue("en"), catalogue("zh-CN")];
    for (const [id, words] of Object.entries(english)) {
      for (const part of ["found", "cause", "fix"]) {
        expect(places(chinese[id]?.[part]), `${id} ${part}`).toEqual(places(words[part]));
      }
      expect(chinese[id]?.["cause"]).toMatch(/\p{Script=Han}/u);
    }
  });

  it("cover the parts of the running engine", () => {
    expect(toldIds).toEqual(expect.arrayContaining(Object.keys(partLooks)));
  });
});
