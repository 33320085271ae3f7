import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { Fault } from "../../src/domain/fault.ts";
import type { Rejection } from "../../src/domain/rejection.ts";
import { buyerId, operationId, quantity, saleId, skuId } from "../../src/domain/values.ts";
import { silentEvents } from "../../src/events.ts";
import { type Holdfast, openHoldfast } from "../../src/wire.ts";
import { expectCoherent, worldOf } from "./coherent.ts";

const sale = saleId("sale");
const sku = skuId("phone");
const waitMs = 2_000;
const giveUpMs = 30_000;

export type Answered = { readonly id: string; readonly said: "reserved" | Rejection };

/** One process over a SQLite file and a real Redis, with buyers who ask until they know. */
export class RedisShop {
  readonly holdfast: Holdfast;
  readonly #folder: string;
  /** Calls that ended in a fault: their outcome was unknown, or there was nobody. */
  faults = 0;

  private constructor(holdfast: Holdfast, folder: string) {
    this.holdfast = holdfast;
    this.#folder = folder;
  }

  static async open(urls: { hotUrl: string; busUrl?: string }, stock: number): Promise<RedisShop> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-line-"));
    const ledgerUrl = `sqlite:${join(folder, "ledger.db")}`;
    const holdfast = await openHoldfast({ ledgerUrl, events: silentEvents, ...urls });
    await holdfast.start();
    const { merchandising } = holdfast.engine;
    const created = await merchandising.createSale(
      {
        saleId: sale,
        title: "",
        opensAt: null,
        closesAt: null,
        holdSeconds: 600,
        limitPerBuyer: 2,
        items: [{ sku, stock }],
      },
      { actor: "test" },
    );
    const opened = await merchandising.moveSale(
      sale,
      { to: "open", operationId: null },
      { actor: "test" },
    );
    if (!created.ok || !opened.ok) throw new Error("the sale did not open");
    return new RedisShop(holdfast, folder);
  }

  /** Each buyer asks for one unit with one key, again and again until somebody has decided. */
  async rush(buyers: number, everyMs: number): Promise<Answered[]> {
    const asked: Promise<Answered>[] = [];
    for (let n = 0; n < buyers; n += 1) {
      asked.push(this.buy(`buyer-${n}`));
      if (n % 10 === 9) await systemClock.sleep(everyMs * 10);
    }
    return Promise.all(asked);
  }

  async buy(buyer: string): Promise<Answered> {
    const request = {
      saleId: sale,
      buyerId: buyerId(buyer),
      idempotencyKey: operationId(`key-${buyer}`),
      lines: [{ sku, quantity: quantity(1) }],
    };
    const deadline = systemClock.mono() + giveUpMs;
    while (systemClock.mono() < deadline) {
      try {
        const outcome = await this.holdfast.engine.buyers.reserve(request, { waitMs });
        if (!outcome.ok) {
          if (outcome.code !== "STOCK_CLOSED") return { id: buyer, said: outcome.code };
        } else if (outcome.value.state === "reserved") {
          return { id: outcome.value.id, said: "reserved" };
        }
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        this.faults += 1;
      }
      await systemClock.sleep(50);
    }
    throw new Error(`${buyer} was never told`);
  }

  /** Nothing in flight, hot stock as the ledger says, and every invariant. */
  async rest(): Promise<{ drift: number; sold: number; left: number; repairs: number }> {
    if (!(await this.holdfast.drain(giveUpMs))) throw new Error("it does not come to rest");
    const { drift, repairs } = await this.holdfast.engine.oversight.reconciliation();
    expectCoherent(await worldOf(this.holdfast.parts));
    const level = await this.holdfast.engine.oversight.level(sku);
    if (level === null || level.hot === null) throw new Error("no level");
    const { reserved, available } = level.balances;
    if (level.hot.available !== available) throw new Error("hot stock is not as the ledger says");
    return { drift, sold: reserved, left: available, repairs };
  }

  async end(): Promise<void> {
    await this.holdfast[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
