import {
  buyerId,
  operationId,
  quantity,
  type SaleId,
  type SkuId,
  saleId,
  skuId,
} from "../src/domain/values.ts";
import type { AnswerAudit } from "./audit-answers.ts";
import type { Complain } from "./audit-ledger.ts";
import { Buyer, type Cart } from "./buyer.ts";
import type { Front } from "./client.ts";
import { Operators } from "./operator.ts";
import type { Plan } from "./plan.ts";
import { Stream } from "./random.ts";
import { epochMs } from "./scheduler.ts";

/** What is on sale, and what everybody may know of it. */
export type Shop = {
  readonly skus: readonly [SkuId, ...SkuId[]];
  readonly sales: readonly SaleId[];
  readonly holdMs: number;
  readonly limit: number | null;
  /** Acts that may get an admitted ticket rejected without anything being lost. */
  stops: number;
  /** May a report of the engine show a drift at this moment? */
  readonly mayDrift: () => boolean;
};

type SalePlan = {
  readonly saleId: SaleId;
  readonly items: readonly { readonly sku: SkuId; readonly stock: number }[];
};

/** Draws who asks for what and when, and sets them off. */
export class Workload {
  readonly shop: Shop;
  readonly operators: Operators;
  /** Stories that have not ended. */
  open = 0;
  ready = false;
  readonly #plan: Plan;
  readonly #front: Front;
  readonly #audit: AnswerAudit;
  readonly #stream: Stream;
  readonly #plans: readonly SalePlan[];
  readonly #rushMs: number;

  constructor(parts: {
    readonly plan: Plan;
    readonly front: Front;
    readonly audit: AnswerAudit;
    readonly complain: Complain;
    readonly mayDrift: () => boolean;
  }) {
    const { plan, front, audit, complain } = parts;
    this.#plan = plan;
    this.#front = front;
    this.#audit = audit;
    const stream = new Stream(plan.seed, "workload");
    this.#stream = stream;
    this.#rushMs = stream.between(100, 2_000);
    this.#plans = drawSales(stream);
    const [first] = this.#plans;
    if (first === undefined) throw new Error("a workload without a sale");
    const [sku, ...others] = this.#plans.flatMap(({ items }) => items.map((item) => item.sku));
    if (sku === undefined) throw new Error("a sale without a SKU");
    this.shop = {
      skus: [sku, ...others],
      sales: this.#plans.map((each) => each.saleId),
      holdMs: 1_000 * stream.between(2, 4),
      limit: stream.chance(0.6) ? stream.between(1, 4) : null,
      stops: 0,
      mayDrift: parts.mayDrift,
    };
    const acts = new Stream(plan.seed, "operators");
    this.operators = new Operators({ front, stream: acts, shop: this.shop, complain });
  }

  /** Opens the sales; then everybody comes, each at a time of their own. */
  async start(): Promise<void> {
    this.open += 1;
    for (const plan of this.#plans) await this.#openSale(plan);
    this.ready = true;
    for (let n = 0; n < this.#plan.requests; n += 1) {
      const story = this.#buyer(n);
      this.#begin(this.#arrival(), () => story.live());
    }
    const acts = this.#stream.between(0, 12);
    for (let n = 0; n < acts; n += 1) {
      this.#begin(this.#arrival(), () => this.operators.act(n));
    }
    this.open -= 1;
  }

  #begin(afterMs: number, live: () => Promise<void>): void {
    this.open += 1;
    void this.#front
      .sleep(afterMs)
      .then(live)
      .finally(() => {
        this.open -= 1;
      });
  }

  /** A person is called when a SKU is stopped, and resumes it with a reason. */
  lookAfter(sku: SkuId, gone: () => boolean): void {
    this.shop.stops += 1;
    this.#begin(500, () => this.operators.lookAfter(sku, gone));
  }

  /** Most come in the rush at the opening; some at any time while faults last. */
  #arrival(): number {
    const rush = this.#stream.chance(0.5);
    return rush
      ? this.#rushMs * this.#stream.next()
      : (this.#plan.safetyMs - 500) * this.#stream.next();
  }

  async #openSale({ saleId: id, items }: SalePlan): Promise<void> {
    const { holdMs, limit } = this.shop;
    await this.operators.insistOn(`create ${id}`, (engine) =>
      engine.merchandising.createSale(
        {
          saleId: id,
          title: id,
          opensAt: null,
          closesAt: epochMs + 10_000_000,
          holdSeconds: holdMs / 1_000,
          limitPerBuyer: limit,
          items,
        },
        { actor: "operator" },
      ),
    );
    await this.operators.insistOn(`open ${id}`, (engine) =>
      engine.merchandising.moveSale(
        id,
        { to: "open", operationId: operationId("opening") },
        { actor: "operator" },
      ),
    );
  }

  #buyer(n: number): Buyer {
    const stream = new Stream(this.#plan.seed, `buyer ${n}`);
    const sale = stream.pick(this.#plans);
    const items = sale?.items ?? [];
    const cart: Cart = {
      saleId: sale?.saleId ?? saleId("none"),
      buyerId: buyerId(`b${stream.between(1, 14)}`),
      key: operationId(`k${n}`),
      lines: drawLines(stream, items),
      otherLines: drawLines(stream, items),
    };
    const { holdMs } = this.shop;
    return new Buyer({ front: this.#front, audit: this.#audit, stream, cart, holdMs });
  }
}

function drawSales(stream: Stream): SalePlan[] {
  const sales = stream.between(1, 2);
  const plans: SalePlan[] = [];
  for (let n = 1; n <= sales; n += 1) {
    const skus = stream.between(1, 2);
    const items = Array.from({ length: skus }, (_, at) => ({
      sku: skuId(`s${n}-${at + 1}`),
      stock: stream.chance(0.1) ? 0 : stream.between(3, 40),
    }));
    plans.push({ saleId: saleId(`sale-${n}`), items });
  }
  return plans;
}

function drawLines(stream: Stream, items: SalePlan["items"]): Cart["lines"] {
  const count = stream.chance(0.3) ? 2 : 1;
  return Array.from({ length: count }, () => {
    const item = stream.pick(items);
    const units = stream.chance(0.75) ? 1 : stream.between(2, 3);
    return { sku: item?.sku ?? skuId("none"), quantity: quantity(units) };
  });
}
