import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConsoleSite } from "../support/console-site.ts";
import { languages, openBrowser, Visitor } from "../support/console-visitor.ts";

let server: ConsoleSite;
let browser: Browser;
let order = "";

beforeAll(async () => {
  [server, browser] = await Promise.all([ConsoleSite.start(), openBrowser()]);
  await server.openSale("spring", { phone: 20, case: 5 });
  const bought = await server.buy("spring", "phone", "ann");
  order = String(bought["reservationId"]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
  expect(server.failures).toEqual([]);
});

describe.each(languages)("in %s", (language) => {
  it.each([
    ["/sales", "sales.title", {}],
    ["/stock", "stock.title", {}],
    ["/stock/phone", "ledger.title", { sku: "phone" }],
    ["/search", "search.title", {}],
    ["/reconciliation", "reconciliation.title", {}],
    ["/dead-letters", "deadLetters.title", {}],
    ["/doctor", "doctor.title", {}],
    ["/audit", "audit.title", {}],
    ["/sales/none/there/is", "notFound.title", {}],
  ] as const)("%s is there, quiet and accessible", async (path, title, holes) => {
    const visitor = await Visitor.come(browser, server.url, { language });
    await visitor.goTo(path);
    await visitor.heading(visitor.t(title, holes)).waitFor();
    await visitor.page.locator(".skeleton").waitFor({ state: "detached" });
    await visitor.isAccessible();
    await visitor.leave();
  });

  it("a sale, its wallboard and an order are there, in the dark, too", async () => {
    const visitor = await Visitor.come(browser, server.url, { language, theme: "dark" });
    await visitor.goTo("/sales/spring");
    await visitor.heading("spring").waitFor();
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await visitor.isAccessible();
    await visitor.goTo("/sales/spring/wall");
    await visitor.page.getByText(visitor.t("wall.fine")).waitFor();
    await visitor.isAccessible();
    await visitor.goTo(`/reservations/${order}`);
    await visitor.heading(visitor.t("reservation.title")).waitFor();
    const steps = visitor.page.getByTestId("timeline").locator("li");
    await steps.first().waitFor();
    expect(await steps.count()).toBeGreaterThanOrEqual(2);
    await visitor.isAccessible();
    await visitor.leave();
  });

  it("what is not there says so, with its code and the request's id", async () => {
    const visitor = await Visitor.come(browser, server.url, { language });
    await visitor.goTo("/sales/nowhere");
    const alert = visitor.page.getByRole("alert");
    await alert.getByText("SALE_NOT_FOUND").waitFor();
    await alert.getByText(visitor.t("failure.request")).waitFor();
    await visitor.leave();
  });
});

describe("the console", () => {
  it("switches its language without a reload, and keeps it", async () => {
    const visitor = await Visitor.come(browser, server.url);
    await visitor.goTo("/sales");
    await visitor.heading("Sales").waitFor();
    await visitor.page.evaluate("window.isTheSamePage = true");
    await visitor.page.getByTestId("language").click();
    await visitor.heading("活动").waitFor();
    expect(await visitor.page.evaluate("window.isTheSamePage")).toBe(true);
    expect(await visitor.page.evaluate("document.documentElement.lang")).toBe("zh-CN");
    await visitor.page.reload();
    await visitor.heading("活动").waitFor();
    await visitor.leave();
  });

  it("follows the system's theme until somebody chooses", async () => {
    const visitor = await Visitor.come(browser, server.url, { theme: "dark" });
    await visitor.goTo("/sales");
    const root = visitor.page.locator("html");
    await expect.poll(() => root.getAttribute("data-theme")).toBe("dark");
    await visitor.page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => root.getAttribute("data-theme")).toBe("light");
    await visitor.page.getByTestId("theme").click();
    await visitor.page.getByTestId("theme").click();
    await expect.poll(() => root.getAttribute("data-theme")).toBe("dark");
    await visitor.leave();
  });

  it("is driven by keys", async () => {
    const visitor = await Visitor.come(browser, server.url);
    await visitor.goTo("/doctor");
    await visitor.heading("Doctor").waitFor();
    await visitor.page.keyboard.press("g");
    await visitor.page.keyboard.press("s");
    await visitor.heading("Sales").waitFor();
    await visitor.page.keyboard.press("?");
    await visitor.page.getByRole("dialog").getByText("Keyboard").waitFor();
    await visitor.page.keyboard.press("Escape");
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    await visitor.page.keyboard.press("/");
    await visitor.page.keyboard.type(" 'nothing-of-the-kind' ");
    await visitor.page.keyboard.press("Enter");
    await visitor.page.getByTestId("looked").waitFor();
    expect(await visitor.page.getByTestId("looked").locator("li").count()).toBe(6);
    await visitor.leave();
  });

  it("S25 shows markup in a name as text", async () => {
    const title = '<img src=x onerror="window.wasRun = true">';
    const items = [{ sku: "marked", stock: 1 }];
    await server.call("/v1/sales", { saleId: "marked", title, holdSeconds: 60, items });
    const visitor = await Visitor.come(browser, server.url);
    await visitor.goTo("/sales/marked");
    await visitor.heading(title).waitFor();
    expect(await visitor.page.evaluate("window.wasRun")).toBeUndefined();
    await visitor.leave();
  });

  it("says that its numbers are old when the server is out of reach", async () => {
    const leaving = await ConsoleSite.start();
    await leaving.openSale("spring", { phone: 1 });
    const visitor = await Visitor.come(browser, leaving.url);
    await visitor.goTo("/sales/spring");
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await leaving.close();
    await visitor.page.locator('[data-liveness="lost"]').waitFor();
    await visitor.figure("figure.left").getByText("1").waitFor();
    await visitor.leave();
  });

  it("shows the numbers when a part of its page does not come", async () => {
    const visitor = await Visitor.come(browser, server.url);
    await visitor.page.route("**/assets/sale-charts-*", (route) => route.abort());
    await visitor.goTo("/sales/spring");
    await visitor.page.getByTestId("broken-part").waitFor();
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await visitor.figure("figure.left").waitFor();
    // The browser tells of what did not come: that is what was wanted here.
    visitor.complaints.length = 0;
    await visitor.leave();
  });

  it("keeps what failed in sight while it is asked for again", async () => {
    const visitor = await Visitor.come(browser, server.url);
    let asked = 0;
    await visitor.page.route("**/v1/reconciliation", (route) => {
      asked += 1;
      // The second try is never answered.
      if (asked > 1) return;
      const problem = { code: "BUSY", title: "The ledger is away", detail: "ask again" };
      return route.fulfill({ status: 503, body: JSON.stringify(problem) });
    });
    await visitor.goTo("/reconciliation");
    const alert = visitor.page.getByRole("alert");
    await alert.getByText("The ledger is away").waitFor();
    await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(1);
    await alert.getByText("The ledger is away").waitFor();
    expect(await visitor.page.locator(".skeleton").count()).toBe(0);
    await visitor.leave();
  });

  it("leaves the way to the other pages when one breaks", async () => {
    const visitor = await Visitor.come(browser, server.url);
    await visitor.page.route("**/v1/doctor", (route) => route.fulfill({ body: "{}" }));
    await visitor.goTo("/doctor");
    await visitor.heading(visitor.t("broken.title")).waitFor();
    // The browser tells of what broke: that is what was wanted here.
    visitor.complaints.length = 0;
    await visitor.page.getByRole("link", { name: visitor.t("nav.sales"), exact: true }).click();
    await visitor.heading(visitor.t("sales.title")).waitFor();
    await visitor.leave();
  });

  it("says how much lies in the broker's own dead letters, and where", async () => {
    const visitor = await Visitor.come(browser, server.url);
    const given = "**/v1/dead-letters/given-up";
    await visitor.page.route(given, (route) => route.fulfill({ body: '{"givenUp":7}' }));
    await visitor.goTo("/dead-letters");
    const notice = visitor.page.getByTestId("given-up");
    await notice.getByText(visitor.t("deadLetters.givenUp", { letters: "7" })).waitFor();
    await notice.getByText("%DLQ%").waitFor();
    await visitor.leave();
  });

  it("works under a base path", async () => {
    const below = await ConsoleSite.start({ basePath: "/ops" });
    await below.openSale("spring", { phone: 1 });
    const visitor = await Visitor.come(browser, `${below.url}/ops`);
    await visitor.goTo("/sales/spring");
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await visitor.page.getByRole("link", { name: "Doctor" }).click();
    await visitor.heading("Doctor").waitFor();
    expect(new URL(visitor.page.url()).pathname).toBe("/ops/doctor");
    await visitor.leave();
    await below.close();
  });
});
