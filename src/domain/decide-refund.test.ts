import { describe, expect, it } from "vitest";
import { changedSomething, commands, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { quantity, skuId } from "./values.ts";

/** `r1` has paid for three of A and one of B; somebody else for five of A. */
function paid(): PureLedger {
  const ledger = new PureLedger();
  ledger.open({ stock: { A: 10, B: 10 } });
  ledger.tell(commands.reserve({ A: 3, B: 1 }));
  ledger.tell(commands.confirm());
  const other = reserveTicket("r2", { A: 5 }, { buyer: "bob" });
  ledger.decideTicket(other);
  ledger.tell({ ...commands.confirm("p2"), id: other.id } as ReturnType<typeof commands.confirm>);
  return ledger;
}

describe("a refund", () => {
  it("in parts never gives back more than was sold in this order", () => {
    const ledger = paid();
    expect(wordOf(ledger.tell(commands.refund("f1", { A: 2 })))).toBe("accepted");
    expect(wordOf(ledger.tell(commands.refund("f2", { A: 2 })))).toBe("NOT_ENOUGH");
    expect(changedSomething(ledger)).toBe(false);
    expect(wordOf(ledger.tell(commands.refund("f3", { A: 1 }, false)))).toBe("accepted");
    expect(wordOf(ledger.tell(commands.refund("f4", { A: 1 })))).toBe("NOT_ENOUGH");
    expect(ledger.row("A").balances).toMatchObject({ available: 4, sold: 5, lost: 1 });
    expect(ledger.order("r1").state).toBe("confirmed");
    expect(wordOf(ledger.tell(commands.refund("f5")))).toBe("accepted");
    expect(ledger.order("r1").state).toBe("refunded");
    expect(ledger.row("B").balances).toMatchObject({ available: 10, sold: 0 });
  });

  it("gives the units back to the buyer's limit, restocked or not", () => {
    const ledger = paid();
    ledger.tell(commands.refund("f1", { A: 1 }, false));
    const { saleId, buyerId } = ledger.order("r1");
    if (saleId === null || buyerId === null) throw new Error("an order has a buyer");
    expect(ledger.book.unitsOf(saleId, skuId("A"), buyerId)).toBe(2);
  });

  it("that names a SKU twice is the sum, against what is still sold", () => {
    const ledger = paid();
    const line = (units: number) => ({ sku: skuId("A"), quantity: quantity(units) });
    const twice = (first: number, second: number) => ({
      ...commands.refund("f1", { A: 1 }),
      lines: [line(first), line(second)],
    });
    expect(wordOf(ledger.tell(twice(2, 2)))).toBe("NOT_ENOUGH");
    expect(changedSomething(ledger)).toBe(false);
    expect(wordOf(ledger.tell(twice(1, 2)))).toBe("accepted");
    expect(ledger.book.changes.entries).toMatchObject([{ operation: "refund", quantity: 3 }]);
    expect(wordOf(ledger.tell(commands.refund("f1", { A: 3 })))).toBe("accepted again");
  });

  it.each([
    ["less", commands.refund("f1", { A: 1 })],
    ["another SKU", commands.refund("f1", { B: 1 })],
    ["without restock", commands.refund("f1", { A: 2 }, false)],
    ["all", commands.refund("f1")],
    ["a settlement of a payment", commands.settle("f1")],
  ])("under the id of another is a conflict: %s", (_, command) => {
    const ledger = paid();
    ledger.tell(commands.refund("f1", { A: 2 }));
    expect(wordOf(ledger.tell(command))).toBe("KEY_REUSED");
    expect(changedSomething(ledger)).toBe(false);
    expect(wordOf(ledger.tell(commands.refund("f1", { A: 2 })))).toBe("accepted again");
  });

  it("of a SKU that is not in the order is refused", () => {
    expect(wordOf(paid().tell(commands.refund("f1", { C: 1 })))).toBe("NOT_ENOUGH");
  });

  it("of units that the SKU does not have as sold is damage, not a refusal", () => {
    const ledger = paid();
    const row = ledger.row("A");
    ledger.book.skus.set(row.sku, { ...row, balances: { ...row.balances, sold: 2 } });
    expect(wordOf(ledger.tell(commands.refund()))).toBe("broken");
    expect(changedSomething(ledger)).toBe(false);
  });
});
