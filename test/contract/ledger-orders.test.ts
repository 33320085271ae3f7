import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { reservationId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { ledgerAdapters } from "../support/ledger-adapters.ts";
import {
  confirm,
  expire,
  openSale,
  refund,
  reserve,
  skuA,
  skuB,
} from "../support/ledger-fixtures.ts";

/** What every ledger promises to those who read orders. */
describe.each(ledgerAdapters)("orders of the ledger: $name", ({ open }) => {
  let clock = new ManualClock();
  let ledger: Ledger;
  beforeEach(async () => {
    clock = new ManualClock();
    ledger = await open(clock);
  });
  afterEach(() => ledger.close());

  it("come with their lines, payments, operations and entries", async () => {
    await openSale(ledger);
    await ledger.commit([reserve("r1", { lines: { [skuA]: 2, [skuB]: 1 } })]);
    await ledger.commit([confirm("r1", "p1")]);
    await ledger.commit([confirm("r1", "p2"), refund("r1", { id: "b1" })]);
    const view = await ledger.order(reservationId("r1"));
    expect(view).toMatchObject({
      order: {
        state: "refunded",
        lines: [
          { sku: skuA, quantity: 2, restocked: 2, decidedVersion: 2 },
          { sku: skuB, quantity: 1, restocked: 1, decidedVersion: 2 },
        ],
        admittedAt: 1,
        sentAt: 2,
        paymentId: "p1",
      },
      payments: [
        { paymentId: "p1", state: "taken", code: null },
        { paymentId: "p2", state: "due", code: "ALREADY_PAID" },
      ],
      operations: [{ operationId: "b1", operation: "refund" }],
    });
    const entries = await ledger.orderEntries(reservationId("r1"));
    expect(entries.map((each) => `${each.sku} ${each.operation}`).sort()).toEqual([
      "sku-a confirm",
      "sku-a refund",
      "sku-a reserve",
      "sku-b confirm",
      "sku-b refund",
      "sku-b reserve",
    ]);
  });

  // As buyers read whose orders another process has just decided.
  it("are each read when a thousand are asked for at once", async () => {
    await openSale(ledger, {});
    await ledger.commit([reserve("a", { buyer: "u1" }), reserve("b", { buyer: "u2" })]);
    await ledger.commit([confirm("b", "p"), refund("b", { id: "r", lines: { [skuA]: 1 } })]);
    const names = Array.from({ length: 1_000 }, (_, n) => ["a", "b", "nobody"][n % 3] ?? "a");
    const views = await Promise.all(names.map((name) => ledger.order(reservationId(name))));
    const told = views.map((view) => ({
      buyer: view?.order.buyerId ?? null,
      lines: view?.order.lines.length ?? 0,
      payments: view?.payments.length ?? 0,
      operations: view?.operations.length ?? 0,
    }));
    const expected = [
      { buyer: "u1", lines: 1, payments: 0, operations: 0 },
      { buyer: "u2", lines: 1, payments: 1, operations: 1 },
      { buyer: null, lines: 0, payments: 0, operations: 0 },
    ];
    expect(told).toEqual(names.map((_, n) => expected[n % 3]));
  });

  it("lists overdue holds by deadline, a page at a time, each once", async () => {
    await openSale(ledger, { holdMs: 1000 });
    await ledger.commit([reserve("r3"), reserve("r1"), reserve("r2")]);
    clock.advance(1);
    await ledger.commit([reserve("r0")]);
    expect(await ledger.dueHolds(null, 10)).toEqual([]);
    await ledger.commit([confirm("r1", "p")]);
    clock.advance(1000);
    await ledger.commit([reserve("young")]);
    const first = await ledger.dueHolds(null, 2);
    const second = await ledger.dueHolds(first.at(-1) ?? null, 2);
    const ids = [...first, ...second].map(({ id }) => id);
    expect(ids).toEqual(["r3", "r2", "r0"]);
    await ledger.commit([expire("r3"), expire("r2")]);
    const left = await ledger.dueHolds(null, 10);
    expect(left.map(({ id }) => id)).toEqual(["r0"]);
  });
});
