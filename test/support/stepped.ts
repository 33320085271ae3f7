import type { Bus } from "../../src/bus/bus.ts";
import { MemoryBus } from "../../src/bus/memory.ts";
import { ManualClock, type Random } from "../../src/clock.ts";
import type { Command, CommandResult } from "../../src/domain/command.ts";
import type { Lease } from "../../src/domain/lease.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { type Lane, operationId, type SaleId, saleId, skuId } from "../../src/domain/values.ts";
import { assemble } from "../../src/engine/assemble.ts";
import type { Engine, ReservationView } from "../../src/engine/engine.ts";
import type { Parts } from "../../src/engine/parts.ts";
import type { Events } from "../../src/events.ts";
import type { HotStock } from "../../src/hot-stock/hot-stock.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { Expirer } from "../../src/workers/expirer.ts";
import type { LeasedWorker } from "../../src/workers/leased.ts";
import { LedgerWriter } from "../../src/workers/ledger-writer.ts";
import { Rebuilder } from "../../src/workers/rebuilder.ts";
import { Reconciler } from "../../src/workers/reconciler.ts";
import { Relay } from "../../src/workers/relay.ts";
import { expectCoherent, worldOf } from "./coherent.ts";
import { type Cart, linesOf } from "./tickets.ts";

/** Replaces single methods of a port, at any time; what is not replaced is the port's own. */
export type Bends<T> = { -readonly [Key in keyof T]?: T[Key] };

function bent<T extends object>(port: T, bends: Bends<T>): T {
  return new Proxy(port, {
    get(target, name) {
      const own: unknown = Reflect.get(bends, name);
      const found: unknown = own ?? Reflect.get(target, name);
      return typeof found === "function" ? found.bind(own === undefined ? target : bends) : found;
    },
  });
}

const lane: Lane = 0;
/** Nobody waits for the bus: what is there is taken, or nothing. */
const atOnce = AbortSignal.abort();

/** The stores and the time that processes share; they outlive any of them. */
export class Stage {
  readonly clock: ManualClock;
  readonly memory: MemoryHotStock;
  readonly queue: MemoryBus;
  readonly ledger: Ledger;
  readonly #random: Random;
  readonly #leases = new Map<string, Lease>();

  private constructor(ledger: Ledger, clock: ManualClock) {
    this.clock = clock;
    this.ledger = ledger;
    let drawn = 0;
    const bytes = (length: number): Buffer => {
      drawn += 1;
      return Buffer.alloc(length, drawn);
    };
    this.#random = { next: () => 0.5, bytes };
    this.memory = new MemoryHotStock({ clock, random: this.#random });
    this.queue = new MemoryBus(clock);
  }

  static async open(lanes = 1): Promise<Stage> {
    const clock = new ManualClock();
    return new Stage(await openSqliteLedger(":memory:", { clock, lanes }), clock);
  }

  /** Whoever is stepped has the lease: a test says itself whose turn it is. */
  leased(worker: LeasedWorker): Stepped {
    return {
      step: async () => worker.step(await this.lease(worker.name), atOnce),
    };
  }

  async lease(name: string): Promise<Lease> {
    const known = this.#leases.get(name);
    if (known !== undefined) return known;
    const [lease] = await this.ledger.hold("test", [{ name, forMs: 60_000 }]);
    if (lease === undefined) throw new Error(`another has the lease of the ${name}`);
    this.#leases.set(name, lease);
    return lease;
  }

  /** A process over these stores; every one has its own bends, events and workers. */
  async process(turn?: () => Promise<void>): Promise<Process> {
    const bends: Process["bends"] = { hot: {}, ledger: {}, bus: {} };
    const happened: string[] = [];
    const { engine, parts } = await assemble({
      hot: bent<HotStock>(this.memory, bends.hot),
      ledger: bent<Ledger>(this.ledger, bends.ledger),
      bus: bent<Bus>(this.queue, bends.bus),
      clock: this.clock,
      random: this.#random,
      events: noted(happened),
      messageKeys: [{ kid: "k", secret: Buffer.from("secret") }],
      ...(turn === undefined ? {} : { turn }),
    });
    return new Process(this, { engine, parts, bends, happened });
  }

  /** A process whose lane is open, with a sale; `turn`: what its admissions wait for first. */
  async started(spec: SaleSpec = {}, turn?: () => Promise<void>): Promise<Process> {
    const process = await this.process(turn);
    await process.rebuild();
    await process.sell(spec);
    process.happened.length = 0;
    return process;
  }
}

type Stepped = { readonly step: () => Promise<number> };

export type SaleSpec = {
  readonly stock?: Readonly<Record<string, number>>;
  readonly limit?: number | null;
  readonly holdSeconds?: number;
};

export class Process {
  readonly stage: Stage;
  readonly engine: Engine;
  readonly parts: Parts;
  readonly bends: { hot: Bends<HotStock>; ledger: Bends<Ledger>; bus: Bends<Bus> };
  /** Every event, in a word. */
  readonly happened: string[];
  readonly relay: Stepped;
  readonly writer: LedgerWriter;
  readonly rebuilder: Stepped;
  readonly reconciler: Stepped;
  readonly expirer: Stepped;
  readonly sale: SaleId = saleId("s");

  constructor(stage: Stage, made: Pick<Process, "engine" | "parts" | "bends" | "happened">) {
    const { parts } = made;
    this.stage = stage;
    this.engine = made.engine;
    this.parts = parts;
    this.bends = made.bends;
    this.happened = made.happened;
    this.relay = stage.leased(new Relay(parts, lane));
    this.writer = new LedgerWriter(parts, lane);
    this.rebuilder = stage.leased(new Rebuilder(parts));
    this.reconciler = stage.leased(new Reconciler(parts));
    this.expirer = stage.leased(new Expirer(parts));
  }

  async repairs(): Promise<number> {
    const lanes = await this.stage.ledger.lanes();
    return lanes.reduce((sum, { repairs }) => sum + repairs, 0);
  }

  write(): Promise<number> {
    return this.writer.step(atOnce);
  }

  /** Outbox → bus → ledger → hot stock, once. */
  async carry(): Promise<void> {
    await this.relay.step();
    while ((await this.write()) > 0);
  }

  /** From any doubt to an open lane. */
  async rebuild(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) {
      if ((await this.rebuilder.step()) === 0 && this.parts.fences.cause(lane) === null) {
        const { open } = await this.stage.memory.observe(lane, []);
        if (open) return;
      }
      await this.carry();
    }
    throw new Error("the rebuild does not end");
  }

  async sell({ stock = { A: 5 }, limit = null, holdSeconds = 60 }: SaleSpec): Promise<void> {
    const items = Object.entries(stock).map(([sku, units]) => ({ sku: skuId(sku), stock: units }));
    const sale = { saleId: this.sale, title: "", opensAt: null, closesAt: null, items };
    const { merchandising } = this.engine;
    await merchandising.createSale({ ...sale, holdSeconds, limitPerBuyer: limit }, { actor: "op" });
    await merchandising.moveSale(this.sale, { to: "open", operationId: null }, { actor: "op" });
  }

  /** Asks, and does not carry: the answer comes with the line, or when the wait is over. */
  ask(key: string, cart: Cart = { A: 1 }, waitMs = 1_000, buyer = key) {
    const request = {
      saleId: this.sale,
      buyerId: operationId(buyer) as never,
      idempotencyKey: operationId(key),
      lines: linesOf(cart),
    };
    return this.engine.buyers.reserve(request, { waitMs });
  }

  /** Asks and carries until there is an answer. */
  reserve(key: string, cart?: Cart, buyer?: string): Promise<Outcome<ReservationView>> {
    return this.drive(this.ask(key, cart, 1_000, buyer));
  }

  async reserved(key: string, cart?: Cart): Promise<ReservationView> {
    const outcome = await this.reserve(key, cart);
    if (!outcome.ok) throw new Error(`${key}: ${outcome.code}`);
    return outcome.value;
  }

  /** Carries the line, and turns the clock only when nothing else helps. */
  async drive<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const ended = (): void => {
      done = true;
    };
    work.then(ended, ended);
    for (let turn = 0; turn < 2_000 && !done; turn += 1) {
      await this.carry();
      await quiet();
      if (!done) this.stage.clock.advance(25);
    }
    if (!done) throw new Error("stuck");
    return work;
  }

  one(command: Command): Promise<CommandResult> {
    return this.parts.line.one(command);
  }

  confirm(id: string, payment = "p1"): Promise<Outcome<ReservationView>> {
    const paid = { paymentId: operationId(payment), paidAt: null };
    return this.drive(this.engine.settlement.confirm(id, paid, { actor: "shop", reason: "" }));
  }

  async levels(sku = "A") {
    const level = await this.engine.oversight.level(skuId(sku));
    if (level === null) throw new Error(`no SKU ${sku}`);
    return level;
  }

  async expectCoherent(): Promise<void> {
    expectCoherent(await worldOf(this.parts));
  }
}

/** Every promise that does not wait for the clock has had its turn. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function noted(happened: string[]): Events {
  return new Proxy({} as Events, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        happened.push([String(name), ...args.filter((arg) => typeof arg !== "object")].join(" ")),
  });
}
