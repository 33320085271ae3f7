import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConsoleSite } from "../support/console-site.ts";
import { languages, openBrowser, Visitor } from "../support/console-visitor.ts";

let site: ConsoleSite;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([ConsoleSite.start(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await site.close();
  expect(site.failures).toEqual([]);
});

async function atSale(language: (typeof languages)[number], saleId: string): Promise<Visitor> {
  const visitor = await Visitor.come(browser, site.url, { language });
  await visitor.goTo(`/sales/${saleId}`);
  await visitor.page.locator('[data-liveness="live"]').waitFor();
  return visitor;
}

function cartOf(saleId: string) {
  return { saleId, buyerId: "ann", items: [{ sku: `${saleId}-a`, quantity: 1 }] };
}

describe.each(languages)("in %s", (language) => {
  it("a sale is made, opened, and its rush watched to the last unit", async () => {
    const saleId = `rush-${language}`;
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo("/sales");
    await visitor.button("sales.create").click();
    await visitor.field("saleId").fill(saleId);
    await visitor.field("lines").fill(`${saleId}-a\t20\n"${saleId}-b",10`);
    await visitor.button("create.action").click();
    await visitor.heading(saleId).waitFor();
    await visitor.button("move.open").click();
    await visitor.field("reason").fill("as announced");
    await visitor.page
      .getByRole("dialog")
      .getByRole("button", { name: visitor.t("move.open") })
      .click();
    await visitor.page.getByText(visitor.t("saleState.open")).first().waitFor();
    const left = visitor.figure("figure.left");
    await left.getByText("30").waitFor();
    const buyers = Array.from({ length: 60 }, (_, n) => `buyer-${n}`);
    const skuOf = (n: number) => `${saleId}-${n % 2 === 0 ? "a" : "b"}`;
    const told = await Promise.all(buyers.map((buyer, n) => site.buy(saleId, skuOf(n), buyer)));
    expect(told.filter(({ status }) => status === 201)).toHaveLength(30);
    await left.getByText(/^0\b/).waitFor();
    await visitor.figure("bucket.reserved").getByText("30").waitFor();
    await expect.poll(() => visitor.figure("figure.drift").textContent()).toMatch(/^0/);
    const log = await site.call(`/v1/audit-log?action=sale.open&subject=sale:${saleId}`);
    expect(log).toMatchObject({ items: [{ reason: "as announced" }] });
    await visitor.leave();
  });

  it("an order is found by its key, in quotes, and refunded", async () => {
    const saleId = `money-${language}`;
    await site.openSale(saleId, { [`${saleId}-a`]: 5 });
    const bought = await site.buy(saleId, `${saleId}-a`, "ann", `order-${language}`);
    const reservationId = String(bought["reservationId"]);
    await site.call(`/v1/reservations/${reservationId}/confirm`, { paymentId: "pay-1" });
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo("/sales");
    await visitor.heading(visitor.t("sales.title")).waitFor();
    await visitor.page.keyboard.press("/");
    await visitor.page.keyboard.type(`"order-${language}"`);
    await visitor.page.keyboard.press("Enter");
    await visitor.heading(visitor.t("reservation.title")).waitFor();
    await visitor.page.getByTestId("money").getByText(visitor.t("payment.taken")).waitFor();
    await visitor.button("reservationAct.refund").click();
    const send = visitor.page.getByRole("dialog").getByRole("button", {
      name: visitor.t("refund.action"),
      exact: true,
    });
    expect(await send.isDisabled()).toBe(true);
    await visitor.field("reason").fill("it arrived broken");
    await send.click();
    await visitor.page.getByText(visitor.t("reservationState.refunded")).first().waitFor();
    const order = await site.call(`/v1/reservations/${reservationId}`);
    expect(order).toMatchObject({ state: "refunded", refunds: [{ reason: "it arrived broken" }] });
    await visitor.leave();
  });

  it("an order is found by a gateway's request, and leads to its trace", async () => {
    const saleId = `traced-${language}`;
    await site.openSale(saleId, { [`${saleId}-a`]: 5 });
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const request = `gateway-${language}`;
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const headers = { "x-request-id": request, traceparent };
    await site.call("/v1/reservations", cartOf(saleId), { ...headers, "idempotency-key": saleId });
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo(`/search?q=${request}`);
    await visitor.heading(visitor.t("reservation.title")).waitFor();
    const steps = visitor.page.getByTestId("timeline").locator("li");
    // Admitted, sent and decided by one call.
    await expect.poll(() => steps.filter({ hasText: request }).count()).toBe(3);
    const links = steps.getByRole("link", { name: visitor.t("timeline.openTrace") });
    expect(await links.first().getAttribute("href")).toBe(`https://traces.example/${traceId}`);
    await visitor.isAccessible();
    await visitor.leave();
  });

  it("a form that was decided on old numbers is refused with the newer ones", async () => {
    const saleId = `stale-${language}`;
    const sku = `${saleId}-a`;
    await site.openSale(saleId, { [sku]: 10 });
    const visitor = await atSale(language, saleId);
    await visitor.page.getByRole("button", { name: visitor.t("stock.change", { sku }) }).click();
    await visitor.choose("change.adjust");
    await visitor.field("quantity").fill("15");
    await visitor.field("reason").fill("counted by hand");
    // From here on the form hears nothing newer by itself.
    await visitor.page.route(`**/v1/stock/${sku}`, (route) => route.abort());
    const change = { operationId: "first", quantity: 3, reason: "came in" };
    expect(await site.call(`/v1/stock/${sku}/restock`, change)).toMatchObject({ status: 200 });
    const act = visitor.page.getByRole("dialog").getByRole("button", {
      name: visitor.t("change.adjust"),
      exact: true,
    });
    await act.click();
    const moved = visitor.page.getByTestId("moved");
    await moved.waitFor();
    const total = moved.locator("tr", { hasText: visitor.t("bucket.total") });
    expect(await total.locator("td").allTextContents()).toEqual(["10", "13", "+3"]);
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 13 });
    await visitor.page.unroute(`**/v1/stock/${sku}`);
    await visitor.button("stock.takeNewer").click();
    await act.click();
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 15 });
    await visitor.leave();
  });

  it("what takes units from sale is typed out first, and is not where the focus is", async () => {
    const saleId = `danger-${language}`;
    const sku = `${saleId}-a`;
    await site.openSale(saleId, { [sku]: 10 });
    const visitor = await atSale(language, saleId);
    await visitor.page.getByRole("button", { name: visitor.t("stock.change", { sku }) }).click();
    await visitor.field("quantity").waitFor();
    const focused = "document.activeElement.getAttribute('name')";
    expect(await visitor.page.evaluate(focused)).toBe("quantity");
    await visitor.choose("change.freeze");
    await visitor.field("quantity").fill("4");
    await visitor.field("reason").fill("a damaged pallet");
    const act = visitor.page.getByRole("dialog").getByRole("button", {
      name: visitor.t("change.freeze"),
      exact: true,
    });
    expect(await act.isDisabled()).toBe(true);
    await visitor.field("typed").fill(sku);
    await act.click();
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ available: 6, frozen: 4 });
    await visitor.goTo("/audit?action=stock.freeze");
    await visitor.page.getByText("a damaged pallet").first().waitFor();
    await visitor.leave();
  });
});

describe.each(languages)("what went wrong, in %s", (language) => {
  it("a dead letter is looked at, replayed, and its outcome told", async () => {
    const own = await ConsoleSite.start();
    await own.openSale("lost", { "lost-a": 5 });
    await own.whilePoisoned(() => own.buy("lost", "lost-a", "ann", "lost-key"));
    const visitor = await Visitor.come(browser, own.url, { language });
    await visitor.goTo("/dead-letters");
    await visitor.page.getByRole("link", { name: "1", exact: true }).click();
    await visitor.page.getByTestId("letter").getByText("a planted fault").first().waitFor();
    await visitor.button("settle.replayAll").click();
    await visitor.page.getByTestId("preview").getByText("1").waitFor();
    await visitor.field("reason").fill("the fault is gone");
    await visitor.button("settle.replayDo", { letters: "1" }).click();
    const outcomes = visitor.page.getByTestId("outcomes");
    await outcomes.getByText(visitor.t("outcome.replayed")).first().waitFor();
    const hits = await own.call("/v1/search?q=lost-key");
    expect(hits).toMatchObject({ hits: [{ type: "reservation", state: "reserved" }] });
    await visitor.leave();
    await own.close();
  });

  it("those that are chosen are settled in one call, with an outcome for each", async () => {
    const own = await ConsoleSite.start();
    await own.openSale("lost", { "lost-a": 5 });
    await own.whilePoisoned(() => own.buy("lost", "lost-a", "ann", "lost-key"));
    const visitor = await Visitor.come(browser, own.url, { language });
    const posted: string[] = [];
    visitor.page.on("request", (request) => {
      if (request.method() === "POST") posted.push(request.postData() ?? "");
    });
    await visitor.goTo("/dead-letters");
    await visitor.page.getByLabel(visitor.t("deadLetters.selectOne", { id: "1" })).check();
    await visitor.button("settle.discardSelected", { letters: "1" }).click();
    await visitor.page.getByTestId("preview").getByText("1").waitFor();
    await visitor.field("reason").fill("asked for twice");
    await visitor.button("settle.discardDo", { letters: "1" }).click();
    const outcomes = visitor.page.getByTestId("outcomes");
    await outcomes.getByText(visitor.t("outcome.discarded")).first().waitFor();
    const [tried, done] = posted.map((body): unknown => JSON.parse(body));
    expect(tried).toMatchObject({ filter: { ids: [1] }, dryRun: true });
    expect(done).toMatchObject({ filter: { ids: [1] }, dryRun: false, reason: "asked for twice" });
    expect(posted).toHaveLength(2);
    await visitor.leave();
    await own.close();
  });

  it("a planted drift is found, its repair shown, and done", async () => {
    const own = await ConsoleSite.start();
    await own.openSale("drifting", { "drifting-a": 10 });
    await own.plantDrift("drifting-a", 3);
    const visitor = await Visitor.come(browser, own.url, { language });
    await visitor.goTo("/reconciliation");
    await visitor.page.locator('[data-testid="verdict"].bad').waitFor();
    await visitor.page.getByTestId("equation").getByText("+3").waitFor();
    await visitor.button("repair.open").click();
    await visitor.page.getByTestId("plan").getByText("drifting-a").first().waitFor();
    expect(await own.call("/v1/reconciliation")).toMatchObject({ drift: 3 });
    await visitor.field("reason").fill("somebody edited hot stock");
    await visitor.page.getByRole("dialog").locator('button[type="submit"]').click();
    await visitor.page.locator('[data-testid="verdict"].ok').waitFor();
    expect(await own.call("/v1/stock/drifting-a")).toMatchObject({ drift: 0, available: 10 });
    await visitor.goTo("/audit?action=reconcile.repair");
    await visitor.page.getByText("somebody edited hot stock").first().waitFor();
    await visitor.leave();
    await own.close();
  });
});
