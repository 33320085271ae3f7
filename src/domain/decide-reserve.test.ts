import { describe, expect, it } from "vitest";
import { changedSomething, commands, inLane, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import { type Cart, reserveTicket, reviveTicket, takeTicket } from "../../test/support/tickets.ts";
import type { Command } from "./command.ts";
import { decide } from "./decide.ts";
import type { Ticket } from "./ticket.ts";
import { epoch, skuId } from "./values.ts";

function sale(stock: Readonly<Record<string, number>>, limit?: number): PureLedger {
  const ledger = new PureLedger();
  ledger.open(limit === undefined ? { stock } : { stock, limit });
  return ledger;
}

function stop(ledger: PureLedger): void {
  ledger.tell(commands.skuTo("stopped"));
}

describe("a reservation", () => {
  it("holds all of its lines, or none", () => {
    const ledger = sale({ A: 5, B: 1 });
    expect(wordOf(ledger.decideTicket(reserveTicket("r1", { A: 2, B: 1 })))).toBe("accepted");
    expect(wordOf(ledger.decideTicket(reserveTicket("r2", { A: 2, B: 1 })))).toBe("SOLD_OUT");
    expect(ledger.row("A").balances).toMatchObject({ available: 3, reserved: 2 });
    expect(ledger.row("B").balances).toMatchObject({ available: 0, reserved: 1 });
    expect(ledger.order("r1").expiresAt).toBe(ledger.book.now + 60_000);
  });

  it("that is rejected is an entry of each of its SKUs, which moves nothing", () => {
    const ledger = sale({ A: 5, B: 0 });
    ledger.decideTicket(reserveTicket("r1", { A: 2, B: 1 }));
    expect(ledger.book.projected).toMatchObject([
      { sku: "A", version: 2, availableDelta: 0, unitsDelta: 0, ticketId: "r1" },
      { sku: "B", version: 1, availableDelta: 0, unitsDelta: 0, ticketId: "r1" },
    ]);
    expect(ledger.book.projected[0]?.answer).toMatchObject({ state: "rejected", skus: ["A", "B"] });
    expect(ledger.order("r1")).toMatchObject({ state: "rejected", expiresAt: null });
  });

  it("is remembered with the version of each SKU that decided it", () => {
    const ledger = sale({ A: 5, B: 5 });
    ledger.decideTicket(reserveTicket("r0", { A: 1 }));
    ledger.decideTicket(reserveTicket("r1", { A: 1, B: 1 }));
    ledger.decideTicket(reserveTicket("r2", { A: 1 }));
    ledger.decideTicket(reserveTicket("r1", { A: 1, B: 1 }));
    const [settled] = ledger.book.settled;
    expect([...(settled?.versions ?? [])]).toEqual([
      ["A", 3],
      ["B", 2],
    ]);
    expect(settled?.answer).toMatchObject({ id: "r1", state: "reserved" });
  });

  it("is never overtaken by other content under its id", () => {
    const ledger = sale({ A: 5 });
    ledger.decideTicket(reserveTicket("r1", { A: 1 }));
    expect(wordOf(ledger.decideTicket(reserveTicket("r1", { A: 4 })))).toBe("accepted again");
    expect(changedSomething(ledger)).toBe(false);
    expect(ledger.row("A").balances).toMatchObject({ available: 4, reserved: 1 });
  });

  it.each<[string, (ledger: PureLedger) => void, Cart, string]>([
    ["stopped before sold out", stop, { Z: 1, A: 1 }, "SALE_PAUSED"],
    ["sold out before the limit", () => {}, { A: 9, Z: 1 }, "SOLD_OUT"],
    ["the limit before too few", () => {}, { A: 9 }, "LIMIT_EXCEEDED"],
    ["too few", () => {}, { B: 2 }, "SOLD_OUT"],
  ])("is rejected in order of precedence: %s", (_, prepare, cart, code) => {
    const ledger = sale({ A: 5, B: 1, Z: 0 }, 3);
    prepare(ledger);
    expect(wordOf(ledger.decideTicket(reserveTicket("r1", cart)))).toBe(code);
  });

  it("counts what its buyer holds or owns, in this commit and before", () => {
    const ledger = sale({ A: 9 }, 2);
    const codes: string[] = [];
    for (const name of ["a", "b", "c"]) {
      const ticket = reserveTicket(name, { A: 1 });
      const times = { admittedAt: 1, sentAt: 1, attempt: 1 };
      codes.push(wordOf(decide(ledger.book, { kind: "ticket", stamp: inLane, ticket, ...times })));
    }
    expect(codes).toEqual(["accepted", "accepted", "LIMIT_EXCEEDED"]);
    const other = reserveTicket("d", { A: 2 }, { buyer: "bob" });
    expect(wordOf(ledger.decideTicket(other))).toBe("accepted");
  });

  it("of an unknown sale or SKU can never be decided", () => {
    const ledger = sale({ A: 1 });
    const other = reserveTicket("r1", { A: 1 }, { sale: "elsewhere" });
    expect(ledger.decideTicket(other)).toMatchObject({ status: "poison" });
    expect(ledger.decideTicket(reserveTicket("r1", { C: 1 }))).toMatchObject({ status: "poison" });
    expect(changedSomething(ledger)).toBe(false);
  });
});

describe("the barrier", () => {
  const meet = (n: number): Command => ({ kind: "barrier", lane: 0, epoch: epoch(n) });
  const stale: readonly [string, Command][] = [
    ["a ticket", commands.reserve()],
    ["a void", commands.void()],
    ["a cancellation in the lane", commands.cancel(true)],
  ];

  it.each(stale)("that was met makes %s of an older epoch decide nothing", (_, command) => {
    const ledger = sale({ A: 5 });
    ledger.tell(meet(2));
    expect(wordOf(ledger.tell(command))).toBe("stale");
    expect(changedSomething(ledger)).toBe(false);
    expect(ledger.book.settled).toEqual([]);
  });

  it.each(stale)("lets %s of the very epoch be decided", (_, command) => {
    const ledger = sale({ A: 5 });
    ledger.tell(meet(2));
    const { book } = ledger;
    ledger.tell({ ...command, stamp: { lane: 0, epoch: epoch(2) } } as Command);
    expect(ledger.book.orders.size).toBe(book.orders.size + 1);
  });

  it("does not stand in the way of what does not come out of the lane", () => {
    const ledger = sale({ A: 5 });
    ledger.tell(commands.reserve());
    ledger.tell(meet(2));
    expect(wordOf(ledger.tell(commands.cancel()))).toBe("accepted");
  });

  it("is met once, and never lowers", () => {
    const ledger = sale({ A: 5 });
    expect(wordOf(ledger.tell(meet(3)))).toBe("accepted");
    expect(wordOf(ledger.tell(meet(3)))).toBe("accepted again");
    expect(wordOf(ledger.tell(meet(2)))).toBe("accepted again");
    expect(changedSomething(ledger)).toBe(false);
    expect(ledger.book.lanes.get(0)?.met).toBe(3);
  });
});

describe("a void", () => {
  const giveUp = (ticket: Ticket): Command => ({
    kind: "void",
    stamp: inLane,
    id: ticket.id,
    ticket,
    reason: "lost",
  });

  it("ends an id that nobody knows; its ticket finds the end when it comes", () => {
    const ledger = sale({ A: 5 });
    expect(wordOf(ledger.tell(commands.void()))).toBe("VOID");
    expect(ledger.book.settled).toMatchObject([{ id: "r1", answer: { state: "void" } }]);
    expect(wordOf(ledger.decideTicket(reserveTicket("r1")))).toBe("accepted again");
    expect(ledger.book.settled).toMatchObject([{ id: "r1", answer: { fingerprint: null } }]);
    expect(ledger.order("r1").state).toBe("void");
    expect(ledger.row("A").balances.available).toBe(5);
  });

  it("of a ticket that was never decided frees it for its buyer", () => {
    const ledger = sale({ A: 5 });
    expect(wordOf(ledger.tell(giveUp(reserveTicket("r1"))))).toBe("VOID");
    expect([...(ledger.book.settled[0]?.versions ?? [])]).toEqual([]);
  });

  it("of an operator's ticket is the answer to its operation id for ever", () => {
    const ledger = sale({ A: 5 });
    const ticket = takeTicket("withdraw", "o1", 2);
    expect(wordOf(ledger.tell(giveUp(ticket)))).toBe("VOID");
    expect(wordOf(ledger.tell(giveUp(ticket)))).toBe("VOID again");
    expect(wordOf(ledger.decideTicket(ticket))).toBe("VOID again");
    expect(ledger.book.settled).toMatchObject([{ id: "take:A:o1" }]);
    expect(ledger.row("A").balances.available).toBe(5);
  });

  it("of a late payment makes it due back, once", () => {
    const ledger = sale({ A: 5 });
    ledger.tell(commands.reserve());
    ledger.pass(60_000);
    ledger.tell(commands.expire());
    const ticket = reviveTicket("r1", "p1");
    expect(wordOf(ledger.tell(giveUp(ticket)))).toBe("REFUND_DUE");
    expect(wordOf(ledger.tell(giveUp(ticket)))).toBe("REFUND_DUE again");
    expect(ledger.book.paymentsOf("r1")).toMatchObject([{ state: "due", paymentId: "p1" }]);
    expect(wordOf(ledger.decideTicket(ticket))).toBe("REFUND_DUE again");
    expect(wordOf(ledger.tell(commands.confirm("p1")))).toBe("REFUND_DUE again");
  });

  it("of a late payment for an order that is not there ends it all the same", () => {
    const ledger = sale({ A: 5 });
    const ticket = reviveTicket("r9", "p1");
    expect(wordOf(ledger.decideTicket(ticket))).toBe("poison");
    expect(wordOf(ledger.tell(giveUp(ticket)))).toBe("REFUND_DUE");
    expect(ledger.book.settled).toMatchObject([{ id: "revive:r9:p1" }]);
    expect(ledger.book.changes.payments.size).toBe(0);
  });

  it("loses against a decision that was first", () => {
    const ledger = sale({ A: 5 });
    ledger.tell(commands.reserve());
    expect(wordOf(ledger.tell(commands.void()))).toBe("accepted again");
    expect(ledger.order("r1").state).toBe("reserved");
    const [settled] = ledger.book.settled;
    expect(settled?.versions.get(skuId("A"))).toBe(2);
  });
});

describe("the entries of a SKU", () => {
  it("are chained, without a gap, and each holds the balances after it", () => {
    const ledger = sale({ A: 5 });
    ledger.tell(commands.reserve({ A: 2 }));
    ledger.tell(commands.confirm());
    ledger.tell(commands.refund());
    ledger.decideTicket(reserveTicket("r2", { A: 9 }));
    const { entries } = ledger;
    for (const [index, entry] of entries.entries()) {
      expect(entry.version).toBe(index + 1);
      expect(entry.previousHash).toBe(entries[index - 1]?.hash ?? "0".repeat(64));
    }
    const sum = entries.reduce((total, { availableDelta }) => total + availableDelta, 0);
    expect(sum).toBe(ledger.row("A").balances.available);
    expect(ledger.row("A")).toMatchObject({ version: 5, hash: entries.at(-1)?.hash });
  });
});
