import { MemoryBus } from "../../src/bus/memory.ts";
import { systemRandom } from "../../src/clock.ts";
import type { Instant } from "../../src/domain/values.ts";
import { type SkuId, skuId } from "../../src/domain/values.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import type { HotSku } from "../../src/hot-stock/lane-state.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { byHand } from "./by-hand.ts";
import type { ShopProcess } from "./shop-process.ts";
import { temporaryFile } from "./temporary-file.ts";
import { VirtualTime } from "./virtual-time.ts";

export type SharedStores = Pick<Stores, "hot" | "bus" | "ledger">;

/** What somebody does to the stores behind everybody's back. */
export type Hand = {
  editHot(sku: string, edit: (sku: HotSku) => void): Promise<void>;
  /** All keys of hot stock are gone. */
  emptyHot(): Promise<void>;
  /** Only those of the SKUs. */
  dropSkus(): Promise<void>;
  /** Everything that hot stock holds, to be compared. */
  copyHot(): Promise<unknown>;
  /** A statement past every rule of the ledger; how many rows it met. */
  sql(statement: string, ...params: readonly (string | number)[]): Promise<number>;
};

/** The stores of a shop, and its time. */
export type ShopWorld = {
  readonly time: VirtualTime;
  /** For looking on; each process has its own where there is a server between. */
  stores(): SharedStores;
  /** Of the ledger, as the command line takes it. */
  readonly ledgerUrl: string;
  readonly hand: Hand;
  storesOfProcess(): Promise<SharedStores>;
  /** The process begins to serve. */
  joined(process: ShopProcess, note: (what: string) => void): Promise<void>;
  /** All processes died; hot stock may have died with them. */
  died(processes: readonly ShopProcess[], what: "survives" | "is lost"): Promise<void>;
  close(processes: readonly ShopProcess[]): Promise<void>;
  /** Before every key and queue on the stack's servers. */
  readonly prefix: string;
  /** Of the case's clock in one turn, when time is to pass and nobody is waited for. */
  readonly stepMs: number;
  /** Milliseconds in which the workers do what a jump of time has made due. */
  readonly roundMs: number;
};

export type WorldOptions = {
  readonly startsAt?: Instant;
  /** A ledger that others may open too. */
  readonly onDisk?: boolean;
  readonly file?: string;
  /** On the stack: other servers than the usual ones. */
  readonly servers?: { readonly hot?: string; readonly rabbitmq?: string };
};

/** Everything in this process, in virtual time. */
export async function embeddedWorld(options: WorldOptions): Promise<ShopWorld> {
  const time = new VirtualTime(options.startsAt);
  const { clock } = time;
  const file = options.file ?? (options.onDisk === true ? temporaryFile() : ":memory:");
  const ledger = await openSqliteLedger(file, { clock });
  const hot = new MemoryHotStock({ clock, random: systemRandom });
  const bus = new MemoryBus(clock);
  const stores = { hot, bus, ledger };
  return {
    time,
    prefix: "",
    stepMs: 1,
    roundMs: 0,
    stores: () => stores,
    ledgerUrl: `sqlite:${file}`,
    hand: handOn(hot, file),
    storesOfProcess: () => Promise.resolve(stores),
    joined: () => Promise.resolve(),
    died: async (_, what) => {
      bus.consumerDied(0);
      if (what === "is lost") hot.restart();
    },
    close: async () => {
      // Whoever is in the middle of something slow ends it.
      for (let n = 0; n < 1_000; n += 1) await time.pass(1);
      await ledger.close();
    },
  };
}

function handOn(hot: MemoryHotStock, file: string): Hand {
  return {
    editHot: async (sku, edit) => {
      const name: SkuId = skuId(sku);
      hot.tamper(0, (state) => {
        const found = state.skus.get(name);
        if (found !== undefined) edit(found);
      });
    },
    emptyHot: async () => hot.flush(),
    dropSkus: async () => hot.tamper(0, (state) => state.skus.clear()),
    copyHot: async () => hot.copy(),
    sql: async (statement, ...params) => byHand(file, statement, ...params),
  };
}
