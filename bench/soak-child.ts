import { setTimeout as sleep } from "node:timers/promises";
import { openLoop } from "./load.ts";
import type { SoakPlan, SoakSample } from "./soak-plan.ts";
import {
  BrokenInvariant,
  moveSale,
  openSale,
  openWorld,
  prove,
  requestOf,
  type Sale,
  type World,
} from "./world.ts";

// A process of its own, at a modest rate: sale after sale, each closed and forgotten.

const saleSeconds = 30;
const holdSeconds = 20;
const sampleMs = 5_000;
const waitMs = 30_000;

async function run(plan: SoakPlan): Promise<void> {
  await using world = await openWorld();
  const state = { reserved: 0 };
  const ended = new AbortController();
  const sampling = sampleUntil(ended.signal, state);
  const until = performance.now() + plan.minutes * 60_000;
  for (let n = 0; performance.now() < until; n += 1) {
    const left = (until - performance.now()) / 1000;
    const seconds = Math.max(1, Math.min(saleSeconds, left));
    await runSale(world, `soak-${n}`, { ...plan, seconds, state });
  }
  ended.abort();
  await sampling;
  await prove(world, { sale: null, reserved: null });
}

type Turn = SoakPlan & { readonly seconds: number; readonly state: { reserved: number } };

/** Nine in ten buyers come while there is stock, the rest are refused; some pay or cancel. */
async function runSale(world: World, name: string, turn: Turn): Promise<void> {
  const { seconds, perSecond, state } = turn;
  const stock = Math.floor(seconds * perSecond * 0.9);
  const sale = await openSale(world, { name, stock, holdSeconds, limitPerBuyer: 2 });
  await openLoop({ perSecond, seconds }, async (n) => {
    if (await visit(world, sale, n)) state.reserved += 1;
  });
  await moveSale(world.holdfast, sale, "closed");
}

async function visit({ holdfast }: World, sale: Sale, n: number): Promise<boolean> {
  const { buyers, settlement } = holdfast.engine;
  const request = requestOf(sale, n);
  const outcome = await buyers.reserve(request, { waitMs });
  if (!outcome.ok) {
    if (outcome.code === "SOLD_OUT") return false;
    throw new BrokenInvariant(`a buyer was told ${outcome.code}`);
  }
  const { id } = outcome.value;
  const acting = { actor: "bench", reason: "" };
  const payment = { paymentId: request.idempotencyKey, paidAt: null };
  if (n % 4 === 0) await settlement.confirm(id, payment, acting);
  if (n % 4 === 1) await settlement.cancel(id, { ...acting, waitMs });
  return true;
}

async function sampleUntil(signal: AbortSignal, state: { reserved: number }): Promise<void> {
  const from = performance.now();
  while (!signal.aborted) {
    await sleep(sampleMs, undefined, { signal }).catch(() => {});
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const second = (performance.now() - from) / 1000;
    say({ second, resident: rss, heap: heapUsed, reserved: state.reserved });
  }
}

function say(sample: SoakSample): void {
  process.stdout.write(`${JSON.stringify(sample)}\n`);
}

const [minutes = "10", perSecond = "500"] = process.argv.slice(2);
await run({ minutes: Number(minutes), perSecond: Number(perSecond) });
