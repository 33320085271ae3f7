import { onTestFinished } from "vitest";
import { MemoryBus } from "../../src/bus/memory.ts";
import { systemRandom } from "../../src/clock.ts";
import type { SkuRow } from "../../src/domain/command.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import type { Line, ReservationState } from "../../src/domain/reservation.ts";
import { makeReservationId } from "../../src/domain/reservation-id.ts";
import {
  buyerId,
  type Instant,
  operationId,
  quantity,
  saleId,
  skuId,
} from "../../src/domain/values.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import type {
  DeadLetterOutcome,
  Reconciliation,
  RepairAction,
  ReservationView,
  StockChange,
} from "../../src/engine/engine.ts";
import { type Events, silentEvents } from "../../src/events.ts";
import type { HotSku } from "../../src/hot-stock/lane-state.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import type { Ledger, Verification } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import type { Outlet } from "../../src/workers/publisher.ts";
import { expectAtRest, type Levels, levelsOf, type RestOptions } from "./at-rest.ts";
import { ShopProcess } from "./shop-process.ts";
import { answerOf, reservationIn, type Told } from "./told.ts";
import { VirtualTime } from "./virtual-time.ts";

export type ShopOptions = {
  /** Units of each SKU. */
  readonly stock: Readonly<Record<string, number>>;
  readonly limit?: number;
  readonly holdSeconds?: number;
  readonly startsAt?: Instant;
  readonly processes?: number;
  /** A SQLite file; without one the ledger lives in memory. */
  readonly file?: string;
  readonly outlet?: Outlet;
  /** What a process sees instead of the stores that it shares with the others. */
  readonly stores?: (stores: Stores, process: number) => Stores | Promise<Stores>;
};

export type Cart = readonly (readonly [sku: string, quantity: number])[];

const sale = saleId("sale");
const acting = { actor: "test", reason: "a case" };
const waitMs = 2_000;

/** Opens a sale over the real embedded engine, in virtual time. */
export async function openShop(options: ShopOptions): Promise<Shop> {
  const time = new VirtualTime(options.startsAt);
  const { clock } = time;
  const ledger = await openSqliteLedger(options.file ?? ":memory:", { clock });
  const hot = new MemoryHotStock({ clock, random: systemRandom });
  const shop = new Shop(options, { time, ledger, hot, bus: new MemoryBus(clock) });
  onTestFinished(() => shop.end());
  for (let n = 0; n < (options.processes ?? 1); n += 1) await shop.addProcess();
  await shop.isOpen();
  await shop.openSale("sale", options);
  return shop;
}

/** Steps of a case in a line each. Every case ends with `atRest`. */
export class Shop {
  readonly time: VirtualTime;
  readonly hot: MemoryHotStock;
  readonly bus: MemoryBus;
  readonly ledger: Ledger;
  readonly processes: ShopProcess[] = [];
  /** Messages of alarms, dead letters, stopped SKUs and failed steps, as they came. */
  readonly noted: string[] = [];
  readonly #options: ShopOptions;
  #rested = false;
  #operations = 0;

  constructor(
    options: ShopOptions,
    made: { time: VirtualTime; hot: MemoryHotStock; bus: MemoryBus; ledger: Ledger },
  ) {
    this.#options = options;
    this.time = made.time;
    this.hot = made.hot;
    this.bus = made.bus;
    this.ledger = made.ledger;
  }

  get first(): ShopProcess {
    const [first] = this.processes;
    if (first === undefined) throw new Error("no process runs");
    return first;
  }

  /** One more process, as after a start. */
  async addProcess(): Promise<ShopProcess> {
    const { hot, bus, ledger, time } = this;
    const { clock } = time;
    const messageKeys = [{ kid: "test", secret: await ledger.secret("messages") }];
    const events = this.#events();
    const shared = { hot, bus, ledger, clock, random: systemRandom, events, messageKeys };
    const stores = (await this.#options.stores?.(shared, this.processes.length)) ?? shared;
    const outlet = this.#options.outlet ?? { deliver: () => Promise.resolve() };
    const process = await this.time.drive(ShopProcess.begin(stores, outlet));
    this.processes.push(process);
    process.start();
    return process;
  }

  /** All processes die; what only they had in memory dies with them. */
  kill(what: { readonly hot: "survives" | "is lost" }): void {
    for (const process of this.processes.splice(0)) process.stop();
    this.bus.consumerDied(0);
    if (what.hot === "is lost") this.hot.restart();
  }

  /** Until hot stock is open to every process. */
  async isOpen(): Promise<void> {
    await this.#until(async () => {
      const all = await Promise.all(this.processes.map(({ engine }) => engine.oversight.health()));
      return all.every(({ ready }) => ready);
    });
  }

  async openSale(id: string, request: Omit<ShopOptions, "processes">): Promise<void> {
    const { merchandising } = this.first.engine;
    const items = Object.entries(request.stock).map(([sku, stock]) => ({ sku: skuId(sku), stock }));
    const { limit = null, holdSeconds = 900 } = request;
    const open = async (): Promise<void> => {
      const about = { title: "A case", opensAt: null, closesAt: null };
      const content = { saleId: saleId(id), ...about, holdSeconds, limitPerBuyer: limit, items };
      const made = await merchandising.createSale(content, "test");
      if (!made.ok) throw new Error(made.detail);
      const move = { to: "open", operationId: null } as const;
      const moved = await merchandising.moveSale(saleId(id), move, "test");
      if (!moved.ok) throw new Error(moved.detail);
    };
    await this.time.drive(open());
  }

  // Buyers ----------------------------------------------------------------------------------

  reserve(key: string, buyer: string, ...cart: Cart): Promise<Told> {
    return this.reserveAt(this.first, { key, buyer, cart });
  }

  reserveAt(
    { engine }: ShopProcess,
    {
      key,
      buyer,
      cart,
      ...more
    }: { key: string; buyer: string; cart: Cart; waitMs?: number } & {
      sale?: string;
    },
  ): Promise<Told> {
    const request = {
      saleId: saleId(more.sale ?? sale),
      buyerId: buyerId(buyer),
      idempotencyKey: operationId(key),
      lines: cart.map(([sku, units]) => ({ sku: skuId(sku), quantity: quantity(units) })),
    };
    const wait = { waitMs: more.waitMs ?? waitMs };
    return this.#told(engine.buyers.reserve(request, wait));
  }

  /** The id that a reservation under this key has or would have. */
  idOf(key: string, buyer: string): string {
    const { idSecret } = this.first.parts;
    return makeReservationId(idSecret, {
      lane: 0,
      saleId: sale,
      buyerId: buyer,
      idempotencyKey: key,
    });
  }

  async view(id: string, process = this.first): Promise<ReservationView> {
    const view = await this.time.drive(process.engine.buyers.reservation(id, { waitMs: 0 }));
    if (view === null) throw new Error(`${id} is not an id of this shop`);
    return view;
  }

  async state(id: string): Promise<ReservationState> {
    return (await this.view(id)).state;
  }

  pay(id: string, payment: string, paidAt: Instant | null = null): Promise<Told> {
    const paid = { paymentId: operationId(payment), paidAt };
    return this.#told(this.first.engine.settlement.confirm(id, paid, acting));
  }

  cancel(id: string): Promise<Told> {
    return this.#told(this.first.engine.settlement.cancel(id, { ...acting, waitMs }));
  }

  extend(id: string, seconds: number): Promise<Told> {
    const extension = { operationId: this.#nextOperation(), seconds };
    return this.#told(this.first.engine.settlement.extend(id, extension, acting));
  }

  refund(
    id: string,
    refund: string,
    what: { readonly lines: Cart | null; readonly restock: boolean },
  ): Promise<Told> {
    const { restock } = what;
    const lines = what.lines?.map(([sku, n]): Line => ({ sku: skuId(sku), quantity: quantity(n) }));
    const request = { kind: "units", refundId: operationId(refund), restock } as const;
    const { settlement } = this.first.engine;
    return this.#told(settlement.refund(id, { ...request, lines: lines ?? null }, acting));
  }

  /** A payment that was due back has gone back. */
  payBack(id: string, refund: string, payment: string): Promise<Told> {
    const ids = { refundId: operationId(refund), paymentId: operationId(payment) };
    return this.#told(this.first.engine.settlement.refund(id, { kind: "payment", ...ids }, acting));
  }

  // Operators -------------------------------------------------------------------------------

  adjust(sku: string, delta: number): Promise<Told["answer"]> {
    return this.#change({
      kind: "adjust",
      sku: skuId(sku),
      operationId: this.#nextOperation(),
      delta,
    });
  }

  restock(sku: string, units: number): Promise<Told["answer"]> {
    const operation = this.#nextOperation();
    const change = { kind: "restock", sku: skuId(sku), operationId: operation } as const;
    return this.#change({ ...change, quantity: quantity(units) });
  }

  setTotal(sku: string, total: number, ifVersion: number): Promise<Told["answer"]> {
    const operation = this.#nextOperation();
    return this.#change({
      kind: "set-total",
      sku: skuId(sku),
      operationId: operation,
      total,
      ifVersion,
    });
  }

  async stopSku(sku: string): Promise<Told["answer"]> {
    const { merchandising } = this.first.engine;
    const work = merchandising.stopSku(skuId(sku), this.#nextOperation(), acting);
    return answerOf(await this.time.drive(work));
  }

  async moveSale(to: "open" | "paused" | "closed"): Promise<Told["answer"]> {
    const { merchandising } = this.first.engine;
    const move = { to, operationId: null };
    return answerOf(await this.time.drive(merchandising.moveSale(sale, move, "test")));
  }

  reconcile(): Promise<Reconciliation> {
    return this.time.drive(this.first.engine.oversight.reconciliation());
  }

  verify(): Promise<Verification> {
    return this.time.drive(this.first.engine.oversight.verify(null));
  }

  repair(sku: string | null = null): Promise<readonly RepairAction[]> {
    const request = { dryRun: false, sku: sku === null ? null : skuId(sku) };
    const work = this.first.engine.oversight.repair(request, acting);
    return this.time.drive(work.then(({ actions }) => actions));
  }

  replay(letter: number): Promise<DeadLetterOutcome["outcome"]> {
    const work = this.first.engine.oversight.replayDeadLetter(letter, acting);
    return this.time.drive(work.then(({ outcome }) => outcome));
  }

  /** Somebody edits hot stock by hand. */
  editHot(sku: string, edit: (sku: HotSku) => void): void {
    this.hot.tamper(0, (state) => {
      const found = state.skus.get(skuId(sku));
      if (found !== undefined) edit(found);
    });
  }

  // Time and rest ---------------------------------------------------------------------------

  /** Time passes, millisecond by millisecond, while everybody works. */
  async passes(ms: number): Promise<void> {
    await this.time.drive(this.time.clock.sleep(ms));
  }

  /** Time has passed in one go, and what is due by then is done. */
  async later(ms: number): Promise<void> {
    await this.time.pass(ms);
    await this.settle();
  }

  /** The case damaged the ledger for good: there is no rest to speak of. */
  leavesDamage(): void {
    this.#rested = true;
  }

  /** Until queues, outboxes, retries and events have run dry. */
  async settle(): Promise<void> {
    await this.#until(() => this.#isQuiet());
  }

  /** The ledger's row, whatever goes on. */
  async row(sku: string): Promise<SkuRow> {
    const row = await this.ledger.level(skuId(sku));
    if (row === null) throw new Error(`SKU ${sku} is not in the ledger`);
    return row;
  }

  /** After quiescence; both stores must say the same. */
  async levels(sku: string): Promise<Levels> {
    await this.settle();
    return this.time.drive(levelsOf(this, skuId(sku)));
  }

  /** The last line of every case. */
  async atRest(
    expected: Readonly<Record<string, Levels>>,
    options: RestOptions = {},
  ): Promise<void> {
    await this.time.drive(expectAtRest(this, expected, options));
    this.#rested = true;
  }

  async end(): Promise<void> {
    for (const process of this.processes) process.stop();
    // Whoever is in the middle of something slow ends it.
    for (let n = 0; n < 1_000; n += 1) await this.time.pass(1);
    await this.ledger.close();
    if (!this.#rested) throw new Error("a case ends with shop.atRest(…)");
  }

  // -----------------------------------------------------------------------------------------

  async #isQuiet(): Promise<boolean> {
    if ((await this.bus.lag(0)) > 0) return false;
    if ((await this.hot.observe(0, [])).outboxLength > 0) return false;
    if ((await this.ledger.unpublished(1)).length > 0) return false;
    const { inFlight, behind, closed } = await this.first.engine.oversight.reconciliation();
    return inFlight + behind + closed === 0;
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const look = async (): Promise<void> => {
      while (!(await holds())) await this.time.clock.sleep(5);
    };
    await this.time.pass(0);
    await this.time.drive(look());
  }

  async #told(work: Promise<Outcome<ReservationView>>): Promise<Told> {
    const outcome = await this.time.drive(work);
    const view = outcome.ok ? outcome.value : reservationIn(outcome.facts);
    const { state = null, id = "" } = view ?? {};
    return { answer: answerOf(outcome), state, id, view };
  }

  async #change(change: StockChange): Promise<Told["answer"]> {
    return answerOf(
      await this.time.drive(this.first.engine.merchandising.changeStock(change, acting)),
    );
  }

  #nextOperation() {
    this.#operations += 1;
    return operationId(`op-${this.#operations}`);
  }

  #events(): Events {
    const note = (what: string) => (a: unknown, b: unknown) => {
      this.noted.push(`${what} ${String(a)}: ${String(b)}`);
    };
    return {
      ...silentEvents,
      alarm: note("alarm"),
      deadLettered: note("dead letter"),
      skuStopped: note("stopped"),
      workerFailed: note("failed"),
    };
  }
}
