import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { languageOf, languages, optionalText, textIn } from "./text.ts";

function catalogue(language: string): Record<string, string> {
  const file = new URL(`./messages/${language}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

const english = catalogue("en");
const places = (text: string | undefined): string[] =>
  [...new Set(text?.match(/\{\w+\}/g) ?? [])].sort();

describe("the catalogues", () => {
  it.each(languages)("say the same things in %s, in the same order", (language) => {
    expect(Object.keys(catalogue(language))).toEqual(Object.keys(english));
  });

  it("name the same facts in every language", () => {
    const chinese = catalogue("zh-CN");
    const different = Object.keys(english).filter(
      (key) => places(english[key]).join() !== places(chinese[key]).join(),
    );
    expect(different).toEqual([]);
  });

  it("leave nothing untranslated but what is typed", () => {
    const chinese = catalogue("zh-CN");
    const isTyped = (text = ""): boolean => /^(holdfast |--)/.test(text);
    const same = Object.keys(english).filter(
      (key) =>
        chinese[key] === english[key] &&
        !isTyped(english[key]) &&
        /[a-z]{4,} [a-z]{2,}/i.test(english[key] ?? ""),
    );
    expect(same).toEqual([]);
  });

  it("hold no message that nobody says", () => {
    const folder = new URL("..", import.meta.url).pathname;
    const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    // Families are put together from a code: their first part stands in the source.
    const isSaid = (key: string): boolean =>
      source.includes(`"${key}"`) ||
      key.split(".").some((_, index, parts) => {
        const family = parts.slice(0, index).join(".");
        return index > 0 && source.includes(`\`${family}.\${`);
      });
    expect(Object.keys(english).filter((key) => !isSaid(key))).toEqual([]);
  });
});

describe("a message", () => {
  it("groups numbers as its language does and keeps a missing fact visible", () => {
    const text = textIn("en");
    expect(text("crowd.progress", { answered: 1234, buyers: 20000, reserved: "x" })).toContain(
      "1,234",
    );
    expect(text("crowd.progress")).toContain("{answered}");
    expect(optionalText(text, "no.such.message")).toBeUndefined();
  });
});

describe("the language", () => {
  it.each([
    [undefined, {}, "en"],
    [undefined, { LANG: "zh_CN.UTF-8" }, "zh-CN"],
    [undefined, { LANG: "en_US.UTF-8", LC_ALL: "zh_CN.UTF-8" }, "zh-CN"],
    [undefined, { LANG: "zh_CN.UTF-8", LC_ALL: "C" }, "en"],
    ["zh-CN", { LANG: "en_US.UTF-8" }, "zh-CN"],
    ["en", { LANG: "zh_CN.UTF-8" }, "en"],
    [undefined, { LANG: "zha_XX" }, "en"],
  ])("--lang %s in %j is %s", (flag, env, language) => {
    expect(languageOf(flag, env)).toBe(language);
  });
});
