import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import en from "../../console/src/messages/en.json" with { type: "json" };
import zhCn from "../../console/src/messages/zh-CN.json" with { type: "json" };

const folder = fileURLToPath(new URL("../../console/src", import.meta.url));

/** Every text by its whole key. */
function texts(catalog: object, before = ""): Map<string, string> {
  return new Map(
    Object.entries(catalog).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "object" && value !== null
        ? [...texts(value, `${before}${key}.`)]
        : [[`${before}${key}`, String(value)] as const],
    ),
  );
}

const english = texts(en);
const chinese = texts(zhCn);
const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n");

/** `t("a.b")` and `"a.b"` in tables; and `a.` of `a.${name}`. */
const literals = new Set([...source.matchAll(/"([A-Za-z]+(?:\.[\w-]+)*)"/g)].map(([, key]) => key));
const prefixes = [...source.matchAll(/`([A-Za-z]+(?:\.\w+)*\.\w*)\$\{/g)].map(
  ([, text]) => text ?? "",
);

function holes(text: string | undefined): string[] {
  return [...(text ?? "").matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? "").sort();
}

describe("the two languages", () => {
  it("have the same texts, with the same holes", () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
    const uneven = [...english].filter(
      ([key, text]) => holes(text).join() !== holes(chinese.get(key)).join(),
    );
    expect(uneven).toEqual([]);
  });

  it("leave nothing empty, and nothing English in the Chinese", () => {
    expect([...english, ...chinese].filter(([, text]) => text.trim() === "")).toEqual([]);
    const untranslated = [...chinese].filter(
      ([key, text]) => !/[\u4e00-\u9fff]/.test(text) && english.get(key) === text,
    );
    expect(untranslated.filter(([, text]) => !/^(SKU|v\{\{version\}\})$/.test(text))).toEqual([]);
  });
});

describe("the texts in use", () => {
  it("are all there", () => {
    const asked = [...source.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, key]) => key ?? "");
    const known = new Set([...english.keys()].map((key) => key.replace(/_(one|other)$/, "")));
    expect(asked.length).toBeGreaterThan(150);
    expect(asked.filter((key) => !known.has(key))).toEqual([]);
  });

  it("are all that there is", () => {
    const unused = [...english.keys()]
      .map((key) => key.replace(/_(one|other)$/, ""))
      .filter((key) => !literals.has(key))
      .filter((key) => !prefixes.some((prefix) => key.startsWith(prefix)));
    expect(unused).toEqual([]);
  });
});
