import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { openChromium } from "../../bench/chromium.ts";

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

type Catalog = { readonly [key: string]: string | Catalog };

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function openBrowser(): Promise<Browser> {
  return openChromium();
}

/** The texts of the console, as its catalogs have them. */
export function wordsOf(language: Language): (key: string, holes?: Holes) => string {
  const file = new URL(`../../console/src/messages/${language}.json`, import.meta.url);
  const catalog: Catalog = JSON.parse(readFileSync(file, "utf8"));
  return (key, holes = {}) => {
    let found: string | Catalog | undefined = catalog;
    for (const part of key.split(".")) found = typeof found === "object" ? found[part] : undefined;
    if (typeof found !== "string") throw new Error(`${language} has no text ${key}`);
    return found.replace(/\{\{(\w+)\}\}/g, (_hole, name: string) => holes[name] ?? "");
  };
}

type Holes = Readonly<Record<string, string>>;

export type VisitorOptions = {
  readonly language?: Language;
  readonly theme?: "light" | "dark";
};

/** Somebody at the console. What the browser complains of is kept, and fails the test. */
export class Visitor {
  readonly page: Page;
  readonly t: ReturnType<typeof wordsOf>;
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;
  readonly #base: string;

  private constructor(context: BrowserContext, page: Page, base: string, language: Language) {
    this.#context = context;
    this.page = page;
    this.#base = base;
    this.t = wordsOf(language);
  }

  static async come(
    browser: Browser,
    base: string,
    { language = "en", theme = "light" }: VisitorOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      locale: language,
      colorScheme: theme,
      reducedMotion: "reduce",
      viewport: { width: 1_440, height: 900 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const visitor = new Visitor(context, page, base, language);
    visitor.#listen();
    return visitor;
  }

  #listen(): void {
    const { origin } = new URL(this.#base);
    this.page.on("pageerror", (error) => this.complaints.push(String(error.stack)));
    this.page.on("console", (message) => {
      // A refusal is told as a resource that did not load; the test itself looks at what it says.
      const isRefusal = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isRefusal) this.complaints.push(message.text());
    });
    this.page.on("request", (request) => {
      const url = new URL(request.url());
      const isOurs = url.origin === origin || ["data:", "blob:"].includes(url.protocol);
      if (!isOurs) this.complaints.push(`asked ${request.url()}`);
    });
  }

  async goTo(path: string): Promise<void> {
    await this.page.goto(`${this.#base}${path}`);
  }

  button(key: string, holes?: Holes) {
    return this.page.getByRole("button", { name: this.t(key, holes), exact: true });
  }

  heading(text: string) {
    return this.page.getByRole("heading", { level: 1, name: text, exact: true });
  }

  /** A number of the sale's figures, by its name. */
  figure(key: string) {
    const term = this.page.locator("dt", { hasText: new RegExp(`^${this.t(key)}$`) });
    return this.page.locator(".figure", { has: term }).locator("dd");
  }

  /** One of a row of choices, by its text. */
  choose(key: string): Promise<void> {
    const text = new RegExp(`^${this.t(key)}$`);
    return this.page.locator(".ant-segmented-item", { hasText: text }).click();
  }

  field(name: string) {
    return this.page.locator(`[name="${name}"]`);
  }

  async isAccessible(): Promise<void> {
    await this.page.evaluate(axe);
    const found: { id: string; nodes: string[] }[] = await this.page.evaluate(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
    );
    expect(found).toEqual([]);
  }

  async leave(): Promise<void> {
    await this.#context.close();
    expect(this.complaints).toEqual([]);
  }
}
