// Every page of the console, in both languages and both themes, over a demo sale after its rush.
// They go to docs/screenshots, or to the folder that is named.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root } from "./build.mjs";
import { setupOrExit } from "./setup.mjs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const viewport = { width: 1_280, height: 860 };

await setupOrExit();
const { chromium } = await import("playwright-core");
const executablePath = places.find((place) => existsSync(place));
if (executablePath === undefined) {
  process.stderr.write("no Chromium: apt-get install chromium fonts-noto-cjk\n");
  process.exit(1);
}
const folder = resolve(process.argv[2] ?? join(root, "docs", "screenshots"));
mkdirSync(folder, { recursive: true });
const server = await startDev();
try {
  process.stdout.write(`${await shootAll(server)} pages in ${folder}\n`);
} finally {
  await server.stop();
}

/** `holdfast dev` in a folder of its own, once its rush is over. */
async function startDev() {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-screenshots-"));
  const main = join(root, "dist", "src", "cli", "main.js");
  const args = [main, "dev", "--json", "--port", "0", "--stock", "300", "--buyers", "900"];
  const child = spawn(process.execPath, [...args, "--hold-seconds", "3600"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const stop = async () => {
    child.kill("SIGTERM");
    await closed;
    rmSync(cwd, { recursive: true, force: true });
  };
  return { ...JSON.parse(line), stop };
}

async function pagesOf({ url, saleId, sku }) {
  const entries = await (await fetch(`${url}/v1/stock/${sku}/entries?limit=200`)).json();
  const order = entries.items.findLast(({ reservationId }) => reservationId !== null);
  return {
    sales: "/sales",
    sale: `/sales/${await rush(url, saleId)}`,
    wallboard: `/sales/${saleId}/wall`,
    search: "/search?q=nobody-knows-this",
    order: `/reservations/${order.reservationId}`,
    stock: "/stock",
    ledger: `/stock/${sku}`,
    reconciliation: "/reconciliation?show=all",
    "dead-letters": "/dead-letters",
    doctor: "/doctor",
    audit: "/audit",
  };
}

/** A rush that is on while its page is looked at; without one, the sale that is over. */
async function rush(url, saleId) {
  const answer = await fetch(`${url}/v1/demo/rush`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ stock: 2_000, buyers: 6_000 }),
  });
  return answer.ok ? (await answer.json()).saleId : saleId;
}

async function shootAll(demo) {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  let shot = 0;
  for (const locale of ["en", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ locale, colorScheme, viewport });
      const page = await context.newPage();
      for (const [name, path] of Object.entries(await pagesOf(demo))) {
        await page.goto(`${demo.url}${path}`);
        await page.locator("h1").waitFor();
        await page.locator(".skeleton").waitFor({ state: "detached" });
        // Lines need a few frames to be lines; other pages are still when nothing is asked for.
        if (path.includes("/sales/")) await page.waitForTimeout(4_500);
        else await page.waitForLoadState("networkidle");
        await page.screenshot({ path: join(folder, `${name}.${locale}.${colorScheme}.png`) });
        shot += 1;
      }
      await context.close();
    }
  }
  await browser.close();
  return shot;
}
