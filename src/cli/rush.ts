import { randomBytes, randomInt } from "node:crypto";
import type { Desk } from "../client/desk.ts";
import { SaleBody } from "../http/contract.ts";
import type { CrowdProgress } from "../loadtest/crowd.ts";
import { storesNow } from "../loadtest/http-witness.ts";
import { type Evidence, judge, type Verdict } from "../loadtest/judge.ts";
import { type CrowdPlan, usualCrowd } from "../loadtest/plan.ts";
import { gather, type SkuStart } from "../loadtest/prove.ts";
import { sendCrowd } from "../loadtest/send-crowd.ts";
import { openShop } from "../loadtest/shop.ts";
import type { Witness } from "../loadtest/witness.ts";
import type { Context } from "./context.ts";

/** The expirer writes down what has ended; the deadline itself is kept by everybody. */
const lateMs = 2_000;

export type NewSale = {
  readonly saleId: string;
  readonly sku: string;
  readonly title: string;
  readonly stock: number;
  readonly holdSeconds: number;
};

/** Makes a sale of one SKU and opens it; the units come in from supply. */
export async function openSale(desk: Desk, sale: NewSale): Promise<SkuStart> {
  const { saleId, sku, stock, title, holdSeconds } = sale;
  const body = { saleId, title, holdSeconds, items: [{ sku, stock }] };
  await desk.post("/v1/sales", body, { schema: SaleBody });
  const path = `/v1/sales/${encodeURIComponent(saleId)}/open`;
  const opened = await desk.post(path, {}, { schema: SaleBody });
  const version = opened.items.find((item) => item.sku === sku)?.version ?? 0;
  return { sku, stocked: stock, version };
}

export type Rush = {
  readonly desk: Desk;
  readonly apiKey: string | null;
  readonly saleId: string;
  readonly skus: readonly SkuStart[];
  readonly buyers: number;
  readonly plan?: Partial<CrowdPlan>;
  readonly seed: number | undefined;
  readonly witness: Witness;
  /** The witness reads the ledger itself, not what the server says of it. */
  readonly isBeside: boolean;
  readonly signal: AbortSignal;
  /** Wait until what nobody paid has run out; null: leave it on hold. */
  readonly runOutSeconds: number | null;
};

export type RushResult = {
  readonly verdict: Verdict;
  readonly evidence: Evidence;
  readonly seed: number;
  readonly isBeside: boolean;
};

/** Lets the crowd in, waits for rest, and judges. */
export async function rush(context: Context, rush: Rush): Promise<RushResult> {
  const { desk, saleId, skus, buyers, signal, witness } = rush;
  const seed = rush.seed ?? randomInt(0, 2 ** 32);
  const run = `r${randomBytes(5).toString("hex")}`;
  const plan: CrowdPlan = {
    ...usualCrowd,
    arrival: { kind: "rush", overMs: 0 },
    ...rush.plan,
    url: desk.url,
    apiKey: rush.apiKey,
    saleId,
    skus: skus.map(({ sku }) => sku),
    run,
    buyers,
    seed,
  };
  const before = await storesNow(desk);
  const onProgress = (progress: CrowdProgress): void => draw(context, progress);
  const crowd = await sendCrowd(plan, { signal, onProgress });
  if (rush.runOutSeconds !== null && !crowd.isInterrupted) {
    context.progress(context.text("crowd.waiting", { seconds: rush.runOutSeconds }));
    await context.clock.sleep(rush.runOutSeconds * 1000 + lateMs, signal);
  }
  context.progress(context.text("crowd.proving"));
  const shop = openShop({ ...plan, connections: 2 });
  try {
    const evidence = await gather({
      ...{ crowd, buyers, saleId, run, skus, before, witness, shop },
      stores: () => storesNow(desk),
      clock: context.clock,
      asksAtRest: !crowd.isInterrupted,
    });
    return { verdict: judge(evidence), evidence, seed, isBeside: rush.isBeside };
  } finally {
    context.progress("");
    await shop.close();
  }
}

function draw(context: Context, { answered, buyers, reserved }: CrowdProgress): void {
  context.progress(context.text("crowd.progress", { answered, buyers, reserved }));
}
