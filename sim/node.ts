import { setMaxListeners } from "node:events";
import { Fault } from "../src/domain/fault.ts";
import { assemble, type Stores } from "../src/engine/assemble.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { Parts } from "../src/engine/parts.ts";
import type { Events } from "../src/events.ts";
import { silentEvents } from "../src/events.ts";
import type { Outlet } from "../src/outlet/outlet.ts";
import { makeWorkers } from "../src/wire.ts";
import { runWorker } from "../src/workers/worker.ts";
import type { Complain } from "./audit-ledger.ts";
import type { OpenCall, Server } from "./client.ts";
import type { Port } from "./faults.ts";
import { Stream } from "./random.ts";
import { type Scheduler, VirtualClock } from "./scheduler.ts";

/** What a process reports that a person would hear of. */
export type Reports = { resent: number; rebuilds: number; stopped: number; deadLetters: number };

/** One life of a process: its own engine and workers over the shared stores. */
export class Node implements Server {
  readonly name: string;
  readonly index: number;
  readonly open = new Set<OpenCall>();
  readonly cutUntil: Record<Port, number> = { hot: 0, ledger: 0, bus: 0 };
  readonly clock: VirtualClock;
  alive = true;
  pausedUntil = 0;
  /** Null until it serves. */
  #engine: Engine | null = null;
  #parts: Parts | null = null;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(of: {
    readonly index: number;
    readonly life: number;
    readonly scheduler: Scheduler;
    readonly skewMs: number;
    readonly laziness: number;
  }) {
    // Each worker and each wait of a long poll listens to it.
    setMaxListeners(0, this.#stop.signal);
    this.index = of.index;
    this.name = `n${of.index}.${of.life}`;
    this.clock = new VirtualClock(of.scheduler, this, of);
  }

  get serves(): boolean {
    return this.alive && this.#engine !== null;
  }

  get engine(): Engine {
    if (this.#engine === null) throw new Error(`${this.name} does not serve yet`);
    return this.#engine;
  }

  /** Starts like a supervised process: a start that fails is tried again. */
  async start(wiring: {
    readonly stores: Omit<Stores, "clock" | "random" | "events">;
    readonly seed: number;
    readonly homes: ReadonlyMap<string, readonly number[]>;
    readonly events: Events;
    readonly outlet: Outlet;
  }): Promise<void> {
    const random = new Stream(wiring.seed, this.name);
    const tools = { clock: this.clock, random, events: wiring.events };
    for (;;) {
      try {
        const { engine, parts } = await assemble({ ...wiring.stores, ...tools });
        this.#engine = engine;
        this.#parts = parts;
        for (const worker of makeWorkers(parts, wiring.outlet)) {
          const [kind = ""] = worker.name.split(" ");
          // What has no home of its own runs in every process.
          if (wiring.homes.get(kind)?.includes(this.index) === false) continue;
          this.#running.push(runWorker(worker, tools, this.#stop.signal));
        }
        return;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        await this.clock.sleep(200);
      }
    }
  }

  /** Something in it distrusts hot stock, rightly or not. */
  doubt(lane: number, cause: string): void {
    this.#parts?.fences.doubt(lane, cause);
  }

  /** Nothing that it waits for will come, nothing that it does has an effect. */
  die(): void {
    this.alive = false;
    for (const call of [...this.open]) call.lose("the process died");
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

/** The events of a process, counted; a bug in it ends the run. */
export function watchingEvents(reports: Reports, complain: Complain): Events {
  return {
    ...silentEvents,
    rebuilt: (_lane, { repair }) => {
      if (repair) reports.rebuilds += 1;
    },
    resent: (_lane, ids) => {
      reports.resent += ids.length;
    },
    deadLettered: () => {
      reports.deadLetters += 1;
    },
    skuStopped: (sku, reason) => {
      reports.stopped += 1;
      complain("stopped", `SKU ${sku} was stopped: ${reason}`);
    },
    workerFailed: (worker, error) => {
      if (error instanceof Fault) return;
      const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
      complain("thrown", `${worker}: ${words}`);
    },
    alarm: (what, detail) => complain("alarm", `${what}: ${detail}`),
  };
}
