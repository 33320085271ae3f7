import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConsoleSite, passwordOf } from "../support/console-site.ts";
import { type Language, languages, openBrowser, Visitor } from "../support/console-visitor.ts";

let site: ConsoleSite;
let browser: Browser;

beforeAll(async () => {
  const users = { vera: "viewer", otto: "operator", ada: "admin" } as const;
  [site, browser] = await Promise.all([ConsoleSite.start({ users }), openBrowser()]);
  await site.openSale("guarded", { "guarded-a": 10 });
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

async function signedIn(name: string, path: string, language: Language = "en"): Promise<Visitor> {
  const visitor = await Visitor.come(browser, site.url, { language });
  await visitor.goTo(path);
  await visitor.heading(visitor.t("signIn.title")).waitFor();
  await visitor.field("name").fill(name);
  await visitor.field("password").fill(passwordOf(name));
  await visitor.button("signIn.in").click();
  return visitor;
}

/** What the page itself could send, whatever its buttons are: with its cookie and its token. */
function post(path: string, body: object): string {
  return `fetch("/v1/session").then((answer) => answer.json()).then(({ csrfToken }) =>
    fetch(${JSON.stringify(path)}, {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf-token": csrfToken },
      body: ${JSON.stringify(JSON.stringify(body))},
    })).then(async (answer) => [answer.status, (await answer.json()).code ?? null])`;
}

const restock = { operationId: "by-hand", quantity: 5, reason: "a try" };

describe.each(languages)("in %s", (language) => {
  it("one comes back to where one wanted to go, after a wrong password too", async () => {
    const visitor = await Visitor.come(browser, site.url, { language });
    await visitor.goTo("/sales/guarded?sku=a");
    await visitor.heading(visitor.t("signIn.title")).waitFor();
    await visitor.isAccessible();
    await visitor.field("name").fill("otto");
    await visitor.field("password").fill("not this one");
    await visitor.button("signIn.in").click();
    await visitor.page.getByText(visitor.t("signIn.wrong")).waitFor();
    await visitor.field("password").fill(passwordOf("otto"));
    await visitor.button("signIn.in").click();
    await visitor.heading("guarded").waitFor();
    expect(new URL(visitor.page.url()).search).toBe("?sku=a");
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    await visitor.leave();
  });

  it("a viewer is shown no acts, and is refused by the API itself", async () => {
    const visitor = await signedIn("vera", "/sales/guarded", language);
    await visitor.page.locator('[data-liveness="live"]').waitFor();
    expect(await visitor.button("move.pause").count()).toBe(0);
    expect(await visitor.button("sku.change").count()).toBe(0);
    const told = await visitor.page.evaluate(post("/v1/stock/guarded-a/restock", restock));
    expect(told).toEqual([403, "FORBIDDEN"]);
    await visitor.leave();
  });
});

describe("signed in", () => {
  it("an operator changes stock, under an own name", async () => {
    const visitor = await signedIn("otto", "/stock/guarded-a");
    await visitor.button("sku.change").click();
    await visitor.field("quantity").fill("5");
    await visitor.field("reason").fill("a pallet came");
    await visitor.page.getByRole("dialog").locator('button[type="submit"]').click();
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    await visitor.goTo("/audit?actor=otto&action=stock.restock");
    await visitor.page.getByText("a pallet came").waitFor();
    await visitor.leave();
  });

  it("S27 a call without the page's token changes nothing", async () => {
    const visitor = await signedIn("ada", "/sales");
    await visitor.heading("Sales").waitFor();
    const bare = `fetch("/v1/stock/guarded-a/restock", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: ${JSON.stringify(JSON.stringify({ ...restock, operationId: "forged" }))},
    }).then((answer) => answer.status)`;
    expect(await visitor.page.evaluate(bare)).toBe(403);
    await visitor.leave();
  });

  it("whoever signs out is asked to sign in, and the old cookie is worth nothing", async () => {
    const visitor = await signedIn("ada", "/sales");
    await visitor.heading("Sales").waitFor();
    const cookies = await visitor.page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
    await visitor.button("signIn.out").click();
    await visitor.heading("Sign in").waitFor();
    await visitor.page.context().addCookies(cookies);
    await visitor.page.reload();
    await visitor.heading("Sign in").waitFor();
    await visitor.leave();
  });
});
