type Asked<K, V> = {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Questions that come in one turn of the event loop are one question. A store across the network
 * has a price for each; buyers come by the hundred when a batch of them has been decided.
 */
export class Together<K, V> {
  readonly #turn: () => Promise<void>;
  readonly #max: number;
  readonly #read: (keys: readonly K[]) => Promise<readonly V[]>;
  #asked: Asked<K, V>[] = [];

  /** `read` answers in the order of its keys, of which it gets `max` at most. */
  constructor(parts: {
    readonly turn: () => Promise<void>;
    readonly max: number;
    readonly read: (keys: readonly K[]) => Promise<readonly V[]>;
  }) {
    this.#turn = parts.turn;
    this.#max = parts.max;
    this.#read = parts.read;
  }

  one(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject });
      if (this.#asked.length === 1) void this.#gather();
    });
  }

  async #gather(): Promise<void> {
    await this.#turn();
    const asked = this.#asked;
    this.#asked = [];
    for (let from = 0; from < asked.length; from += this.#max) {
      void this.#ask(asked.slice(from, from + this.#max));
    }
  }

  async #ask(asked: readonly Asked<K, V>[]): Promise<void> {
    try {
      const values = await this.#read(asked.map(({ key }) => key));
      for (const [index, { resolve }] of asked.entries()) {
        const value = values[index];
        if (value === undefined) throw new Error("a question without an answer");
        resolve(value);
      }
    } catch (error) {
      // Whoever has an answer already hears nothing of it.
      for (const { reject } of asked) reject(error);
    }
  }
}
