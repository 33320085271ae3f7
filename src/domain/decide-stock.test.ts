import { describe, expect, it } from "vitest";
import { changedSomething, commands, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import { reserveTicket, takeTicket } from "../../test/support/tickets.ts";
import type { Command } from "./command.ts";
import type { Balances } from "./stock.ts";
import { levelMax, skuId } from "./values.ts";

/** A: 10 came in, 2 are held, 4 are frozen, 4 left. */
function stocked(): PureLedger {
  const ledger = new PureLedger();
  ledger.open({ stock: { A: 10 } });
  ledger.decideTicket(reserveTicket("r1", { A: 2 }));
  ledger.decideTicket(takeTicket("freeze", "z1", 4));
  return ledger;
}

describe("what gives to available", () => {
  it.each([
    ["restock", commands.give("restock", "o1", 5), { available: 9 }],
    ["adjust up", commands.give("adjust_up", "o1", 5), { available: 9 }],
    ["unfreeze", commands.give("unfreeze", "o1", 4), { available: 8, frozen: 0 }],
  ])("%s moves units at once, by an entry", (_, command, balances) => {
    const ledger = stocked();
    expect(wordOf(ledger.tell(command))).toBe("accepted");
    expect(ledger.row("A").balances).toMatchObject(balances);
    expect(ledger.book.changes.entries).toHaveLength(1);
    expect(ledger.book.projected).toMatchObject([{ ticketId: null, answer: null }]);
  });

  it.each([
    ["more than is frozen", commands.give("unfreeze", "o1", 5), "NOT_ENOUGH"],
    ["decided on an older version", commands.give("restock", "o1", 5, 2), "VERSION_MOVED"],
    ["a SKU that is not there", { ...commands.give("restock", "o1", 5), sku: skuId("C") }],
  ] as [string, Command, string?][])("is refused: %s", (_, command, code = "SKU_NOT_FOUND") => {
    const ledger = stocked();
    expect(wordOf(ledger.tell(command))).toBe(code);
    expect(changedSomething(ledger)).toBe(false);
  });

  it("is decided on the version that was asked for", () => {
    expect(wordOf(stocked().tell(commands.give("adjust_up", "o1", 5, 3)))).toBe("accepted");
  });

  it("is refused when more than can be counted would come in", () => {
    const ledger = stocked();
    const row = ledger.row("A");
    const sold = levelMax - 10;
    ledger.book.skus.set(row.sku, { ...row, balances: { ...row.balances, sold } });
    expect(wordOf(ledger.tell(commands.give("restock", "o1", 1)))).toBe("NOT_ENOUGH");
  });
});

describe("a count of frozen units", () => {
  it.each([
    [0, { available: 4, frozen: 0, lost: 4 }, ["count_lost"]],
    [3, { available: 7, frozen: 0, lost: 1 }, ["count_found", "count_lost"]],
    [4, { available: 8, frozen: 0, lost: 0 }, ["count_found"]],
    [6, { available: 10, frozen: 0, lost: 0 }, ["count_found", "count_surplus"]],
  ] as [number, Partial<Balances>, string[]][])("that finds %d of 4", (found, after, moves) => {
    const ledger = stocked();
    expect(wordOf(ledger.tell(commands.count("o1", found)))).toBe("accepted");
    expect(ledger.row("A").balances).toMatchObject(after);
    expect(ledger.book.changes.entries.map(({ operation }) => operation)).toEqual(moves);
    expect(wordOf(ledger.tell(commands.count("o1", found)))).toBe("accepted again");
    expect(changedSomething(ledger)).toBe(false);
  });

  it("of nothing that finds nothing is an act without an entry", () => {
    const ledger = new PureLedger();
    ledger.open({ stock: { A: 1 } });
    expect(wordOf(ledger.tell(commands.count("o1", 0)))).toBe("accepted");
    expect(ledger.book.changes.entries).toEqual([]);
    expect(ledger.book.changes.operations).toHaveLength(1);
  });
});

describe("what takes from available comes as a ticket", () => {
  it.each([
    ["withdraw", { available: 1, frozen: 4 }],
    ["adjust_down", { available: 1, frozen: 4 }],
    ["freeze", { available: 1, frozen: 7 }],
  ] as const)("%s", (operation, after) => {
    const ledger = stocked();
    expect(wordOf(ledger.decideTicket(takeTicket(operation, "o1", 3)))).toBe("accepted");
    expect(ledger.row("A").balances).toMatchObject(after);
    expect(ledger.book.projected).toMatchObject([{ ticketId: "take:A:o1", availableDelta: -3 }]);
  });

  it.each([
    ["more than is left", takeTicket("withdraw", "o1", 5), "NOT_ENOUGH"],
    ["another version", takeTicket("withdraw", "o1", 1, { ifVersion: 2 }), "VERSION_MOVED"],
  ])("is refused by an entry that moves nothing: %s", (_, ticket, code) => {
    const ledger = stocked();
    const { balances, version } = ledger.row("A");
    expect(wordOf(ledger.decideTicket(ticket))).toBe(code);
    expect(ledger.row("A")).toMatchObject({ balances, version: version + 1 });
    expect(ledger.book.projected).toMatchObject([{ ticketId: "take:A:o1", availableDelta: 0 }]);
    ledger.tell(commands.give("restock", "o2", 100));
    expect(wordOf(ledger.decideTicket(ticket))).toBe(`${code} again`);
    expect(changedSomething(ledger)).toBe(false);
  });

  it("of a SKU that the ledger does not have can never be decided", () => {
    const ledger = stocked();
    const ticket = takeTicket("withdraw", "o1", 1, { sku: "C" });
    expect(wordOf(ledger.decideTicket(ticket))).toBe("poison");
    expect(changedSomething(ledger)).toBe(false);
  });
});

describe("an operation id", () => {
  const acts: readonly [string, (ledger: PureLedger) => string][] = [
    ["restock 5", (ledger) => wordOf(ledger.tell(commands.give("restock", "o1", 5)))],
    ["restock 6", (ledger) => wordOf(ledger.tell(commands.give("restock", "o1", 6)))],
    ["unfreeze 4", (ledger) => wordOf(ledger.tell(commands.give("unfreeze", "o1", 4)))],
    ["count 4", (ledger) => wordOf(ledger.tell(commands.count("o1", 4)))],
    ["withdraw 1", (ledger) => wordOf(ledger.decideTicket(takeTicket("withdraw", "o1", 1)))],
    ["withdraw 2", (ledger) => wordOf(ledger.decideTicket(takeTicket("withdraw", "o1", 2)))],
    ["freeze 1", (ledger) => wordOf(ledger.decideTicket(takeTicket("freeze", "o1", 1)))],
    ["stop", (ledger) => wordOf(ledger.tell(commands.skuTo("stopped", "o1")))],
  ];
  const pairs = acts.flatMap(([first, one]) =>
    acts.map(([second, two]) => ({ first, second, one, two })),
  );

  it.each(pairs)("of $first then told with $second", ({ first, second, one, two }) => {
    const ledger = stocked();
    expect(one(ledger)).toBe("accepted");
    const { balances } = ledger.row("A");
    expect(two(ledger)).toBe(first === second ? "accepted again" : "KEY_REUSED");
    expect(ledger.row("A").balances).toEqual(balances);
    expect(changedSomething(ledger)).toBe(false);
  });

  it("of a taking that met a conflict gives hot stock's units back", () => {
    const ledger = stocked();
    ledger.tell(commands.give("restock", "o1", 5));
    ledger.decideTicket(takeTicket("withdraw", "o1", 1));
    expect(ledger.book.settled).toMatchObject([{ id: "take:A:o1", answer: null }]);
  });
});
