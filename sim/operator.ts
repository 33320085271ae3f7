import type { Outcome } from "../src/domain/outcome.ts";
import { type OperationId, operationId, quantity, type SkuId } from "../src/domain/values.ts";
import type { Acting, Engine, StockChange } from "../src/engine/engine.ts";
import type { Complain } from "./audit-ledger.ts";
import type { Front, Told } from "./client.ts";
import type { Stream } from "./random.ts";
import type { Shop } from "./workload.ts";

const acting: Acting = { actor: "operator", reason: "simulated" };
/** How often a person looks whether a SKU that went back is stopped. */
const looksMax = 60;
/** And afterwards, whether it is stopped once more. */
const looksAfter = 4;
const askAgain: ReadonlySet<string> = new Set(["STOCK_CLOSED", "BUSY"]);

/** What an operation id came to: the answer to it for ever. */
export type Operated = {
  readonly sku: string;
  readonly operationId: string;
  readonly kind: string;
  /** Units that came in from outside, or left, if it was accepted. */
  readonly stocked: number | null;
  accepted: boolean | null;
  /** Tries without an answer: one may still be on its way when a later one is refused. */
  unanswered: number;
};

/** Operators: each act has an id, and is told again until it is clear what came of it. */
export class Operators {
  readonly #front: Front;
  readonly #stream: Stream;
  readonly #shop: Shop;
  readonly #complain: Complain;
  readonly operations: Operated[] = [];
  #resumes = 0;

  constructor(parts: {
    readonly front: Front;
    readonly stream: Stream;
    readonly shop: Shop;
    readonly complain: Complain;
  }) {
    this.#front = parts.front;
    this.#stream = parts.stream;
    this.#shop = parts.shop;
    this.#complain = parts.complain;
  }

  /** One act, drawn; it ends when its answer is known. */
  async act(n: number): Promise<void> {
    const id = operationId(`op-${n}`);
    const sku = this.#stream.pick(this.#shop.skus);
    const kind = this.#stream.weighted({
      restock: 18,
      withdraw: 14,
      freeze: 14,
      unfreeze: 10,
      adjust: 10,
      setTotal: 8,
      count: 8,
      stop: 6,
      pause: 6,
      look: 6,
    });
    switch (kind) {
      case "stop":
        return this.#stopAndResume(sku, n);
      case "pause":
        return this.#pauseAndOpen(n);
      case "look":
        return this.#look();
      case "setTotal":
        return this.#setTotal(sku, id);
      case "adjust":
        return this.#change({ kind, sku, operationId: id, delta: this.#signed() });
      case "count":
        return this.#change({ kind, sku, operationId: id, found: this.#stream.between(0, 4) });
      case "restock":
      case "withdraw":
      case "freeze":
      case "unfreeze":
        return this.#change({ kind, sku, operationId: id, quantity: this.#units() });
      default:
        return;
    }
  }

  async #change(change: StockChange): Promise<void> {
    const operated: Operated = {
      sku: change.sku,
      operationId: change.operationId,
      kind: change.kind,
      stocked: stockedBy(change),
      accepted: null,
      unanswered: 0,
    };
    this.operations.push(operated);
    const repeats = this.#stream.chance(0.3) ? 2 : 1;
    for (let n = 0; n < repeats; n += 1) {
      this.#judge(operated, await this.#changeOnce(change, operated));
    }
    if (operated.accepted === true && this.#stream.chance(0.15)) {
      await this.#reuse(change, operated);
    }
  }

  #changeOnce(change: StockChange, operated: Operated): Promise<Outcome<unknown>> {
    return this.#insist(
      `${change.kind} ${change.operationId}`,
      (engine) => engine.merchandising.changeStock(change, acting),
      () => {
        operated.unanswered += 1;
      },
    );
  }

  #judge(operated: Operated, outcome: Outcome<unknown>): void {
    const before = operated.accepted;
    if (before === true && !outcome.ok) {
      const what = `${operated.kind} ${operated.operationId}`;
      this.#complain("answers", `${what} was done, and is refused (${outcome.code}) now`);
    }
    operated.accepted = outcome.ok;
  }

  /** The same id with other content is a conflict, if the id is decided. */
  async #reuse(change: StockChange, operated: Operated): Promise<void> {
    const { sku, operationId: id } = change;
    const other: StockChange = { kind: "restock", sku, operationId: id, quantity: quantity(99) };
    const outcome = await this.#changeOnce(other, operated);
    if (!outcome.ok && outcome.code === "KEY_REUSED") return;
    this.#complain("answers", `operation ${id} was told with other content, and not refused`);
  }

  async #setTotal(sku: SkuId, id: OperationId): Promise<void> {
    const level = await this.#front.ask(`level ${sku}`, (engine) => engine.oversight.level(sku));
    if (!level.known || level.value === null) return;
    const total = Math.max(0, level.value.total + this.#signed());
    const ifVersion = level.value.version;
    await this.#change({ kind: "set-total", sku, operationId: id, total, ifVersion });
  }

  async #stopAndResume(sku: SkuId, n: number): Promise<void> {
    this.#shop.stops += 1;
    await this.#insist(`stop ${sku}`, (engine) =>
      engine.merchandising.stopSku(sku, operationId(`stop-${n}`), acting),
    );
    await this.#front.sleep(200 + 800 * this.#stream.next());
    await this.#insist(`resume ${sku}`, (engine) =>
      engine.merchandising.resumeSku(sku, operationId(`resume-${n}`), acting),
    );
  }

  async #pauseAndOpen(n: number): Promise<void> {
    const [sale] = this.#shop.sales;
    if (sale === undefined) return;
    for (const to of ["paused", "open"] as const) {
      await this.#insist(`${to} ${sale}`, (engine) =>
        engine.merchandising.moveSale(
          sale,
          { to, operationId: operationId(`${to}-${n}`) },
          { actor: "operator" },
        ),
      );
      await this.#front.sleep(100 + 500 * this.#stream.next());
    }
  }

  /** The SKU must be stopped soon, or a rebuild have passed the place where it forked. */
  async lookAfter(sku: SkuId, gone: () => boolean): Promise<void> {
    for (let turn = 1; !gone() && (await this.#isStopped(sku)) !== true; turn += 1) {
      if (turn === looksMax) this.#complain("fork", `SKU ${sku} went back, and nobody stopped it`);
      if (turn >= looksMax) return;
      await this.#front.sleep(500);
    }
    // A stop that was decided before the resuming may be written down after it. Who gets no answer
    // has not looked.
    for (let looks = 0; looks < looksAfter; ) {
      const isStopped = await this.#isStopped(sku);
      if (isStopped !== null) looks += 1;
      if (isStopped === true) await this.#resume(sku);
      await this.#front.sleep(1_000);
    }
  }

  /** Null: nobody answered. */
  async #isStopped(sku: SkuId): Promise<boolean | null> {
    const told = await this.#front.ask(`level ${sku}`, (engine) => engine.oversight.level(sku));
    return told.known ? told.value?.status === "stopped" : null;
  }

  async #resume(sku: SkuId): Promise<void> {
    this.#resumes += 1;
    const id = operationId(`looked-${this.#resumes}`);
    await this.#insist(`resume ${sku}`, (engine) =>
      engine.merchandising.resumeSku(sku, id, acting),
    );
  }

  /** Reading is always possible, and what it says adds up. */
  async #look(): Promise<void> {
    const told = await this.#front.ask("reconcile", (engine) => engine.oversight.reconciliation());
    if (!told.known) return;
    if (told.value.drift !== 0 && !this.#shop.mayDrift()) {
      this.#complain("I8", `a reconciliation reports a drift of ${told.value.drift}`);
    }
  }

  async insistOn<T>(
    what: string,
    act: (engine: Engine) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    return this.#insist(what, act);
  }

  async #insist<T>(
    what: string,
    act: (engine: Engine) => Promise<Outcome<T>>,
    onUnanswered: () => void = () => {},
  ): Promise<Outcome<T>> {
    for (;;) {
      this.#front.note(what);
      const told: Told<Outcome<T>> = await this.#front.ask(what, act);
      if (told.known) this.#front.note(`${what} ← ${told.value.ok ? "done" : told.value.code}`);
      else this.#front.note(`${what} ← unknown: ${told.why}`);
      if (!told.known) onUnanswered();
      if (told.known && (told.value.ok || !askAgain.has(told.value.code))) return told.value;
      await this.#front.sleep(50 + 500 * this.#stream.next());
    }
  }

  #units(): ReturnType<typeof quantity> {
    return quantity(this.#stream.between(1, 6));
  }

  #signed(): number {
    const units = this.#stream.between(1, 5);
    return this.#stream.chance(0.5) ? units : -units;
  }
}

function stockedBy(change: StockChange): number | null {
  switch (change.kind) {
    case "restock":
      return change.quantity;
    case "withdraw":
      return 0 - change.quantity;
    case "adjust":
      return change.delta;
    case "freeze":
    case "unfreeze":
      return 0;
    default:
      return null;
  }
}
