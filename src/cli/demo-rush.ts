import { randomBytes, randomInt } from "node:crypto";
import { openDesk } from "../client/desk.ts";
import type { Demo, DemoStarted } from "../http/demo.ts";
import { type CrowdPlan, usualCrowd } from "../loadtest/plan.ts";
import { sendCrowd } from "../loadtest/send-crowd.ts";
import { freshSaleId } from "./fresh-sale-id.ts";
import { openSale } from "./rush.ts";
import type { Language } from "./text.ts";

const overMs = 8_000;
const holdSeconds = 120;

export type DemoRushOptions = {
  readonly apiKey: string | null;
  readonly language: Language;
  /** A crowd that broke off; it was nobody's answer. */
  readonly onFailure: (error: unknown) => void;
};

/** One rush at a time on this very server, over HTTP like any other crowd. */
export class DemoRush implements Demo {
  readonly #options: DemoRushOptions;
  readonly #stopping = new AbortController();
  #url: string | null = null;
  #running: Promise<unknown> | null = null;

  constructor(options: DemoRushOptions) {
    this.#options = options;
  }

  /** Where the server has come to listen. */
  at(url: string): void {
    this.#url = url;
  }

  async start(wish: { stock: number; buyers: number }): Promise<DemoStarted | null> {
    const url = this.#url;
    if (url === null || this.#running !== null || this.#stopping.signal.aborted) return null;
    const opening = this.#open(url, wish.stock);
    this.#running = opening.catch(() => {});
    try {
      const sale = await opening;
      this.#running = this.#rush(url, sale, wish.buyers);
      return sale;
    } catch (error) {
      this.#running = null;
      throw error;
    }
  }

  /** The crowd goes home; resolves when it has gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #open(url: string, stock: number): Promise<DemoStarted> {
    const { apiKey, language } = this.#options;
    const desk = openDesk({ url, apiKey, language });
    try {
      const saleId = await freshSaleId(desk);
      const sku = `${saleId}-phone`;
      await openSale(desk, { saleId, sku, title: saleId, stock, holdSeconds });
      return { saleId, sku };
    } finally {
      await desk.close();
    }
  }

  async #rush(url: string, { saleId, sku }: DemoStarted, buyers: number): Promise<void> {
    const plan: CrowdPlan = {
      ...usualCrowd,
      ...{ url, apiKey: this.#options.apiKey, saleId, skus: [sku], buyers },
      run: `r${randomBytes(5).toString("hex")}`,
      seed: randomInt(0, 2 ** 32),
      arrival: { kind: "rush", overMs },
      settling: "thinking",
    };
    try {
      await sendCrowd(plan, { signal: this.#stopping.signal, onProgress: () => {} });
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#running = null;
    }
  }
}
