import type { FaultCode } from "../src/domain/fault.ts";
import { Fault } from "../src/domain/fault.ts";
import type { CallFault, Decisions } from "./plan.ts";
import { Stream } from "./random.ts";
import type { Host, Scheduler } from "./scheduler.ts";
import { brief, type Trace } from "./trace.ts";

export type Port = "hot" | "ledger" | "bus";

/** A process that calls: it may die, stand still, or be cut off from a store. */
export interface Caller extends Host {
  readonly name: string;
  /** Until when its calls to the store do not arrive. */
  readonly cutUntil: Readonly<Record<Port, number>>;
}

/** What a port does when its call arrives; the network decides when, and what the caller learns. */
export type Effect = () => Promise<unknown>;

/** Is told of every effect on a store, whether the caller learns of it or not. */
export type Observer = (call: Observed) => void;
export type Observed = {
  readonly port: Port;
  readonly method: string;
  readonly caller: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
};

type Manners = {
  /** The caller waits no longer than this: then the outcome is unknown. */
  readonly timeoutMs: number;
  readonly latencyMs: readonly [number, number];
  readonly unavailable: FaultCode;
  readonly unknown: FaultCode;
};

const manners: Readonly<Record<Port, Manners>> = {
  hot: {
    timeoutMs: 500,
    latencyMs: [0.2, 1.2],
    unavailable: "HOT_UNAVAILABLE",
    unknown: "HOT_UNKNOWN",
  },
  ledger: {
    timeoutMs: 2_000,
    latencyMs: [0.5, 4],
    unavailable: "LEDGER_UNAVAILABLE",
    unknown: "LEDGER_UNKNOWN",
  },
  bus: {
    timeoutMs: 1_500,
    latencyMs: [0.3, 3],
    unavailable: "BUS_UNAVAILABLE",
    unknown: "BUS_UNKNOWN",
  },
};

/** The network between processes and stores. */
export class Network {
  readonly pausedUntil: Record<Port, number> = { hot: 0, ledger: 0, bus: 0 };
  readonly scheduler: Scheduler;
  readonly decisions: Decisions;
  readonly trace: Trace;
  readonly #streams: Readonly<Record<Port, Stream>>;
  readonly #observe: Observer;
  /** Makes the next transaction of the ledger fail in its middle. */
  armStatement: () => void = () => {};
  /** A caller has no answer to its call: its connection broke. */
  onBroken: (call: Pick<Observed, "port" | "method" | "args">, caller: Caller) => void = () => {};

  constructor(options: {
    readonly seed: number;
    readonly scheduler: Scheduler;
    readonly decisions: Decisions;
    readonly trace: Trace;
    readonly observe: Observer;
  }) {
    const { seed, scheduler, decisions, trace, observe } = options;
    this.scheduler = scheduler;
    this.decisions = decisions;
    this.trace = trace;
    this.#observe = observe;
    this.#streams = {
      hot: new Stream(seed, "latency hot"),
      ledger: new Stream(seed, "latency ledger"),
      bus: new Stream(seed, "latency bus"),
    };
  }

  /** The store stands still; what arrives meanwhile takes effect when it goes on. */
  pause(port: Port, ms: number): void {
    this.pausedUntil[port] = Math.max(this.pausedUntil[port], this.scheduler.now + ms);
  }

  /** The port as one process sees it. */
  wrap<T extends object>(raw: T, port: Port, caller: Caller): T {
    const wrapped = new Map<string | symbol, unknown>();
    return new Proxy(raw, {
      get: (target, name) => {
        const known = wrapped.get(name);
        if (known !== undefined) return known;
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        const far = (...args: unknown[]): Promise<unknown> => {
          const effect = async (): Promise<unknown> => Reflect.apply(method, target, args);
          return this.#call({ port, method: String(name), caller, args }, effect);
        };
        wrapped.set(name, far);
        return far;
      },
    });
  }

  #call(call: Omit<Observed, "caller" | "result"> & { caller: Caller }, effect: Effect) {
    const { port, caller } = call;
    return new Promise<unknown>((resolve, reject) => {
      if (!caller.alive) return;
      const { timeoutMs, unavailable, unknown } = manners[port];
      const drawn = this.#fate(port, caller, rare.has(call.method) ? rareFloor : 0);
      // A broker gives nothing to a connection that is gone.
      const fate = drawn === "late" && call.method === "receive" ? "lost" : drawn;
      const stream = this.#streams[port];
      const fail = (code: FaultCode, afterMs: number): void => {
        this.scheduler.after(afterMs, caller, () => {
          this.onBroken(call, caller);
          reject(new Fault(code, `${port}.${call.method}: ${fate}`));
        });
      };
      const there = this.#latency(port);
      if (fate !== "well") {
        this.trace.note(`${caller.name} ${port}.${call.method} will be ${fate}`);
      }
      if (fate === "lost" || fate === "cut") {
        fail(unavailable, fate === "cut" ? timeoutMs * stream.next() : there);
        return;
      }
      if (fate === "late") fail(unknown, timeoutMs);
      const extra = fate === "late" ? timeoutMs + 3_000 * stream.next() : 0;
      const slow = fate === "slow" ? timeoutMs * 0.95 * stream.next() : 0;
      const back = this.#latency(port);
      const settle = (act: () => void): void => {
        if (fate === "unknown") fail(unknown, back);
        else if (fate !== "late") this.scheduler.after(back, caller, act);
      };
      this.#arrive({ ...call, effect, fate }, there + slow + extra, {
        resolve: (value) => settle(() => resolve(value)),
        reject: (error) => settle(() => reject(error)),
        giveUp: () => {
          this.onBroken(call, caller);
          reject(new Fault(unknown, `${port}.${call.method}: no answer in time`));
        },
      });
    });
  }

  /** The call takes effect when it arrives, or when the store goes on. */
  #arrive(call: Arriving, afterMs: number, back: Back): void {
    const { port, caller } = call;
    const sentAt = this.scheduler.now;
    const deadline = sentAt + manners[port].timeoutMs;
    let given = false;
    const arrive = (): void => {
      const until = this.pausedUntil[port];
      if (until > this.scheduler.now) {
        if (until > deadline && !given && call.fate !== "late") {
          given = true;
          this.scheduler.after(deadline - this.scheduler.now, caller, back.giveUp);
        }
        this.scheduler.after(until - this.scheduler.now, null, arrive);
        return;
      }
      if (given && call.method === "receive") return;
      if (call.fate === "statement") this.armStatement();
      void this.#act(call).then(
        (value) => {
          if (!given) back.resolve(value);
        },
        (error: unknown) => (given ? undefined : back.reject(error)),
      );
    };
    this.scheduler.after(afterMs, null, arrive);
  }

  async #act(call: Arriving): Promise<unknown> {
    const { port, method, caller, args } = call;
    const words = `${caller.name} ${port}.${method}`;
    try {
      const result = await call.effect();
      this.trace.note(words, () => `${brief(args)} → ${brief(result)}`);
      this.#observe({ port, method, caller: caller.name, args, result });
      return result;
    } catch (error) {
      this.trace.note(`${words} failed`, () => `${brief(args)} ${String(error)}`);
      throw error;
    }
  }

  #fate(port: Port, caller: Caller, floor: number): Fate {
    if (caller.cutUntil[port] > this.scheduler.now) return "cut";
    for (const [fate, kind] of fates[port]) if (this.decisions.take(kind, floor)) return fate;
    return "well";
  }

  #latency(port: Port): number {
    const [low, high] = manners[port].latencyMs;
    return low + (high - low) * this.#streams[port].next();
  }
}

/** Few of these are made, and much depends on each: they fail more often. */
const rare: ReadonlySet<string> = new Set([
  ...["beginRebuild", "heldTickets", "load", "nextEpoch", "snapshot", "adopt", "setPolicy"],
  ...["setStatus", "forgetSku", "overdue", "resend"],
]);
const rareFloor = 0.12;

type Fate = "well" | "lost" | "unknown" | "late" | "slow" | "statement" | "cut";

type Arriving = Omit<Observed, "caller" | "result"> & {
  readonly caller: Caller;
  readonly effect: Effect;
  readonly fate: Fate;
};

type Back = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly giveUp: () => void;
};

const fates: Readonly<Record<Port, readonly (readonly [Fate, CallFault])[]>> = {
  hot: [
    ["lost", "hot.lost"],
    ["unknown", "hot.unknown"],
    ["late", "hot.late"],
    ["slow", "hot.slow"],
  ],
  ledger: [
    ["lost", "ledger.lost"],
    ["unknown", "ledger.unknown"],
    ["late", "ledger.late"],
    ["slow", "ledger.slow"],
    ["statement", "ledger.statement"],
  ],
  bus: [
    ["lost", "bus.lost"],
    ["unknown", "bus.unknown"],
    ["late", "bus.late"],
    ["slow", "bus.slow"],
  ],
};
