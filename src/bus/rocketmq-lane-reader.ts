import type { Clock } from "../clock.ts";
import type { Delivery, ReceiveOptions } from "./bus.ts";
import type { Receipt, Received, RocketmqClient } from "./rocketmq-client.ts";
import type { LaneNames } from "./rocketmq-names.ts";

type Held = {
  readonly messageId: string;
  readonly body: Buffer;
  /** Its place in the queue. */
  readonly offset: number;
  receipt: Receipt;
  attempt: number;
  /** Until then the broker shows it to nobody else. */
  hiddenUntil: number;
};

/**
 * One lane. The broker hands out a batch of an ordered group and nothing more of its queue until
 * all of it is acknowledged or has been out for too long, whoever asks; so what was taken is
 * kept here, and handed on, released and handed on again, in order.
 */
export class RocketmqLaneReader {
  readonly #names: LaneNames;
  readonly #client: RocketmqClient;
  readonly #clock: Clock;
  readonly #hiddenMs: number;
  readonly #lookMs: number;
  readonly #out = new Map<string, Held>();
  readonly #wake = new Set<() => void>();
  #waiting: Held[] = [];
  #isPolling = false;
  #failure: unknown = null;

  constructor(made: {
    names: LaneNames;
    client: RocketmqClient;
    clock: Clock;
    hiddenMs: number;
    lookMs: number;
  }) {
    this.#names = made.names;
    this.#client = made.client;
    this.#clock = made.clock;
    this.#hiddenMs = made.hiddenMs;
    this.#lookMs = made.lookMs;
  }

  async receive({ max, waitMs, signal }: ReceiveOptions): Promise<readonly Delivery[]> {
    const deadline = this.#clock.mono() + Math.max(waitMs, this.#lookMs);
    this.#failure = null;
    for (;;) {
      const taken = signal?.aborted === true ? [] : this.#take(max);
      const left = deadline - this.#clock.mono();
      if (taken.length > 0 || left <= 0 || signal?.aborted === true) return taken;
      this.#throwFailure();
      if (!this.#isPolling) void this.#poll();
      await this.#changed(left, signal);
    }
  }

  /** What cannot be acknowledged comes again. */
  async acknowledge(deliveries: readonly Delivery[]): Promise<void> {
    const held = this.#forget(deliveries);
    if (held.length > 0) await this.#client.acknowledge(held.map(({ receipt }) => receipt));
  }

  release(deliveries: readonly Delivery[]): void {
    for (const held of this.#forget(deliveries)) {
      held.attempt += 1;
      this.#waiting.push(held);
    }
    this.#tell();
  }

  /** What is still here goes to the next consumer without its having to wait. */
  async close(): Promise<void> {
    const held = [...this.#out.values(), ...this.#waiting].map(({ receipt }) => receipt);
    this.#out.clear();
    this.#waiting = [];
    this.#tell();
    if (held.length > 0) await this.#client.giveBack(held);
  }

  #take(max: number): readonly Delivery[] {
    const now = this.#clock.mono();
    // The broker has given the rest to whoever asked next, perhaps to us.
    this.#waiting = this.#waiting.filter(({ hiddenUntil }) => hiddenUntil > now);
    this.#waiting.sort((a, b) => a.offset - b.offset);
    return this.#waiting.splice(0, max).map((held) => {
      this.#out.set(held.messageId, held);
      return { body: held.body, attempt: held.attempt, handle: held.messageId };
    });
  }

  /** It goes on when nobody waits any more: what it brings is for the next one. */
  async #poll(): Promise<void> {
    this.#isPolling = true;
    try {
      this.#keep(await this.#client.poll(this.#names, this.#hiddenMs));
    } catch (error) {
      this.#failure = error;
    }
    this.#isPolling = false;
    this.#tell();
  }

  #keep(received: readonly Received[]): void {
    const hiddenUntil = this.#clock.mono() + this.#hiddenMs;
    for (const { body, ...told } of received) {
      const known = this.#out.get(told.messageId) ?? this.#inHand(told.messageId);
      // Out for so long that it has come again: the old receipt no longer counts.
      if (known !== undefined) Object.assign(known, { receipt: told.receipt, hiddenUntil });
      else this.#waiting.push({ ...told, body: Buffer.from(body), hiddenUntil });
    }
  }

  #inHand(messageId: string): Held | undefined {
    return this.#waiting.find((held) => held.messageId === messageId);
  }

  #forget(deliveries: readonly Delivery[]): Held[] {
    return deliveries.flatMap(({ handle }) => {
      const held = this.#out.get(String(handle));
      this.#out.delete(String(handle));
      return held === undefined ? [] : [held];
    });
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }

  #tell(): void {
    for (const wake of [...this.#wake]) wake();
  }

  async #changed(withinMs: number, signal?: AbortSignal): Promise<void> {
    const changed = new AbortController();
    const stop = (): void => changed.abort();
    this.#wake.add(stop);
    signal?.addEventListener("abort", stop, { once: true });
    await this.#clock.sleep(withinMs, changed.signal);
    signal?.removeEventListener("abort", stop);
    this.#wake.delete(stop);
  }
}
