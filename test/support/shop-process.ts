import { assemble, type Stores } from "../../src/engine/assemble.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Parts } from "../../src/engine/parts.ts";
import { makeWorkers } from "../../src/wire.ts";
import type { Outlet } from "../../src/workers/publisher.ts";
import { runWorker, type Worker } from "../../src/workers/worker.ts";

type Running = { readonly stop: AbortController; readonly ended: Promise<void> };

/** One process over stores that it shares with others; its workers may be stopped. */
export class ShopProcess {
  readonly engine: Engine;
  readonly parts: Parts;
  readonly #random: Stores["random"];
  readonly #workers: readonly Worker[];
  readonly #running = new Map<string, Running>();

  private constructor(made: { engine: Engine; parts: Parts }, stores: Stores, outlet: Outlet) {
    this.engine = made.engine;
    this.parts = made.parts;
    this.#random = stores.random;
    this.#workers = makeWorkers(made.parts, outlet);
  }

  static async begin(stores: Stores, outlet: Outlet): Promise<ShopProcess> {
    return new ShopProcess(await assemble(stores), stores, outlet);
  }

  /** By the beginning of their names, such as `relay`; without one, all. */
  start(prefix = ""): void {
    const { clock, events } = this.parts;
    for (const worker of this.#workers) {
      if (!worker.name.startsWith(prefix) || this.#running.has(worker.name)) continue;
      const stop = new AbortController();
      const ended = runWorker(worker, { clock, random: this.#random, events }, stop.signal);
      this.#running.set(worker.name, { stop, ended });
    }
  }

  stop(prefix = ""): void {
    for (const [name, { stop }] of this.#running) {
      if (!name.startsWith(prefix)) continue;
      stop.abort();
      this.#running.delete(name);
    }
  }
}
