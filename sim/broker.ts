import type { Bus, Delivery, ReceiveOptions } from "../src/bus/bus.ts";
import type { MemoryBus } from "../src/bus/memory.ts";
import type { Clock } from "../src/clock.ts";
import type { Caller } from "./faults.ts";
import type { Decisions } from "./plan.ts";
import { Stream } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** A consumer that is silent for this long has lost its lane. */
const sessionMs = 4_000;
/** What a broker takes to notice that a connection broke. */
const noticeMs = 300;

type Taken = { readonly lane: number; readonly life: Caller; readonly delivery: Delivery };
type Session = { readonly life: Caller; readonly until: number; broken: boolean };

/**
 * The bus as a broker runs it: one consumer to a lane at a time, redelivery after its death or
 * silence, and the faults that a broker has of itself.
 */
export class Broker {
  readonly #raw: MemoryBus;
  readonly #scheduler: Scheduler;
  readonly #clock: Clock;
  readonly #decisions: Decisions;
  readonly #chance: Stream;
  /** Who has taken what. */
  readonly #out = new Map<Delivery["handle"], Taken>();
  readonly #sessions = new Map<number, Session>();
  readonly #sent: { readonly lane: number; readonly body: Buffer }[] = [];
  /** Is told of what is stored, in order. */
  onStored: (lane: number, body: Buffer) => void = () => {};
  /** Until when several consumers may read one lane. */
  competingUntil = 0;

  constructor(parts: {
    readonly seed: number;
    readonly raw: MemoryBus;
    readonly scheduler: Scheduler;
    readonly clock: Clock;
    readonly decisions: Decisions;
  }) {
    this.#raw = parts.raw;
    this.#scheduler = parts.scheduler;
    this.#clock = parts.clock;
    this.#decisions = parts.decisions;
    this.#chance = new Stream(parts.seed, "broker");
  }

  /** The bus for one consumer. */
  connect(caller: Caller): Bus {
    const raw = this.#raw;
    return {
      publish: (lane, body) => this.#publish(lane, body),
      receive: (lane, options) => this.#receive(caller, lane, options),
      acknowledge: (lane, deliveries) => {
        for (const { handle } of deliveries) this.#out.delete(handle);
        return raw.acknowledge(lane, deliveries);
      },
      release: (lane, deliveries) => raw.release(lane, deliveries),
      lag: (lane) => raw.lag(lane),
      givenUp: () => raw.givenUp(),
      close: () => Promise.resolve(),
    };
  }

  /** The consumer's connection broke: what it has taken is given out again, before anything. */
  broke(lane: number, caller: Caller): void {
    const broken = this.#sessions.get(lane);
    if (broken?.life === caller) broken.broken = true;
    this.#scheduler.after(noticeMs * this.#chance.next(), null, () => {
      const session = this.#sessions.get(lane);
      if (session === undefined || session.life === caller) this.redeliver(lane);
      else this.#takeBack(lane, caller);
    });
  }

  /** Another consumer has the lane meanwhile: it gets what this one had taken. */
  #takeBack(lane: number, caller: Caller): void {
    const taken = [...this.#out.values()].filter((out) => out.lane === lane && out.life === caller);
    const deliveries = taken.map(({ delivery }) => delivery);
    if (deliveries.length > 0) void this.#raw.release(lane, deliveries);
  }

  /** The lane's consumer loses it, alive or not: what it has taken comes again. */
  redeliver(lane: number): void {
    this.#sessions.delete(lane);
    this.#raw.consumerDied(lane);
  }

  /** A process is gone: its lanes go to others once the broker notices. */
  died(caller: Caller): void {
    const lanes = new Set(
      [...this.#out.values()].flatMap((out) => (out.life === caller ? out.lane : [])),
    );
    for (const [lane, session] of this.#sessions) if (session.life === caller) lanes.add(lane);
    for (const lane of lanes) this.broke(lane, caller);
  }

  async purge(lane: number): Promise<void> {
    const all = await this.#raw.receive(lane, { max: 100_000, waitMs: 0 });
    await this.#raw.acknowledge(lane, all);
  }

  async #publish(lane: number, body: Buffer): Promise<void> {
    const sent = this.#sent;
    sent.push({ lane, body });
    const old = this.#chance.pick(sent);
    const later = 2_000 * this.#chance.next();
    if (this.#decisions.take("bus.replay") && old !== undefined) {
      this.#later(later, () => this.#raw.publish(old.lane, old.body));
    }
    if (this.#decisions.take("bus.drop")) return;
    if (this.#decisions.take("bus.delay")) {
      this.#later(2 * later, () => this.#store(lane, body));
      return;
    }
    await this.#store(lane, body);
    if (this.#decisions.take("bus.duplicate")) {
      this.#later(later, () => this.#raw.publish(lane, body));
    }
  }

  async #store(lane: number, body: Buffer): Promise<void> {
    await this.#raw.publish(lane, body);
    this.onStored(lane, body);
  }

  async #receive(
    caller: Caller,
    lane: number,
    options: ReceiveOptions,
  ): Promise<readonly Delivery[]> {
    const { now } = this.#scheduler;
    const session = this.#sessions.get(lane);
    const competing = now < this.competingUntil;
    const others = session !== undefined && (session.life !== caller || session.broken);
    if (others && !competing) {
      if (session.until > now) {
        await this.#clock.sleep(options.waitMs, options.signal);
        return [];
      }
      this.redeliver(lane);
    }
    const until = now + options.waitMs + sessionMs;
    this.#sessions.set(lane, { life: caller, until, broken: false });
    const taken = await this.#raw.receive(lane, options);
    const lost = !caller.alive || (this.#sessions.get(lane)?.life !== caller && !competing);
    if (lost) await this.#raw.release(lane, taken);
    if (lost) return [];
    for (const delivery of taken) this.#out.set(delivery.handle, { lane, life: caller, delivery });
    return taken;
  }

  #later(ms: number, act: () => Promise<void>): void {
    this.#scheduler.after(ms, null, () => void act());
  }
}
