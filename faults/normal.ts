import { randomBytes } from "node:crypto";
import { openDesk } from "../src/client/desk.ts";
import { systemClock } from "../src/clock.ts";
import { ReconciliationBody, SaleBody } from "../src/http/contract.ts";
import { openShop } from "../src/loadtest/shop.ts";

const pollMs = 100;
const giveUpMs = 120_000;
const freshSeconds = 2;

/** Tells when everything is as usual again: open, exact, up to date, and a buyer gets an answer. */
export class Normality {
  readonly #url: string;
  readonly #saleId = `probe-${randomBytes(5).toString("hex")}`;
  #buyers = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async openSale(): Promise<void> {
    const desk = openDesk({ url: this.#url, apiKey: null });
    const items = [{ sku: this.#saleId, stock: 100_000 }];
    const body = { saleId: this.#saleId, holdSeconds: 600, items };
    await desk.post("/v1/sales", body, { schema: SaleBody });
    await desk.post(`/v1/sales/${this.#saleId}/open`, {}, { schema: SaleBody });
    await desk.close();
  }

  /**
   * Seconds from now on until all is as usual, or until a SKU is stopped and everything else open;
   * null when it has not come in two minutes.
   */
  async secondsUntil(end: "usual" | "stopped" = "usual"): Promise<number | null> {
    const startedAt = systemClock.mono();
    for (;;) {
      const seconds = (systemClock.mono() - startedAt) / 1_000;
      const isThere = end === "usual" ? this.#isAsUsual() : this.#isStopped();
      if (await isThere.catch(() => false)) return Number(seconds.toFixed(1));
      if (systemClock.mono() - startedAt > giveUpMs) return null;
      await systemClock.sleep(pollMs);
    }
  }

  async #isStopped(): Promise<boolean> {
    const desk = openDesk({ url: this.#url, apiKey: null });
    try {
      const { stopped, closed } = await desk.get("/v1/reconciliation", ReconciliationBody);
      return stopped > 0 && closed === 0;
    } finally {
      await desk.close();
    }
  }

  async #isAsUsual(): Promise<boolean> {
    const desk = openDesk({ url: this.#url, apiKey: null });
    const shop = openShop({ url: this.#url, apiKey: null, connections: 1, waitSeconds: 1 });
    try {
      const { closed, stopped, drift, items } = await desk.get(
        "/v1/reconciliation",
        ReconciliationBody,
      );
      const isFresh = items.every((item) => item.oldestTicketSeconds < freshSeconds);
      if (closed + stopped + drift > 0 || !isFresh) return false;
      this.#buyers += 1;
      const name = `${this.#saleId}-${this.#buyers}`;
      const order = { saleId: this.#saleId, sku: this.#saleId, quantity: 1, buyerId: name };
      return (await shop.reserve(name, order)).kind === "held";
    } finally {
      await Promise.all([desk.close(), shop.close()]);
    }
  }
}
