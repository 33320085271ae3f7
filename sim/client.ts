import { Fault } from "../src/domain/fault.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { Complain } from "./audit-ledger.ts";
import type { Caller, Network } from "./faults.ts";
import type { Stream } from "./random.ts";

/** What a client learns of its request: an answer, or nothing it could build on. */
export type Told<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: string };

/** A process that serves requests. */
export interface Server extends Caller {
  readonly engine: Engine;
  /** Requests in hand; those of a process that dies end unknown. */
  readonly open: Set<OpenCall>;
}

export type OpenCall = {
  readonly what: string;
  readonly startedAt: number;
  readonly lose: (why: string) => void;
};

/** A client gives up on an answer after this long, and asks again elsewhere. */
const patienceMs = 8_000;

/** The way of requests into the engine, and of their answers out. */
export class Front {
  readonly #network: Network;
  readonly #stream: Stream;
  readonly #servers: () => readonly Server[];
  readonly #complain: Complain;

  constructor(parts: {
    readonly network: Network;
    readonly stream: Stream;
    readonly servers: () => readonly Server[];
    readonly complain: Complain;
  }) {
    this.#network = parts.network;
    this.#stream = parts.stream;
    this.#servers = parts.servers;
    this.#complain = parts.complain;
  }

  get stream(): Stream {
    return this.#stream;
  }

  get now(): number {
    return this.#network.scheduler.now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#network.scheduler.after(ms, null, resolve);
    });
  }

  note(text: string, detail?: () => string): void {
    this.#network.trace.note(text, detail);
  }

  /** One request to some live process, or to this one. */
  async ask<T>(what: string, act: (engine: Engine) => Promise<T>, at?: Server): Promise<Told<T>> {
    const server = at ?? this.#stream.pick(this.#servers());
    const there = 0.2 + 2 * this.#stream.next();
    const back = 0.2 + 2 * this.#stream.next();
    if (server === undefined || this.#network.decisions.take("http.lost")) {
      await this.sleep(there);
      return { known: false, why: "no connection" };
    }
    const lost = this.#network.decisions.take("http.unknown");
    return new Promise((resolve) => {
      this.#send(server, { what, act, there, back, lost }, resolve);
    });
  }

  #send<T>(server: Server, call: Call<T>, resolve: (told: Told<T>) => void): void {
    const { scheduler } = this.#network;
    let over = false;
    const end = (told: Told<T>): void => {
      if (over) return;
      over = true;
      cancel();
      resolve(told);
    };
    const lose = (why: string): void => {
      server.open.delete(open);
      scheduler.after(call.back, null, () => end({ known: false, why }));
    };
    const open: OpenCall = { what: call.what, startedAt: scheduler.now, lose };
    const cancel = scheduler.after(patienceMs, null, () => end({ known: false, why: "timeout" }));
    server.open.add(open);
    scheduler.after(call.there, server, () => {
      void this.#act(server.engine, call).then((told) => {
        server.open.delete(open);
        if (call.lost) return lose("the answer was lost");
        scheduler.after(call.back, server, () => end(told));
      });
    });
  }

  async #act<T>(engine: Engine, call: Call<T>): Promise<Told<T>> {
    try {
      return { known: true, value: await call.act(engine) };
    } catch (error) {
      if (error instanceof Fault) return { known: false, why: error.code };
      const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#complain("thrown", `${call.what}: ${words}`);
      return { known: false, why: "thrown" };
    }
  }
}

type Call<T> = {
  readonly what: string;
  readonly act: (engine: Engine) => Promise<T>;
  readonly there: number;
  readonly back: number;
  readonly lost: boolean;
};
