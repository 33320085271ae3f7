import { assemble, type Stores } from "../../src/engine/assemble.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Parts } from "../../src/engine/parts.ts";
import type { Outlet } from "../../src/outlet/outlet.ts";
import { makeWorkers } from "../../src/wire.ts";
import { AnswerReader } from "../../src/workers/answer-reader.ts";
import { runWorker, type Worker } from "../../src/workers/worker.ts";

type Running = { readonly stop: AbortController; readonly ended: Promise<void> };

/** One process over stores that it shares with others; its workers may be stopped. */
export class ShopProcess {
  readonly parts: Parts;
  #engine: Engine;
  #url: string | null = null;
  readonly #random: Stores["random"];
  readonly #workers: readonly Worker[];
  readonly #running = new Map<string, Running>();
  readonly #ended: Promise<void>[] = [];

  private constructor(made: { engine: Engine; parts: Parts }, stores: Stores, outlet: Outlet) {
    this.#engine = made.engine;
    this.parts = made.parts;
    this.#random = stores.random;
    this.#workers = [...makeWorkers(made.parts, outlet), new AnswerReader(made.parts)];
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** Where it listens; null: it does not. */
  get url(): string | null {
    return this.#url;
  }

  /** From now on it is spoken to over HTTP. */
  isReachedAt(url: string, engine: Engine): void {
    this.#url = url;
    this.#engine = engine;
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
      this.#ended.push(ended);
    }
  }

  /** Resolves when what they were in the middle of has ended. */
  async stop(prefix = ""): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const [name, { stop, ended }] of this.#running) {
      if (!name.startsWith(prefix)) continue;
      stop.abort();
      this.#running.delete(name);
      ends.push(ended);
    }
    await Promise.all(ends);
  }

  /** All that was ever begun has come to its end. */
  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }
}
