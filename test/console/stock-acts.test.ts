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

async function atSku(language: (typeof languages)[number], sku: string): Promise<Visitor> {
  const visitor = await Visitor.come(browser, site.url, { language });
  await visitor.goTo(`/stock/${sku}`);
  await visitor.button("sku.change").click();
  await visitor.field("quantity").waitFor();
  return visitor;
}

function actIn(visitor: Visitor, key: string) {
  const name = visitor.t(key);
  return visitor.page.getByRole("dialog").getByRole("button", { name, exact: true });
}

const gone = { state: "detached" } as const;

describe.each(languages)("in %s", (language) => {
  it("a restock that was decided on old numbers is refused, unless it is for any", async () => {
    const sku = `relative-${language}-a`;
    await site.openSale(`relative-${language}`, { [sku]: 10 });
    const visitor = await atSku(language, sku);
    await visitor.field("quantity").fill("5");
    await visitor.field("reason").fill("a pallet came");
    // From here on the form hears nothing newer by itself.
    await visitor.page.route(`**/v1/stock/${sku}`, (route) => route.abort());
    const change = { operationId: "first", quantity: 3, reason: "came in" };
    expect(await site.call(`/v1/stock/${sku}/restock`, change)).toMatchObject({ status: 200 });
    await actIn(visitor, "change.restock").click();
    const moved = visitor.page.getByTestId("moved");
    await moved.waitFor();
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 13 });
    await moved.getByRole("button", { name: visitor.t("stock.takeAny") }).click();
    await actIn(visitor, "change.restock").click();
    await visitor.page.getByRole("dialog").waitFor(gone);
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 18 });
    await visitor.leave();
  });

  it("what was just done is taken back by an entry of its own", async () => {
    const sku = `undone-${language}-a`;
    await site.openSale(`undone-${language}`, { [sku]: 10 });
    const visitor = await atSku(language, sku);
    await visitor.choose("change.correct");
    await visitor.field("quantity").fill("-4");
    await visitor.field("reason").fill("broken in the shop");
    await visitor.field("typed").fill(sku);
    await actIn(visitor, "change.correct").click();
    await visitor.page.getByRole("dialog").waitFor(gone);
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 6, version: 2 });
    await visitor.button("undo.do").click();
    await visitor.page.getByText(visitor.t("undo.done")).waitFor();
    expect(await site.call(`/v1/stock/${sku}`)).toMatchObject({ total: 10, version: 3 });
    await visitor.leave();
  });

  it("many SKUs are changed out of a spreadsheet, after a look at what it would do", async () => {
    const sale = `many-${language}`;
    await site.openSale(sale, { [`${sale}-a`]: 10, [`${sale}-b`]: 20 });
    expect(await site.buy(sale, `${sale}-b`, "ann")).toMatchObject({ status: 201 });
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo("/stock");
    await visitor.button("import.open").click();
    await visitor.choose("change.adjust");
    await visitor.field("lines").fill(`${sale}-a\t15\n"${sale}-b",0\nnobody 3`);
    const plan = visitor.page.getByTestId("import-plan");
    const [a, b, nobody] = ["-a", "-b", ""].map((end) =>
      plan.locator("tr", { hasText: end === "" ? "nobody" : `${sale}${end}` }),
    );
    await a?.getByText("+5").waitFor();
    await b?.getByText(visitor.t("import.impossible")).waitFor();
    await nobody?.getByText(visitor.t("import.unknown")).waitFor();
    expect(await site.call(`/v1/stock/${sale}-a`)).toMatchObject({ total: 10 });
    await visitor.field("reason").fill("the yearly count");
    await visitor.button("import.do", { skus: "1" }).click();
    const outcomes = visitor.page.getByTestId("outcomes");
    await outcomes.getByText(visitor.t("import.done", { skus: "1" })).waitFor();
    expect(await site.call(`/v1/stock/${sale}-a`)).toMatchObject({ total: 15 });
    expect(await site.call(`/v1/stock/${sale}-b`)).toMatchObject({ total: 20 });
    await visitor.leave();
  });

  it("the audit log is saved as a file by the server, as the filters have it", async () => {
    await site.openSale(`saved-${language}`, { [`saved-${language}-a`]: 1 });
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo("/audit?action=sale.create");
    await visitor.button("export.open").click();
    const saving = visitor.page.waitForEvent("download");
    await visitor.page.getByRole("link", { name: visitor.t("export.download") }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe("audit-log.csv");
    const parts: Buffer[] = [];
    for await (const part of await saved.createReadStream()) parts.push(Buffer.from(part));
    const lines = Buffer.concat(parts).toString("utf8").trimEnd().split("\r\n");
    expect(lines[0]).toBe("\ufeffid,at,actor,action,subject,reason,before,after");
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.slice(1).every((line) => line.includes(",sale.create,"))).toBe(true);
    await visitor.leave();
  });
});
