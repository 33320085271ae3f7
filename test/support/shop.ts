import { onTestFinished } from "vitest";
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
import type { Ledger, Verification } from "../../src/ledger/ledger.ts";
import type { Outlet } from "../../src/outlet/outlet.ts";
import { expectAtRest, type Levels, levelsOf, type RestOptions } from "./at-rest.ts";
import { isOnStack } from "./embedded-cases.ts";
import { ShopProcess } from "./shop-process.ts";
import { stackWorld } from "./shop-stack.ts";
import { embeddedWorld, type Hand, type ShopWorld, type WorldOptions } from "./shop-world.ts";
import { answerOf, reservationIn, type Told } from "./told.ts";
import type { VirtualTime } from "./virtual-time.ts";

export type ShopOptions = WorldOptions & {
  /** Units of each SKU. */
  readonly stock: Readonly<Record<string, number>>;
  readonly limit?: number;
  readonly holdSeconds?: number;
  readonly processes?: number;
  readonly outlet?: Outlet;
  /** What a process sees instead of the stores that it shares with the others. */
  readonly stores?: (stores: Stores, process: number) => Stores | Promise<Stores>;
};

export type Cart = readonly (readonly [sku: string, quantity: number])[];

const sale = saleId("sale");
const acting = { actor: "test", reason: "a case" };
const waitMs = 2_000;

/** Opens a sale over the real engine: the embedded one in virtual time, or that of the stack. */
export async function openShop(options: ShopOptions): Promise<Shop> {
  const shop = new Shop(options, await (isOnStack ? stackWorld : embeddedWorld)(options));
  onTestFinished(() => shop.end());
  for (let n = 0; n < (options.processes ?? 1); n += 1) await shop.addProcess();
  await shop.isOpen();
  await shop.openSale("sale", options);
  return shop;
}

/** Steps of a case in a line each. Every case ends with `atRest`. */
export class Shop {
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  /** For the accidents of a case. */
  readonly hand: Hand;
  readonly processes: ShopProcess[] = [];
  /** Messages of alarms, dead letters, stopped SKUs and failed steps, as they came. */
  readonly noted: string[] = [];
  /** Tickets that were sent again, because the bus had lost them. */
  readonly resent: string[] = [];
  readonly #options: ShopOptions;
  readonly #world: ShopWorld;
  readonly #all: ShopProcess[] = [];
  #rested = false;
  #operations = 0;

  constructor(options: ShopOptions, world: ShopWorld) {
    this.#options = options;
    this.#world = world;
    this.time = world.time;
    this.hand = world.hand;
    this.ledger = world.stores().ledger;
  }

  get ledgerUrl(): string {
    return this.#world.ledgerUrl;
  }

  get prefix(): string {
    return this.#world.prefix;
  }

  get first(): ShopProcess {
    const [first] = this.processes;
    if (first === undefined) throw new Error("no process runs");
    return first;
  }

  /** One more process, as after a start. */
  async addProcess(): Promise<ShopProcess> {
    const { clock } = this.time;
    const own = await this.#world.storesOfProcess();
    const messageKeys = [{ kid: "test", secret: await own.ledger.secret("messages") }];
    const shared = { ...own, clock, random: systemRandom, events: this.#events(), messageKeys };
    const stores = (await this.#options.stores?.(shared, this.processes.length)) ?? shared;
    const outlet = this.#options.outlet ?? { deliver: () => Promise.resolve() };
    const process = await this.time.drive(ShopProcess.begin(stores, outlet));
    await this.#world.joined(process, (what) => this.noted.push(what));
    this.processes.push(process);
    this.#all.push(process);
    process.start();
    return process;
  }

  /** All processes die; what only they had in memory dies with them. */
  async kill(what: { readonly hot: "survives" | "is lost" }): Promise<void> {
    const dead = this.processes.splice(0);
    for (const process of dead) void process.stop();
    await this.#world.died(dead, what.hot);
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
      const made = await merchandising.createSale(content, { actor: "test" });
      if (!made.ok) throw new Error(made.detail);
      const move = { to: "open", operationId: null } as const;
      const moved = await merchandising.moveSale(saleId(id), move, { actor: "test" });
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
    return answerOf(await this.time.drive(merchandising.moveSale(sale, move, { actor: "test" })));
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

  // Time and rest ---------------------------------------------------------------------------

  /** Time passes, millisecond by millisecond, while everybody works. */
  async passes(ms: number): Promise<void> {
    const { stepMs } = this.#world;
    for (let left = ms; left > 0; left -= stepMs) await this.time.pass(Math.min(left, stepMs));
    await this.time.pass(0);
  }

  /** Time has passed in one go, and what is due by then is done. */
  async later(ms: number): Promise<void> {
    await this.time.pass(ms);
    await this.passes(this.#world.roundMs);
    await this.settle();
  }

  /** The case damaged the ledger for good: there is no rest to speak of. */
  leavesDamage(): void {
    this.#rested = true;
  }

  /** Workers of the first process stop, by the beginning of their names. */
  async stopWorkers(prefix: string): Promise<void> {
    await this.time.drive(this.first.stop(prefix));
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
    for (const process of this.processes) void process.stop();
    await this.#world.close(this.#all);
    if (!this.#rested) throw new Error("a case ends with shop.atRest(…)");
  }

  // -----------------------------------------------------------------------------------------

  async #isQuiet(): Promise<boolean> {
    const { hot, bus, ledger } = this.#world.stores();
    if (((await bus.lag(0)) ?? 0) > 0) return false;
    if ((await hot.observe(0, [])).outboxLength > 0) return false;
    if ((await ledger.unpublished(1)).length > 0) return false;
    const { inFlight, behind, closed } = await this.first.engine.oversight.reconciliation();
    return inFlight + behind + closed === 0;
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const { stepMs } = this.#world;
    const look = async (): Promise<void> => {
      while (!(await holds())) await this.time.clock.sleep(5);
    };
    await this.time.pass(0);
    if (stepMs === 1) return this.time.drive(look());
    while (!(await this.time.drive(holds()))) await this.time.pass(stepMs);
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
      resent: (_lane, ids) => void this.resent.push(...ids),
      skuStopped: note("stopped"),
      workerFailed: note("failed"),
    };
  }
}
