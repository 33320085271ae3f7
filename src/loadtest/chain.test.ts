import { describe, expect, it } from "vitest";
import { replay } from "./chain.ts";
import type { Buckets, EntryFact } from "./witness.ts";

const none: Buckets = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };
type Step = readonly [operation: string, quantity: number, order: string | null, after: object];

/** A chain as a sound ledger would keep it; `spoil` damages one entry. */
function chain(steps: readonly Step[], spoil?: (entry: EntryFact) => Partial<EntryFact>) {
  const entries = steps.map(([operation, quantity, order, after], index): EntryFact => {
    const entry = {
      version: index + 1,
      operation,
      quantity,
      reservationId: order,
      buyerId: order === null ? null : `buyer of ${order}`,
      after: { ...none, ...after },
      previousHash: index === 0 ? "0".repeat(64) : `hash ${index}`,
      hash: `hash ${index + 1}`,
    };
    return { ...entry, ...spoil?.(entry) };
  });
  return {
    async *[Symbol.asyncIterator]() {
      yield* entries;
    },
  };
}

const story: readonly Step[] = [
  ["restock", 5, null, { available: 5 }],
  ["reserve", 2, "a", { available: 3, reserved: 2 }],
  ["reject", 9, "b", { available: 3, reserved: 2 }],
  ["confirm", 2, "a", { available: 3, sold: 2 }],
  ["refund", 1, "a", { available: 4, sold: 1 }],
  ["refund_lost", 1, "a", { available: 4, lost: 1 }],
  ["freeze", 4, null, { frozen: 4, lost: 1 }],
  ["count_found", 3, null, { available: 3, frozen: 1, lost: 1 }],
  ["count_lost", 1, null, { available: 3, lost: 2 }],
  ["withdraw", 1, null, { available: 2, lost: 2 }],
];

describe("playing a SKU's entries again", () => {
  it("finds where every unit is and what each order holds", async () => {
    const found = await replay(chain(story), { version: 1 });
    expect(found).toMatchObject({
      buckets: { available: 2, reserved: 0, sold: 0, frozen: 0, lost: 2 },
      version: 10,
      hash: "hash 10",
      stocked: 4,
      untouched: 0,
      rejected: 9,
      broken: null,
    });
    expect(found.orders.get("a")).toEqual({
      buyer: "buyer of a",
      taken: 2,
      reserved: 0,
      sold: 0,
    });
    expect(found.availableAt.get(8)).toBe(3);
  });

  it("counts what nobody took since the run began, and nothing that was given back", async () => {
    expect((await replay(chain(story), { version: 1 })).untouched).toBe(0);
    expect((await replay(chain(story.slice(0, 6)), { version: 1 })).untouched).toBe(3);
    expect((await replay(chain(story), { version: 8 })).untouched).toBe(2);
    expect((await replay(chain(story), { version: 10 })).rejected).toBe(0);
  });

  it.each<[string, (entry: EntryFact) => Partial<EntryFact>]>([
    ["a version is missing", ({ version }) => (version > 3 ? { version: version + 1 } : {})],
    ["an entry was exchanged", ({ version }) => (version === 4 ? { previousHash: "other" } : {})],
    ["a quantity was edited", ({ version }) => (version === 2 ? { quantity: 1 } : {})],
    ["a balance was edited", ({ version }) => (version === 5 ? { after: none } : {})],
    ["a movement is unknown", ({ version }) => (version === 3 ? { operation: "gift" } : {})],
  ])("says so when %s", async (_, spoil) => {
    expect((await replay(chain(story, spoil), { version: 0 })).broken).toMatch(/^entry \d+: /);
  });

  it("does not take a negative bucket for sound", async () => {
    const steps: Step[] = [["reserve", 1, "a", { available: -1, reserved: 1 }]];
    expect((await replay(chain(steps), { version: 0 })).broken).toContain("available");
  });
});
