import type { Clock } from "../clock.ts";
import type { Lane } from "../domain/values.ts";
import type { Bus, Delivery, ReceiveOptions } from "./bus.ts";

type Message = { readonly handle: number; readonly body: Buffer; attempt: number };
type Queue = { waiting: Message[]; out: Map<number, Message>; wake: (() => void)[] };

/**
 * The embedded default: a queue per lane in this process. Like any broker it delivers again what
 * was not acknowledged; unlike one it loses everything with the process, which the design allows.
 */
export class MemoryBus implements Bus {
  readonly #clock: Clock;
  readonly #queues = new Map<Lane, Queue>();
  #nextHandle = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  publish(lane: Lane, body: Buffer): Promise<void> {
    const queue = this.#queue(lane);
    queue.waiting.push({ handle: this.#nextHandle++, body, attempt: 0 });
    for (const wake of queue.wake.splice(0)) wake();
    return Promise.resolve();
  }

  async receive(lane: Lane, options: ReceiveOptions): Promise<readonly Delivery[]> {
    const queue = this.#queue(lane);
    if (queue.waiting.length === 0 && options.waitMs > 0) await this.#wait(queue, options);
    const taken = queue.waiting.splice(0, options.max);
    return taken.map((message) => {
      message.attempt += 1;
      queue.out.set(message.handle, message);
      return { body: message.body, attempt: message.attempt, handle: message.handle };
    });
  }

  acknowledge(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    const { out } = this.#queue(lane);
    for (const { handle } of deliveries) if (typeof handle === "number") out.delete(handle);
    return Promise.resolve();
  }

  release(lane: Lane, deliveries: readonly Delivery[]): Promise<void> {
    const handles = new Set(deliveries.map((delivery) => delivery.handle));
    this.#giveBack(lane, (message) => handles.has(message.handle));
    return Promise.resolve();
  }

  lag(lane: Lane): Promise<number> {
    const { waiting, out } = this.#queue(lane);
    return Promise.resolve(waiting.length + out.size);
  }

  givenUp(): Promise<number> {
    return Promise.resolve(0);
  }

  close(): Promise<void> {
    for (const { wake } of this.#queues.values()) for (const each of wake.splice(0)) each();
    return Promise.resolve();
  }

  /** The lane's consumer is gone: what it had taken is delivered again. */
  consumerDied(lane: Lane): void {
    this.#giveBack(lane, () => true);
  }

  #giveBack(lane: Lane, which: (message: Message) => boolean): void {
    const queue = this.#queue(lane);
    const back = [...queue.out.values()].filter(which);
    for (const { handle } of back) queue.out.delete(handle);
    queue.waiting = [...back, ...queue.waiting].sort((a, b) => a.handle - b.handle);
    for (const wake of queue.wake.splice(0)) wake();
  }

  async #wait(queue: Queue, { waitMs, signal }: ReceiveOptions): Promise<void> {
    const arrived = new AbortController();
    const stop = (): void => arrived.abort("arrived");
    queue.wake.push(stop);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted !== true) await this.#clock.sleep(waitMs, arrived.signal);
    signal?.removeEventListener("abort", stop);
    queue.wake = queue.wake.filter((wake) => wake !== stop);
  }

  #queue(lane: Lane): Queue {
    const known = this.#queues.get(lane);
    if (known !== undefined) return known;
    const queue: Queue = { waiting: [], out: new Map(), wake: [] };
    this.#queues.set(lane, queue);
    return queue;
  }
}
