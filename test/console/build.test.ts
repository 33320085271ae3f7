import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../dist/console", import.meta.url));
/** What comes before the first numbers stand on a live sale, packed. */
const firstViewBytesMax = 250_000;

type Chunk = {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
};

function manifest(): Readonly<Record<string, Chunk>> {
  return JSON.parse(readFileSync(join(folder, ".vite", "manifest.json"), "utf8"));
}

/** Every file that the named parts need before they can run. */
function filesOf(entries: readonly string[]): string[] {
  const chunks = manifest();
  const files = new Set<string>();
  const visit = (name: string): void => {
    const chunk = chunks[name];
    if (chunk === undefined) throw new Error(`${name} is not in the build`);
    if (files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const next of chunk.imports ?? []) visit(next);
  };
  for (const entry of entries) visit(entry);
  return [...files];
}

function packedBytes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(join(folder, `${file}.gz`)).size, 0);
}

describe("the first view", () => {
  it.each([
    ["the sales", "src/pages/sales.tsx"],
    ["a live sale", "src/pages/sale.tsx"],
  ])(`of %s takes at most ${firstViewBytesMax} bytes, packed`, (_name, page) => {
    const files = filesOf(["index.html", page, "src/messages/zh-CN.json"]);
    const bytes = packedBytes(files);
    expect(files.length).toBeGreaterThan(5);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(firstViewBytesMax);
  });

  it("leaves out what only a form or another page needs", () => {
    const first = new Set(filesOf(["index.html", "src/pages/sale.tsx"]));
    for (const later of ["stock-form", "create-sale", "sale-moves"]) {
      expect(filesOf([`src/components/${later}.tsx`]).every((file) => first.has(file))).toBe(false);
    }
  });
});

describe("what is built", () => {
  it("loads nothing from elsewhere", () => {
    const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(js|css|html)$/.test(name))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);
    // An address that is loaded: by an import, a tag, a style sheet, a request.
    const loads =
      /(?:import\(?|from|src=|href=|url\(|fetch\(|EventSource\()\s*["'`]?(?:https?:)?\/\/[\w.]+/g;
    const found = texts.flatMap(([name, text]) =>
      [...text.matchAll(loads)].map(([hit]) => `${name}: ${hit}`),
    );
    expect(texts.length).toBeGreaterThan(10);
    expect(found).toEqual([]);
  });
});
