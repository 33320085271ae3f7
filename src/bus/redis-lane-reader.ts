import type { Clock } from "../clock.ts";
import { Fault } from "../domain/fault.ts";
import type { Delivery, ReceiveOptions } from "./bus.ts";
import type { RedisClient } from "./redis-client.ts";

const group = "ledger-writers";
/** How long one blocking read may take: what is given back here is seen after it. */
const sliceMs = 50;
const pendingMax = "1000";
/** So that whoever comes next takes it at once. */
const leftIdleMs = "86400000";

/**
 * One lane, read by one consumer at a time: while another one has messages out, nothing new is
 * taken, until they are acknowledged or have been out for so long that they are taken over.
 */
export class LaneReader {
  readonly #key: string;
  readonly #consumer: string;
  readonly #claimIdleMs: number;
  readonly #client: RedisClient;
  readonly #writer: RedisClient;
  readonly #clock: Clock;
  readonly #out = new Map<string, Delivery>();
  #returned: Delivery[] = [];
  /** What is ours may be more than we saw: the answer of a read was lost, or none was made. */
  #isInDoubt = true;

  constructor(made: {
    key: string;
    consumer: string;
    claimIdleMs: number;
    client: RedisClient;
    writer: RedisClient;
    clock: Clock;
  }) {
    this.#key = made.key;
    this.#consumer = made.consumer;
    this.#claimIdleMs = made.claimIdleMs;
    this.#client = made.client;
    this.#writer = made.writer;
    this.#clock = made.clock;
  }

  async receive({ max, waitMs, signal }: ReceiveOptions): Promise<readonly Delivery[]> {
    const deadline = this.#clock.mono() + waitMs;
    for (;;) {
      const left = deadline - this.#clock.mono();
      const taken = signal?.aborted === true ? [] : await this.#take(max, Math.min(left, sliceMs));
      if (taken.length > 0 || signal?.aborted === true) return taken;
      if (this.#clock.mono() >= deadline) return [];
    }
  }

  async acknowledge(deliveries: readonly Delivery[]): Promise<void> {
    const ids = deliveries.map(({ handle }) => String(handle));
    await this.#grouped("XACK", this.#key, group, ...ids);
    for (const id of ids) this.#out.delete(id);
    await this.#writer.call("XDEL", this.#key, ...ids);
  }

  release(deliveries: readonly Delivery[]): void {
    for (const { handle } of deliveries) {
      const delivery = this.#out.get(String(handle));
      if (delivery === undefined) continue;
      this.#out.delete(String(handle));
      this.#returned.push(delivery);
    }
    this.#returned.sort(inOrder);
  }

  /** What is still out goes to the next consumer without its having to wait. */
  async close(): Promise<void> {
    const ids = [...this.#out.keys(), ...this.#returned.map(({ handle }) => String(handle))];
    if (ids.length > 0) {
      const left = [this.#key, group, this.#consumer, "0", ...ids, "IDLE", leftIdleMs, "JUSTID"];
      await this.#writer.call("XCLAIM", ...left).catch(() => undefined);
    }
    await this.#client.close();
  }

  async #take(max: number, blockMs: number): Promise<readonly Delivery[]> {
    let again: readonly Delivery[] = [];
    try {
      if (this.#isInDoubt) await this.#lookAtOwn();
      await this.#takeOver();
      const [next] = this.#returned;
      const mustWait = next !== undefined && (await this.#othersHaveBefore(String(next.handle)));
      if (next !== undefined && !mustWait) again = await this.#again(max);
      if (again.length === max) return again;
      if (mustWait || (await this.#othersHave())) {
        if (again.length === 0) await this.#clock.sleep(Math.max(1, blockMs));
        return again;
      }
      const fresh = await this.#fresh(max - again.length, again.length > 0 ? 0 : blockMs);
      return [...again, ...fresh];
    } catch (error) {
      this.#isInDoubt = true;
      this.release(again);
      throw error;
    }
  }

  async #fresh(max: number, blockMs: number): Promise<readonly Delivery[]> {
    const block = blockMs >= 1 ? ["BLOCK", String(Math.ceil(blockMs))] : [];
    const count = ["COUNT", String(max), ...block];
    const found = await this.#read([...count, "STREAMS", this.#key, ">"]);
    const [first] = found;
    if (first !== undefined && (await this.#othersHaveBefore(first.id))) {
      // Two have waited at once, and the other was given what stands before this.
      this.#returned.push(...found.map(({ id, body }) => ({ handle: id, body, attempt: 1 })));
      this.#returned.sort(inOrder);
      return [];
    }
    return found.map(({ id, body }) => this.#hand({ handle: id, body, attempt: 1 }));
  }

  /** Told again: the server counts it, as it would for another consumer. */
  async #again(max: number): Promise<readonly Delivery[]> {
    const taken = this.#returned.slice(0, max);
    const ids = taken.map(({ handle }) => String(handle));
    const claim = [this.#key, group, this.#consumer, "0", ...ids, "JUSTID"];
    await this.#grouped("XCLAIM", ...claim);
    this.#returned = this.#returned.slice(taken.length);
    return taken.map((each) => this.#hand({ ...each, attempt: each.attempt + 1 }));
  }

  /** Ours by the server's word, and not out: what a lost answer told. */
  async #lookAtOwn(): Promise<void> {
    const found = await this.#read(["COUNT", pendingMax, "STREAMS", this.#key, "0"]);
    await this.#giveBack(found);
    this.#isInDoubt = false;
  }

  async #takeOver(): Promise<void> {
    const claim = [this.#key, group, this.#consumer, String(this.#claimIdleMs), "0-0"];
    const reply = await this.#grouped("XAUTOCLAIM", ...claim, "COUNT", pendingMax);
    await this.#giveBack(entriesOf(listOf(reply)[1]));
  }

  async #giveBack(found: readonly Entry[]): Promise<void> {
    const known = new Set(this.#returned.map(({ handle }) => handle));
    const strange = found.filter(({ id }) => !this.#out.has(id) && !known.has(id));
    const [first, last] = [strange[0], strange.at(-1)];
    if (first === undefined || last === undefined) return;
    const range = [first.id, last.id, pendingMax, this.#consumer];
    const pending = listOf(await this.#grouped("XPENDING", this.#key, group, ...range));
    const counts = new Map(pending.map(listOf).map(([id, , , count]) => [String(id), count]));
    for (const { id, body } of strange) {
      this.#returned.push({ handle: id, body, attempt: Number(counts.get(id) ?? 1) });
    }
    this.#returned.sort(inOrder);
  }

  async #othersHave(): Promise<boolean> {
    const reply = listOf(await this.#grouped("XPENDING", this.#key, group));
    return listOf(reply[3]).some((each) => String(listOf(each)[0]) !== this.#consumer);
  }

  async #othersHaveBefore(id: string): Promise<boolean> {
    if (!(await this.#othersHave())) return false;
    const range = ["-", `(${id}`, pendingMax];
    const pending = listOf(await this.#grouped("XPENDING", this.#key, group, ...range));
    return pending.some((each) => String(listOf(each)[1]) !== this.#consumer);
  }

  #hand(delivery: Delivery): Delivery {
    this.#out.set(String(delivery.handle), delivery);
    return delivery;
  }

  async #read(args: readonly string[]): Promise<readonly Entry[]> {
    const reply = await this.#grouped("XREADGROUP", "GROUP", group, this.#consumer, ...args);
    return entriesOf(listOf(listOf(reply)[0])[1]);
  }

  /** The group is made with the first call, and again when all keys are gone. */
  async #grouped(command: string, ...args: readonly string[]): Promise<unknown> {
    const client = command === "XREADGROUP" ? this.#client : this.#writer;
    try {
      return await client.call(command, ...args);
    } catch (error) {
      if (!(error instanceof Fault) || !error.message.includes("NOGROUP")) throw error;
    }
    try {
      await this.#writer.call("XGROUP", "CREATE", this.#key, group, "0", "MKSTREAM");
    } catch (error) {
      if (!(error instanceof Fault) || !error.message.includes("BUSYGROUP")) throw error;
    }
    return client.call(command, ...args);
  }
}

type Entry = { readonly id: string; readonly body: Buffer };

function inOrder(a: Delivery, b: Delivery): number {
  const [aMs = 0, aSeq = 0] = String(a.handle).split("-").map(Number);
  const [bMs = 0, bSeq = 0] = String(b.handle).split("-").map(Number);
  return aMs - bMs || aSeq - bSeq;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** [id, [field, body]]; one whose message has been deleted has no fields. */
function entriesOf(value: unknown): readonly Entry[] {
  return listOf(value).flatMap((each) => {
    const [id, fields] = listOf(each);
    const body = listOf(fields)[1];
    return Buffer.isBuffer(body) ? [{ id: String(id), body }] : [];
  });
}
