import { invariant } from "../domain/invariant.ts";
import { batchBytesMax } from "../http/contract-batch.ts";
import type { Cart } from "./client.ts";

/** Carts of one call: what a server decides in one transaction. */
const cartsMax = 500;
/** Carts that may wait for a call; past it the caller is told so. */
const waitingMax = 20_000;
/** What stands around the carts in the body of a call. */
const frameBytes = 1_024;

/** Nothing was sent: more wait already than this client may hold. */
export class TooManyWait extends Error {
  override readonly name = "TooManyWait";
}

type Waiting<Answer> = {
  readonly cart: Cart;
  readonly bytes: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

export type BatchesOptions<Answer> = {
  /** Calls under way at once. */
  readonly callsMax: number;
  /** An answer for each cart, in their order. All of them are of one sale. */
  readonly send: (carts: readonly Cart[]) => Promise<readonly Answer[]>;
  /** One of the event loop: what is asked meanwhile comes along. */
  readonly turn: () => Promise<void>;
};

/**
 * Carts that are asked for together go together, sale by sale: the next call fills while the
 * last ones are under way, and nobody waits for others when none is.
 */
export class Batches<Answer> {
  readonly #options: BatchesOptions<Answer>;
  /** Sales take turns: whose carts are left after a call stands last. */
  readonly #bySale = new Map<string, Waiting<Answer>[]>();
  #waiting = 0;
  #underWay = 0;
  #isWoken = false;

  constructor(options: BatchesOptions<Answer>) {
    this.#options = options;
  }

  ask(cart: Cart): Promise<Answer> {
    if (this.#waiting >= waitingMax) {
      return Promise.reject(new TooManyWait(`${waitingMax} carts wait for a call already`));
    }
    const bytes = Buffer.byteLength(JSON.stringify(cart));
    return new Promise((resolve, reject) => {
      const own = this.#bySale.get(cart.saleId);
      const waiting = { cart, bytes, resolve, reject };
      if (own === undefined) this.#bySale.set(cart.saleId, [waiting]);
      else own.push(waiting);
      this.#waiting += 1;
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    void this.#options.turn().then(() => {
      this.#isWoken = false;
      while (this.#underWay < this.#options.callsMax && this.#waiting > 0) void this.#call();
    });
  }

  async #call(): Promise<void> {
    const batch = this.#take();
    this.#underWay += 1;
    try {
      const answers = await this.#options.send(batch.map(({ cart }) => cart));
      for (const [index, { resolve }] of batch.entries()) {
        const answer = answers[index];
        invariant(answer !== undefined, "an answer for each cart");
        resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#wake();
    }
  }

  #take(): readonly Waiting<Answer>[] {
    const [next] = this.#bySale;
    if (next === undefined) return [];
    const [saleId, waiting] = next;
    let count = 0;
    let bytes = frameBytes;
    for (const each of waiting.slice(0, cartsMax)) {
      bytes += each.bytes;
      // A cart that is too large by itself goes alone: the server says so.
      if (count > 0 && bytes > batchBytesMax) break;
      count += 1;
    }
    const batch = waiting.splice(0, count);
    this.#waiting -= count;
    this.#bySale.delete(saleId);
    if (waiting.length > 0) this.#bySale.set(saleId, waiting);
    return batch;
  }
}
