import { describe, expect, it } from "vitest";
import { Batches, TooManyWait } from "./batches.ts";
import type { Cart } from "./client.ts";

const cart = (saleId: string, key: string, lines = 1): Cart => ({
  saleId,
  buyerId: "ann",
  idempotencyKey: key,
  items: Array.from({ length: lines }, (_, n) => ({ sku: `${"s".repeat(50)}-${n}`, quantity: 1 })),
});

/** Calls that are answered by hand, with the key of each cart. */
class Calls {
  readonly sent: (readonly string[])[] = [];
  readonly #open: (() => void)[] = [];
  readonly batches: Batches<string>;
  #turns: (() => void)[] = [];

  constructor(callsMax = 1) {
    this.batches = new Batches<string>({
      callsMax,
      turn: () => new Promise((resolve) => this.#turns.push(resolve)),
      send: (carts) => {
        const keys = carts.map(({ idempotencyKey: key }) => key);
        this.sent.push(carts.map(({ saleId, idempotencyKey: key }) => `${saleId}:${key}`));
        return new Promise((resolve) => this.#open.push(() => resolve(keys)));
      },
    });
  }

  async turn(): Promise<void> {
    for (const resolve of this.#turns.splice(0)) resolve();
    await Promise.resolve();
    await Promise.resolve();
  }

  /** The oldest call that is under way. */
  async answer(): Promise<void> {
    this.#open.shift()?.();
    for (let n = 0; n < 8; n += 1) await Promise.resolve();
    await this.turn();
  }
}

describe("carts that are asked for together", () => {
  it("go in one call, and each has its own answer", async () => {
    const calls = new Calls();
    const asked = ["k1", "k2", "k3"].map((key) => calls.batches.ask(cart("s", key)));
    await calls.turn();
    expect(calls.sent).toEqual([["s:k1", "s:k2", "s:k3"]]);
    await calls.answer();
    expect(await Promise.all(asked)).toEqual(["k1", "k2", "k3"]);
  });

  it("wait for no others: the first goes at once, the next call fills meanwhile", async () => {
    const calls = new Calls();
    const first = calls.batches.ask(cart("s", "k1"));
    await calls.turn();
    const rest = ["k2", "k3"].map((key) => calls.batches.ask(cart("s", key)));
    await calls.turn();
    expect(calls.sent).toEqual([["s:k1"]]);
    await calls.answer();
    expect(await first).toBe("k1");
    expect(calls.sent).toEqual([["s:k1"], ["s:k2", "s:k3"]]);
    await calls.answer();
    expect(await Promise.all(rest)).toEqual(["k2", "k3"]);
  });

  it("are of one sale, and sales take turns", async () => {
    const calls = new Calls();
    const many = Array.from({ length: 501 }, (_, n) => calls.batches.ask(cart("big", `k${n}`)));
    const other = calls.batches.ask(cart("small", "one"));
    await calls.turn();
    await calls.answer();
    await calls.answer();
    await calls.answer();
    expect(calls.sent.map((each) => [each.length, each[0]])).toEqual([
      [500, "big:k0"],
      [1, "small:one"],
      [1, "big:k500"],
    ]);
    expect(await other).toBe("one");
    expect((await Promise.all(many)).at(-1)).toBe("k500");
  });

  it("fill a call no further than a server reads", async () => {
    const calls = new Calls(8);
    const asked = Array.from({ length: 100 }, (_, n) => calls.batches.ask(cart("s", `k${n}`, 100)));
    await calls.turn();
    const sizes = calls.sent.map((each) => each.length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
    // Some 8 kB a cart, 512 kB a call.
    expect(Math.max(...sizes)).toBeLessThan(70);
    for (const _ of sizes) await calls.answer();
    expect(await Promise.all(asked)).toHaveLength(100);
  });

  it("are under way in so many calls, not more", async () => {
    const calls = new Calls(2);
    for (const sale of ["a", "b", "c"]) void calls.batches.ask(cart(sale, "k"));
    await calls.turn();
    expect(calls.sent).toEqual([["a:k"], ["b:k"]]);
    await calls.answer();
    expect(calls.sent).toEqual([["a:k"], ["b:k"], ["c:k"]]);
  });

  it("are refused, unsent, when too many wait", async () => {
    const calls = new Calls();
    for (let n = 0; n < 20_000; n += 1) void calls.batches.ask(cart("s", `k${n}`));
    await expect(calls.batches.ask(cart("s", "more"))).rejects.toThrow(TooManyWait);
    expect(calls.sent).toEqual([]);
  });
});
