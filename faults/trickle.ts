import { randomBytes } from "node:crypto";
import { openDesk } from "../src/client/desk.ts";
import { systemClock } from "../src/clock.ts";
import { LevelBody, SaleBody } from "../src/http/contract.ts";
import type { Finding } from "../src/loadtest/judge.ts";
import { openShop, type Shop, type Told } from "../src/loadtest/shop.ts";

const stock = 100_000;
const everyMs = 100;
/** Buyers who wait at one time; nobody comes while so many do. */
const presentMax = 20;
const waitSeconds = 1;
const decidedWithinMs = 60_000;

/**
 * A few buyers a second on a SKU of their own that never sells out, for as long as a fault lasts:
 * the standard load may have sold out by then, or be over, and a fault on a line in which nothing
 * moves would prove nothing.
 */
export class Trickle {
  readonly #url: string;
  readonly #saleId = `trickle-${randomBytes(5).toString("hex")}`;
  readonly #shop: Shop;
  readonly #told = new Map<string, Told>();
  #present = 0;
  #buyers = 0;
  #flowing: Promise<void> | null = null;
  readonly #stop = new AbortController();

  constructor(url: string) {
    this.#url = url;
    this.#shop = openShop({ url, apiKey: null, connections: presentMax, waitSeconds });
  }

  async openSale(): Promise<void> {
    const desk = openDesk({ url: this.#url, apiKey: null });
    const items = [{ sku: this.#saleId, stock }];
    const body = { saleId: this.#saleId, holdSeconds: 3_600, items };
    await desk.post("/v1/sales", body, { schema: SaleBody });
    await desk.post(`/v1/sales/${this.#saleId}/open`, {}, { schema: SaleBody });
    await desk.close();
  }

  start(): void {
    this.#flowing = this.#flow();
  }

  /** No new buyers; resolves when nobody waits any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#flowing;
    while (this.#present > 0) await systemClock.sleep(everyMs);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#flowing;
    await this.#shop.close();
  }

  /** Each key comes to an end, and the ledger has what was promised, and nothing else. */
  async findings(): Promise<readonly Finding[]> {
    const found: Finding[] = [];
    const untilMs = systemClock.mono() + decidedWithinMs;
    let [held, pending] = [0, 0];
    for (const [key, first] of this.#told) {
      const { kind, what, id } = await this.#ending(key, { first, untilMs });
      if (kind === "held") held += 1;
      if (kind === "refused") found.push({ code: "refused-oddly", facts: { key, code: what } });
      if (kind !== "held" && kind !== "refused") pending += 1;
      if (first.kind === "held" && (kind !== "held" || id !== first.id)) {
        found.push({ code: "no-entry", facts: { key, id: first.id ?? "" } });
      }
    }
    if (pending > 0) found.push({ code: "pending", facts: { keys: pending } });
    const reserved = await this.#reserved();
    if (reserved !== held) found.push({ code: "leaked", facts: { units: reserved - held } });
    return found;
  }

  async #flow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#present < presentMax) void this.#visit();
      await systemClock.sleep(everyMs, signal);
    }
  }

  async #visit(): Promise<void> {
    this.#present += 1;
    this.#buyers += 1;
    const key = `${this.#saleId}-${this.#buyers}`;
    this.#told.set(key, await this.#ask(key));
    this.#present -= 1;
  }

  /** A held one is asked for again, too: by its id, of the ledger. */
  async #ending(key: string, asked: { first: Told; untilMs: number }): Promise<Told> {
    const { first, untilMs } = asked;
    let told = first;
    for (let tries = 0; tries === 0 || systemClock.mono() < untilMs; tries += 1) {
      const id = told.kind === "held" ? told.id : null;
      told = id === null ? await this.#ask(key) : await this.#shop.look(id);
      if (told.kind === "held" || told.kind === "refused" || told.kind === "over") return told;
      await systemClock.sleep(told.retryMs);
    }
    return told;
  }

  #ask(key: string): Promise<Told> {
    const order = { saleId: this.#saleId, sku: this.#saleId, quantity: 1, buyerId: key };
    return this.#shop.reserve(key, order);
  }

  async #reserved(): Promise<number> {
    const desk = openDesk({ url: this.#url, apiKey: null });
    try {
      return (await desk.get(`/v1/stock/${this.#saleId}`, LevelBody)).reserved;
    } finally {
      await desk.close();
    }
  }
}
