import { loadavg } from "node:os";
import type { Browser, Page } from "playwright-core";
import { openChromium } from "./chromium.ts";
import { reserve } from "./committed.ts";
import { type ConsoleShop, openConsoleShop, shopSize } from "./console-shop.ts";
import { observeTasks, readTasks, type Task } from "./console-tasks.ts";
import { openLoop } from "./load.ts";
import { guarded, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { BrokenInvariant } from "./world.ts";

/** A page that has to stay usable, and how it is used while it lives. */
type Watched = {
  readonly what: string;
  readonly path: (shop: ConsoleShop) => string;
  /** What moves meanwhile, and how often a second. */
  readonly perSecond: number;
  readonly move: (shop: ConsoleShop, n: number) => Promise<void>;
  /** What somebody does there, every other second. */
  readonly use: (page: Page, step: number) => Promise<void>;
};

const firstRowMsMax = 1_000;
const taskMsMax = 100;
/** For a scale of two seconds: a minute. */
const liveTimes = 30;
const useEveryMs = 2_000;
const lookEveryMs = 50;
const waitMs = 30_000;

/** A sale of 2,000 SKUs and a SKU of 100,000 entries, in a browser. */
export async function consoleRows(scale: Scale): Promise<readonly Row[]> {
  await using shop = await openConsoleShop(shopSize);
  const browser = await openChromium();
  try {
    const rows: Row[] = [];
    for (const watched of [wideSale, longLedger]) {
      rows.push(...(await startRows(scale, browser, { shop, watched })));
      rows.push(await liveRow(scale, browser, { shop, watched }));
    }
    return rows;
  } finally {
    await browser.close();
  }
}

const wideSale: Watched = {
  what: `a sale of ${shopSize.skus} SKUs`,
  path: ({ wide }) => `/sales/${wide.saleId}`,
  perSecond: 500,
  move: ({ wide, world, next }) => {
    const n = next();
    // A stride that no number of SKUs has in common: all of them come round.
    const sku = wide.skus[(n * 7_919) % wide.skus.length];
    if (sku === undefined) throw new Error("a sale without SKUs");
    return reserve(world, { saleId: wide.saleId, sku }, n);
  },
  use: async (page, step) => {
    await page.mouse.wheel(0, step % 4 < 2 ? 3_000 : -3_000);
    if (step % 5 === 4) await page.locator("input.field").fill(step % 2 === 0 ? "" : "wide-1");
  },
};

const longLedger: Watched = {
  what: `a ledger of ${shopSize.entries} entries`,
  path: ({ long }) => `/stock/${long.sku}`,
  perSecond: 50,
  move: ({ long, world, next }) => reserve(world, long, next()),
  use: async (page, step) => {
    await page.mouse.wheel(0, 4_000);
    if (step % 3 === 2) {
      await page.getByRole("slider").focus();
      for (let press = 0; press < 5; press += 1) await page.keyboard.press("PageDown");
    }
  },
};

type Setting = { readonly shop: ConsoleShop; readonly watched: Watched };

/** Loads, each in a browser profile of its own: nothing is cached. */
async function startRows(
  scale: Scale,
  browser: Browser,
  { shop, watched }: Setting,
): Promise<readonly Row[]> {
  const note = `${scale.pairs} loads, nothing cached`;
  const first = plainOf(`first row, ${watched.what}`, firstRowMsMax);
  const task = plainOf(`longest task at the start, ${watched.what}`, taskMsMax);
  const starts: { readonly firstRowMs: number; readonly taskMs: number }[] = [];
  for (let n = 0; n < scale.pairs; n += 1) {
    const page = await open(browser, shop.url + watched.path(shop));
    // What a page does once its first row stands belongs to its start, too.
    await page.waitForTimeout(scale.seconds * 500);
    const { firstRowAt, tasks } = await readTasks(page);
    if (firstRowAt === null) throw new Error("the first row was there, and is not");
    starts.push({ firstRowMs: firstRowAt, taskMs: longest(tasks) });
    await page.context().close();
  }
  const pairsOf = (read: (start: (typeof starts)[number]) => number) =>
    starts.map((start) => ({ ours: read(start), baseline: null }));
  return [
    rowOf(
      { ...first, note: withLoad(note) },
      pairsOf(({ firstRowMs }) => firstRowMs),
    ),
    rowOf(
      { ...task, note: withLoad(note) },
      pairsOf(({ taskMs }) => taskMs),
    ),
  ];
}

/** The page lives and is used while what it shows moves. */
async function liveRow(scale: Scale, browser: Browser, { shop, watched }: Setting): Promise<Row> {
  const seconds = scale.seconds * liveTimes;
  const plain = plainOf(`longest task in ${seconds} s of updates, ${watched.what}`, taskMsMax);
  return guarded(plain, async () => {
    const page = await open(browser, shop.url + watched.path(shop));
    await page.waitForTimeout(scale.seconds * 500);
    const before = await readTasks(page);
    const { perSecond } = watched;
    const stop = new AbortController();
    const using = useWhile(page, watched, stop.signal);
    const latencies = await openLoop({ perSecond, seconds }, (n) => watched.move(shop, n));
    stop.abort();
    await using;
    const after = await readTasks(page);
    await page.context().close();
    if (after.changes <= before.changes) throw new BrokenInvariant("nothing moved on the page");
    const tasks = after.tasks.filter(({ at }) => at >= before.now);
    const note = `${tasks.length} tasks over 50 ms; ${after.rows} rows in the document; ${
      latencies.length
    } orders meanwhile`;
    return rowOf({ ...plain, note: withLoad(note) }, [{ ours: longest(tasks), baseline: null }]);
  });
}

async function open(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const page = await context.newPage();
  await observeTasks(page);
  await page.goto(url);
  const until = performance.now() + waitMs;
  while ((await readTasks(page)).firstRowAt === null) {
    if (performance.now() > until) throw new Error(`no row at ${url} within ${waitMs} ms`);
    await page.waitForTimeout(lookEveryMs);
  }
  return page;
}

async function useWhile(page: Page, { use }: Watched, signal: AbortSignal): Promise<void> {
  await page.locator(".table-box").hover();
  for (let step = 0; !signal.aborted; step += 1) {
    await use(page, step);
    await page.waitForTimeout(useEveryMs);
  }
}

function plainOf(name: string, bound: number): Plain {
  const target = { of: "value", is: "<=", bound } as const;
  return { name, unit: "ms", baselineName: null, target };
}

/** 0: none was over 50 ms, below which browsers do not tell. */
function longest(tasks: readonly Task[]): number {
  return tasks.reduce((most, { ms }) => Math.max(most, ms), 0);
}

function withLoad(note: string): string {
  return `${note}; load ${(loadavg()[0] ?? 0).toFixed(1)}`;
}
