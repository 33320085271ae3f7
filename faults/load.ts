import { randomBytes } from "node:crypto";
import { type Desk, openDesk } from "../src/client/desk.ts";
import { systemClock } from "../src/clock.ts";
import { SaleBody } from "../src/http/contract.ts";
import { httpWitness, storesNow } from "../src/loadtest/http-witness.ts";
import { type Evidence, judge, type Verdict } from "../src/loadtest/judge.ts";
import { type CrowdPlan, usualCrowd } from "../src/loadtest/plan.ts";
import { gather, type SkuStart } from "../src/loadtest/prove.ts";
import { sendCrowd } from "../src/loadtest/send-crowd.ts";
import { openShop } from "../src/loadtest/shop.ts";

/** Admissions a second, and for how long; and how many reservations are open beside them. */
export type Load = { readonly rate: number; readonly seconds: number; readonly open?: number };

const skuCount = 20;
/** Of the buyers: those who want the one hot SKU. */
const hotShare = 0.6;
/** Of the demand: what is there. */
const stockShare = 0.2;
const holdSeconds = 3;
const runOutMs = (holdSeconds + 2) * 1_000;

/**
 * The standard load: an open model; 20 SKUs, most buyers on one of them; repeats of the same key;
 * some pay, some cancel, and the rest runs out.
 */
export class LoadRun {
  readonly #desk: Desk;
  readonly #load: Load;
  readonly #saleId = `sale-${randomBytes(5).toString("hex")}`;
  #skus: readonly SkuStart[] = [];

  constructor(url: string, load: Load) {
    this.#desk = openDesk({ url, apiKey: null });
    this.#load = load;
  }

  async openSale(): Promise<void> {
    const demand = this.#load.rate * this.#load.seconds;
    const items = Array.from({ length: skuCount }, (_, n) => {
      const share = n === 0 ? hotShare : (1 - hotShare) / (skuCount - 1);
      return { sku: `${this.#saleId}-${n}`, stock: Math.ceil(demand * share * stockShare) };
    });
    const body = { saleId: this.#saleId, holdSeconds, items };
    await this.#desk.post("/v1/sales", body, { schema: SaleBody });
    const path = `/v1/sales/${this.#saleId}/open`;
    const opened = await this.#desk.post(path, {}, { schema: SaleBody });
    this.#skus = items.map(({ sku, stock }) => {
      const { version } = opened.items.find((item) => item.sku === sku) ?? { version: 0 };
      return { sku, stocked: stock, version };
    });
  }

  /** Runs the load beside the fault and judges when everything has run out. */
  async judged(fault: () => Promise<void>): Promise<Verdict & { readonly evidence: Evidence }> {
    const before = await storesNow(this.#desk);
    const plan = this.#plan();
    const signal = new AbortController().signal;
    const sending = sendCrowd(plan, { signal, onProgress: () => {} });
    await fault();
    const crowd = await sending;
    await systemClock.sleep(runOutMs);
    const { saleId, run, buyers } = plan;
    const shop = openShop({ ...plan, connections: 2 });
    const gathering = gather({
      ...{ crowd, buyers, saleId, run, before, shop, skus: this.#skus, clock: systemClock },
      stores: () => storesNow(this.#desk),
      witness: httpWitness(this.#desk),
      asksAtRest: true,
    });
    try {
      const evidence = await gathering;
      return { ...judge(evidence), evidence };
    } finally {
      await shop.close();
    }
  }

  close(): Promise<void> {
    return this.#desk.close();
  }

  #plan(): CrowdPlan {
    const { rate, seconds } = this.#load;
    const [hot = "", ...others] = this.#skus.map(({ sku }) => sku);
    const times = Math.round((others.length * hotShare) / (1 - hotShare));
    return {
      ...usualCrowd,
      url: this.#desk.url,
      apiKey: null,
      saleId: this.#saleId,
      skus: [...new Array<string>(times).fill(hot), ...others],
      run: `r${randomBytes(5).toString("hex")}`,
      buyers: rate * seconds,
      arrival: { kind: "rate", perSecond: rate },
      settling: "thinking",
      repeatShare: 0.05,
      payShare: 0.3,
      cancelShare: 0.05,
      seed: 1,
    };
  }
}
