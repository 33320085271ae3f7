import { describe, expect, it } from "vitest";
import { entryHash, genesisHash, type LedgerEntry, sealEntry, ticketIdOf } from "./entry.ts";
import { noUnits } from "./stock.ts";
import { reservationId, skuId } from "./values.ts";

const entry: LedgerEntry = sealEntry({
  sku: skuId("A"),
  version: 7,
  operation: "reserve",
  operationId: "",
  reservationId: reservationId("r1"),
  quantity: 2,
  after: { available: 3, reserved: 2, sold: 1, frozen: 4, lost: 5 },
  actor: "buyer:ann",
  reason: "",
  at: 1_000,
  previousHash: genesisHash,
});

describe("the hash of an entry", () => {
  const changed: readonly [string, Partial<LedgerEntry>][] = [
    ["sku", { sku: skuId("B") }],
    ["version", { version: 8 }],
    ["operation", { operation: "cancel" }],
    ["operationId", { operationId: "x" }],
    ["reservationId", { reservationId: reservationId("r2") }],
    ["reservationId: none", { reservationId: null }],
    ["reservationId: the word null", { reservationId: reservationId("null") }],
    ["quantity", { quantity: 3 }],
    ["available", { after: { ...entry.after, available: 4 } }],
    ["reserved", { after: { ...entry.after, reserved: 3 } }],
    ["sold", { after: { ...entry.after, sold: 2 } }],
    ["frozen", { after: { ...entry.after, frozen: 5 } }],
    ["lost", { after: { ...entry.after, lost: 6 } }],
    ["actor", { actor: "buyer:bob" }],
    ["reason", { reason: "x" }],
    ["at", { at: 1_001 }],
    ["previousHash", { previousHash: "1".repeat(64) }],
  ];

  it.each(changed)("changes with %s", (_, change) => {
    expect(entryHash({ ...entry, ...change })).not.toBe(entry.hash);
  });

  it("is another for each of these changes", () => {
    const hashes = changed.map(([, change]) => entryHash({ ...entry, ...change }));
    expect(new Set([entry.hash, ...hashes]).size).toBe(changed.length + 1);
  });

  it("frames its fields: a letter that moves over a boundary changes it", () => {
    const one = entryHash({ ...entry, actor: "ab", reason: "c" });
    expect(entryHash({ ...entry, actor: "a", reason: "bc" })).not.toBe(one);
    expect(entryHash({ ...entry, actor: 'ab","c', reason: "" })).not.toBe(one);
    const after = { ...noUnits, available: 1, reserved: 23 };
    const shifted = { ...noUnits, available: 12, reserved: 3 };
    expect(entryHash({ ...entry, after })).not.toBe(entryHash({ ...entry, after: shifted }));
  });

  it("is the same on every machine and for ever", () => {
    expect(entry.hash).toBe("ab13874f17f68f32fa0dd96383fb16d6e3b76f7d530b5e740ba0144f9da8807c");
  });

  it("tells halves of letters apart that are written alike", () => {
    const halves = ["\ud800", "\udc00", "\ufffd"];
    expect(new Set(halves.map((reason) => entryHash({ ...entry, reason }))).size).toBe(3);
  });
});

describe("the ticket that an entry decides", () => {
  const id = reservationId("r1");
  it.each([
    [{ operation: "reserve", operationId: "", reservationId: id }, "r1"],
    [{ operation: "reject", operationId: "", reservationId: id }, "r1"],
    [{ operation: "reject", operationId: "p1", reservationId: id }, "revive:r1:p1"],
    [{ operation: "revive", operationId: "p1", reservationId: id }, "revive:r1:p1"],
    [{ operation: "reject", operationId: "o1", reservationId: null }, "take:A:o1"],
    [{ operation: "withdraw", operationId: "o1", reservationId: null }, "take:A:o1"],
    [{ operation: "freeze", operationId: "o1", reservationId: null }, "take:A:o1"],
    [{ operation: "adjust_down", operationId: "o1", reservationId: null }, "take:A:o1"],
    [{ operation: "confirm", operationId: "p1", reservationId: id }, null],
    [{ operation: "cancel", operationId: "", reservationId: id }, null],
    [{ operation: "expire", operationId: "", reservationId: id }, null],
    [{ operation: "refund", operationId: "f1", reservationId: id }, null],
    [{ operation: "restock", operationId: "o1", reservationId: null }, null],
    [{ operation: "count_found", operationId: "o1", reservationId: null }, null],
  ] as const)("of %o is %s", (change, ticket) => {
    expect(ticketIdOf({ ...entry, ...change })).toBe(ticket);
  });
});
