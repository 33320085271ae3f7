import { describe, expect, it } from "vitest";
import { changedSomething, commands, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import type { Command } from "./command.ts";
import type { CommandOf } from "./decision.ts";
import { saleId, skuId } from "./values.ts";

function create(
  sale: string,
  stock: Readonly<Record<string, number>>,
  more: Partial<CommandOf<"create-sale">> = {},
): Command {
  return {
    kind: "create-sale",
    saleId: saleId(sale),
    title: "t",
    opensAt: null,
    closesAt: null,
    holdMs: 1,
    limitPerBuyer: null,
    items: Object.entries(stock).map(([sku, units]) => ({ sku: skuId(sku), stock: units })),
    lane: 0,
    fingerprint: "content",
    actor: "op",
    ...more,
  };
}

describe("the creation of a sale", () => {
  it("brings its stock in from supply, an entry a SKU, and nothing for a stock of none", () => {
    const ledger = new PureLedger();
    expect(wordOf(ledger.tell(create("s", { A: 5, B: 0 })))).toBe("accepted");
    expect(ledger.book.changes.entries).toMatchObject([
      { sku: "A", operation: "restock", operationId: "sale:s", quantity: 5, version: 1 },
    ]);
    expect(ledger.row("B")).toMatchObject({ version: 0, saleId: "s" });
    expect(ledger.book.sales.get(saleId("s"))).toMatchObject({ state: "draft", revision: 1 });
  });

  it("is told twice and done once; with other content it is a conflict", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 5 }));
    expect(wordOf(ledger.tell(create("s", { A: 5 })))).toBe("accepted again");
    expect(changedSomething(ledger)).toBe(false);
    expect(wordOf(ledger.tell(create("s", { A: 6 }, { fingerprint: "other" })))).toBe("KEY_REUSED");
    expect(changedSomething(ledger)).toBe(false);
  });

  it.each(["draft", "open", "paused"] as const)("takes no SKU of a sale that is %s", (state) => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 5 }));
    if (state !== "draft") ledger.tell(commands.saleTo("open"));
    if (state === "paused") ledger.tell(commands.saleTo("paused"));
    expect(wordOf(ledger.tell(create("t", { B: 1, A: 1 })))).toBe("SKU_IN_SALE");
    expect(changedSomething(ledger)).toBe(false);
  });

  it("takes over the SKUs of a closed one, with what is left of them, in their lane", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 5 }));
    ledger.tell(commands.saleTo("closed"));
    expect(wordOf(ledger.tell(create("t", { A: 2, B: 1 }, { lane: 7 })))).toBe("accepted");
    expect(ledger.row("A")).toMatchObject({ saleId: "t", lane: 0, balances: { available: 7 } });
    expect(ledger.row("B").lane).toBe(0);
    expect(ledger.book.sales.get(saleId("t"))?.lane).toBe(0);
  });

  it("refuses SKUs that stand in different lanes", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 1 }));
    ledger.tell(create("t", { B: 1 }, { lane: 1 }));
    ledger.tell(commands.saleTo("closed"));
    ledger.tell({ ...commands.saleTo("closed"), saleId: saleId("t") } as Command);
    expect(wordOf(ledger.tell(create("u", { A: 1, B: 1 })))).toBe("SKU_IN_SALE");
    expect(changedSomething(ledger)).toBe(false);
  });
});

describe("the state of a sale", () => {
  it.each([
    ["draft", "open", "accepted"],
    ["draft", "paused", "WRONG_STATE"],
    ["draft", "closed", "accepted"],
    ["open", "open", "accepted again"],
    ["open", "paused", "accepted"],
    ["open", "closed", "accepted"],
    ["paused", "open", "accepted"],
    ["paused", "paused", "accepted again"],
    ["paused", "closed", "accepted"],
    ["closed", "open", "WRONG_STATE"],
    ["closed", "paused", "WRONG_STATE"],
    ["closed", "closed", "accepted again"],
  ] as const)("%s: told to be %s it answers %s", (from, to, said) => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 1 }));
    if (from !== "draft" && from !== "closed") ledger.tell(commands.saleTo("open"));
    if (from === "paused" || from === "closed") ledger.tell(commands.saleTo(from));
    const before = ledger.book.sales.get(saleId("s"))?.revision ?? 0;
    expect(wordOf(ledger.tell(commands.saleTo(to)))).toBe(said);
    const moved = said === "accepted";
    expect(ledger.book.sales.get(saleId("s"))).toMatchObject({
      state: moved ? to : from,
      revision: before + (moved ? 1 : 0),
    });
    expect(changedSomething(ledger)).toBe(moved);
  });

  it("moves once by an operation id, whatever came after it", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 1 }));
    ledger.tell(commands.saleTo("open", "o1"));
    ledger.tell(commands.saleTo("paused", "o2"));
    expect(wordOf(ledger.tell(commands.saleTo("open", "o1")))).toBe("accepted again");
    expect(wordOf(ledger.tell(commands.saleTo("closed", "o1")))).toBe("KEY_REUSED");
    expect(ledger.book.sales.get(saleId("s"))?.state).toBe("paused");
  });

  it("of a sale that is not there is refused", () => {
    expect(wordOf(new PureLedger().tell(commands.saleTo("open")))).toBe("SALE_NOT_FOUND");
  });
});

describe("the status of a SKU", () => {
  it("is moved once by an operation id, and each move has a revision", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 1 }));
    expect(wordOf(ledger.tell(commands.skuTo("stopped", "o1")))).toBe("accepted");
    expect(ledger.row("A")).toMatchObject({ status: "stopped", statusRevision: 1 });
    expect(ledger.row("A").statusReason).toBe("because");
    expect(wordOf(ledger.tell(commands.skuTo("normal", "o2")))).toBe("accepted");
    expect(ledger.row("A")).toMatchObject({ status: "normal", statusRevision: 2 });
    expect(ledger.row("A").statusReason).toBeNull();
    expect(wordOf(ledger.tell(commands.skuTo("stopped", "o1")))).toBe("accepted again");
    expect(wordOf(ledger.tell(commands.skuTo("normal", "o1")))).toBe("KEY_REUSED");
    expect(changedSomething(ledger)).toBe(false);
    expect(ledger.row("A").version).toBe(1);
  });

  it("that it has already is an answer, not a change", () => {
    const ledger = new PureLedger();
    ledger.tell(create("s", { A: 1 }));
    expect(wordOf(ledger.tell(commands.skuTo("normal")))).toBe("accepted again");
    expect(changedSomething(ledger)).toBe(false);
  });

  it("of a SKU that is not there is refused", () => {
    expect(wordOf(new PureLedger().tell(commands.skuTo("stopped")))).toBe("SKU_NOT_FOUND");
  });
});
