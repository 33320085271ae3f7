import type { Browser, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConsoleSite } from "../support/console-site.ts";
import { openBrowser, Visitor } from "../support/console-visitor.ts";

// What keeps a large sale and a long ledger usable. How fast they are is measured by the
// benchmark (`npm run bench -- console`); here is why.

const skus = 2_000;
const bought = 700;
/** Rows in sight, and a few beyond. */
const rowsMax = 60;

let site: ConsoleSite;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([ConsoleSite.start(), openBrowser()]);
  await site.openSale("large", stockOf(skus));
  await site.openSale("long", { "long-a": 1_000 });
  const items = Array.from({ length: bought }, (_, n) => ({
    ...{ idempotencyKey: `key-${n}`, buyerId: `buyer-${n}` },
    items: [{ sku: "long-a", quantity: 1 }],
  }));
  expect(await site.call("/v1/reservations:batch", { saleId: "long", items })).toMatchObject({
    status: 200,
  });
});
afterAll(async () => {
  await browser.close();
  await site.close();
  expect(site.failures).toEqual([]);
});

/** No two SKUs have the same stock, so that a number says whose it is. */
function stockOf(count: number): Record<string, number> {
  const entries = Array.from({ length: count }, (_, n) => [`sku-${digits(n)}`, stockAt(n)]);
  return Object.fromEntries(entries);
}

function digits(n: number): string {
  return String(n).padStart(4, "0");
}

function stockAt(n: number): number {
  return 10_000 + 10 * n;
}

function rowsIn(visitor: Visitor) {
  return visitor.page.locator("table.data tr[aria-rowindex]");
}

const toTheEnd = 'document.querySelector(".table-box").scrollTo(0, 1e6)';

/** Keeps every number that the page writes; runs before the page's own code. */
const keepNumbers = `
  window.written = [];
  const { prototype } = Intl.NumberFormat;
  const { get } = Object.getOwnPropertyDescriptor(prototype, "format");
  Object.defineProperty(prototype, "format", {
    get() {
      const format = get.call(this);
      return (value) => {
        window.written.push(value);
        return format(value);
      };
    },
  });
`;

describe("a sale of 2,000 SKUs", () => {
  it("has a bounded number of rows in the document, and is told of by frames alone", async () => {
    const visitor = await Visitor.come(browser, site.url);
    const asked: string[] = [];
    visitor.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await visitor.goTo("/sales/large");
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await rowsIn(visitor).first().waitFor();
    const table = visitor.page.locator("table.data");
    expect(await table.getAttribute("aria-rowcount")).toBe(String(skus + 1));
    expect(await rowsIn(visitor).count()).toBeLessThan(rowsMax);
    await visitor.page.evaluate(toTheEnd);
    await visitor.page.getByRole("link", { name: `sku-${digits(skus - 1)}` }).waitFor();
    expect(await rowsIn(visitor).count()).toBeLessThan(rowsMax);
    expect(asked).toContain("/v1/sales/large/events");
    expect(asked).not.toContain("/v1/sales/large");
    await visitor.leave();
  });

  it("draws the rows anew that a frame has changed, and no others", async () => {
    const visitor = await Visitor.come(browser, site.url);
    await visitor.page.addInitScript(keepNumbers);
    await visitor.goTo("/sales/large");
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await rowsIn(visitor).nth(5).waitFor();
    expect(await visitor.page.evaluate<number[]>("window.written")).toContain(stockAt(4));
    await visitor.page.evaluate("window.written = []");
    expect(await site.buy("large", `sku-${digits(3)}`, "ann")).toMatchObject({ status: 201 });
    const row = visitor.page.locator("tr", { hasText: `sku-${digits(3)}` });
    await row.getByText((stockAt(3) - 1).toLocaleString("en")).waitFor();
    const written = new Set(await visitor.page.evaluate<number[]>("window.written"));
    expect(written).toContain(stockAt(3) - 1);
    const others = Array.from({ length: skus }, (_, n) => stockAt(n)).filter((n) => written.has(n));
    // The bar of the changed row speaks of its own total.
    expect(others.filter((n) => n !== stockAt(3))).toEqual([]);
    await visitor.leave();
  });
});

describe("a ledger that is long", () => {
  it("shows the newest entry first, and asks for the pages in sight only", async () => {
    const visitor = await Visitor.come(browser, site.url);
    const asked: URL[] = [];
    visitor.page.on("request", (request: Request) => {
      const url = new URL(request.url());
      if (url.pathname.endsWith("/entries")) asked.push(url);
    });
    await visitor.goTo("/stock/long-a");
    const entries = bought + 1;
    await visitor.page.locator("td", { hasText: new RegExp(`^${entries}$`) }).waitFor();
    const table = visitor.page.locator("table.data");
    expect(await table.getAttribute("aria-rowcount")).toBe(String(entries + 1));
    expect(await rowsIn(visitor).count()).toBeLessThan(rowsMax);
    expect(asked.length).toBeLessThanOrEqual(2);
    await visitor.page.evaluate(toTheEnd);
    await visitor.page.locator("td", { hasText: /^1$/ }).first().waitFor();
    const limits = asked.map(({ searchParams }) => Number(searchParams.get("limit")));
    expect(limits.every((limit) => limit >= 1 && limit <= 100)).toBe(true);
    // Of eight pages: those at the top, those at the bottom, none of what lies between.
    expect(asked.length).toBeLessThanOrEqual(4);
    await visitor.leave();
  });

  it("says how many have come since, and shows them when asked to", async () => {
    const visitor = await Visitor.come(browser, site.url);
    await visitor.goTo("/stock/long-a");
    await rowsIn(visitor).first().waitFor();
    const before = await visitor.page.locator("table.data").getAttribute("aria-rowcount");
    expect(await site.buy("long", "long-a", "late")).toMatchObject({ status: 201 });
    await visitor.button("ledger.newer", { entries: "1" }).click();
    const table = visitor.page.locator("table.data");
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe(String(Number(before) + 1));
    await visitor.leave();
  });
});
