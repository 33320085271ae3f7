import { describe, expect, it } from "vitest";
import { changedSomething, commands, id, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import { reserveTicket, reviveTicket } from "../../test/support/tickets.ts";
import type { Command } from "./command.ts";
import type { DecidedState } from "./reservation.ts";
import { totalOf } from "./stock.ts";

const holdMs = 60_000;
type Stage = "unknown" | "overdue" | "partly" | DecidedState;

/** A ledger whose order `r1` (two units of A) has come to this stage. */
function ledgerAt(stage: Stage): PureLedger {
  const ledger = new PureLedger();
  ledger.open({ stock: { A: 10, B: 10 }, limit: 4 });
  if (stage === "unknown") return ledger;
  if (stage === "void") ledger.tell(commands.void());
  else ledger.tell(commands.reserve({ A: stage === "rejected" ? 5 : 2 }));
  if (stage === "overdue" || stage === "expired") ledger.pass(holdMs);
  if (stage === "expired") ledger.tell(commands.expire());
  if (stage === "cancelled") ledger.tell(commands.cancel());
  if (["confirmed", "partly", "refunded"].includes(stage)) ledger.tell(commands.confirm("p0"));
  if (stage === "partly") ledger.tell(commands.refund("f0", { A: 1 }));
  if (stage === "refunded") ledger.tell(commands.refund("f0"));
  return ledger;
}

/** Command × stage → answer; then the state, if it is another. */
const table: Readonly<Record<string, [Command, Partial<Record<Stage, string>>]>> = {
  reserve: [
    commands.reserve({ A: 2 }),
    {
      unknown: "accepted → reserved",
      reserved: "accepted again",
      overdue: "accepted again",
      confirmed: "accepted again",
      partly: "accepted again",
      refunded: "accepted again",
      rejected: "LIMIT_EXCEEDED again",
      cancelled: "accepted again",
      expired: "accepted again",
      void: "accepted again",
    },
  ],
  void: [
    commands.void(),
    {
      unknown: "VOID → void",
      reserved: "accepted again",
      overdue: "accepted again",
      confirmed: "accepted again",
      partly: "accepted again",
      refunded: "accepted again",
      rejected: "LIMIT_EXCEEDED again",
      cancelled: "accepted again",
      expired: "accepted again",
      void: "accepted again",
    },
  ],
  confirm: [
    commands.confirm("p1"),
    {
      unknown: "unknown",
      reserved: "accepted → confirmed",
      overdue: "late → expired",
      confirmed: "ALREADY_PAID",
      partly: "ALREADY_PAID",
      refunded: "REFUND_DUE",
      rejected: "REFUND_DUE",
      cancelled: "REFUND_DUE",
      expired: "late",
      void: "REFUND_DUE",
    },
  ],
  "refuse-late": [
    commands.refuseLate("p1"),
    {
      unknown: "unknown",
      reserved: "WRONG_STATE",
      overdue: "WRONG_STATE",
      confirmed: "ALREADY_PAID",
      partly: "ALREADY_PAID",
      refunded: "REFUND_DUE",
      rejected: "REFUND_DUE",
      cancelled: "REFUND_DUE",
      expired: "REFUND_DUE",
      void: "REFUND_DUE",
    },
  ],
  cancel: [
    commands.cancel(),
    {
      unknown: "unknown",
      reserved: "accepted → cancelled",
      overdue: "WRONG_STATE → expired",
      confirmed: "WRONG_STATE",
      partly: "WRONG_STATE",
      refunded: "WRONG_STATE",
      rejected: "WRONG_STATE",
      cancelled: "accepted again",
      expired: "WRONG_STATE",
      void: "WRONG_STATE",
    },
  ],
  "cancel in the lane": [
    commands.cancel(true),
    {
      unknown: "accepted → cancelled",
      reserved: "accepted → cancelled",
      overdue: "WRONG_STATE → expired",
      confirmed: "WRONG_STATE",
      partly: "WRONG_STATE",
      refunded: "WRONG_STATE",
      rejected: "WRONG_STATE",
      cancelled: "accepted again",
      expired: "WRONG_STATE",
      void: "WRONG_STATE",
    },
  ],
  expire: [
    commands.expire(),
    {
      unknown: "unknown",
      reserved: "accepted again",
      overdue: "accepted → expired",
      confirmed: "accepted again",
      partly: "accepted again",
      refunded: "accepted again",
      rejected: "accepted again",
      cancelled: "accepted again",
      expired: "accepted again",
      void: "accepted again",
    },
  ],
  extend: [
    commands.extend(),
    {
      unknown: "unknown",
      reserved: "accepted",
      overdue: "WRONG_STATE",
      confirmed: "WRONG_STATE",
      partly: "WRONG_STATE",
      refunded: "WRONG_STATE",
      rejected: "WRONG_STATE",
      cancelled: "WRONG_STATE",
      expired: "WRONG_STATE",
      void: "WRONG_STATE",
    },
  ],
  refund: [
    commands.refund("f1"),
    {
      unknown: "unknown",
      reserved: "WRONG_STATE",
      overdue: "WRONG_STATE",
      confirmed: "accepted → refunded",
      partly: "accepted → refunded",
      refunded: "WRONG_STATE",
      rejected: "WRONG_STATE",
      cancelled: "WRONG_STATE",
      expired: "WRONG_STATE",
      void: "WRONG_STATE",
    },
  ],
  "settle-payment": [
    commands.settle(),
    {
      unknown: "unknown",
      reserved: "WRONG_STATE",
      overdue: "WRONG_STATE",
      confirmed: "WRONG_STATE",
      partly: "WRONG_STATE",
      refunded: "WRONG_STATE",
      rejected: "WRONG_STATE",
      cancelled: "WRONG_STATE",
      expired: "WRONG_STATE",
      void: "WRONG_STATE",
    },
  ],
};
const rows = Object.entries(table).flatMap(([name, [command, answers]]) =>
  Object.entries(answers).map(([stage, said]) => ({ name, command, stage: stage as Stage, said })),
);

describe("an order", () => {
  it.each(rows)("that is $stage answers $name: $said", ({ command, stage, said }) => {
    const ledger = ledgerAt(stage);
    const before = ledger.book.orders.get(id)?.state ?? "unknown";
    const total = totalOf(ledger.row("A").balances);

    const word = wordOf(ledger.tell(command));

    const after = ledger.book.orders.get(id)?.state ?? "unknown";
    expect(before === after ? word : `${word} → ${after}`).toBe(said);
    expect(totalOf(ledger.row("A").balances)).toBe(total);
  });

  const refusals = rows.filter(({ said }) => /^(WRONG_STATE|unknown|\S+ again)$/.test(said));
  it.each(refusals)("that is $stage is not changed by $name", ({ command, stage }) => {
    const ledger = ledgerAt(stage);
    ledger.tell(command);
    expect(changedSomething(ledger)).toBe(false);
  });

  it.each(rows)("that is $stage is changed by $name once", ({ command, stage }) => {
    const ledger = ledgerAt(stage);
    ledger.tell(command);
    const { orders, skus } = ledger.book;
    ledger.tell(command);
    expect(changedSomething(ledger)).toBe(false);
    expect(ledger.book.orders).toEqual(orders);
    expect(ledger.book.skus).toEqual(skus);
  });
});

describe("a payment", () => {
  it.each([
    ["reserved", "accepted again", "taken"],
    ["confirmed", "ALREADY_PAID again", "due"],
    ["cancelled", "REFUND_DUE again", "due"],
    ["void", "REFUND_DUE again", "due"],
  ] as const)("of an order that was %s is answered for ever: %s", (stage, said, state) => {
    const ledger = ledgerAt(stage);
    ledger.tell(commands.confirm("p1"));
    ledger.pass(holdMs * 10);
    expect(wordOf(ledger.tell(commands.confirm("p1")))).toBe(said);
    expect(wordOf(ledger.tell(commands.refuseLate("p1")))).toBe(said);
    const known = ledger.book.paymentsOf(id).filter(({ paymentId }) => paymentId === "p1");
    expect(known.map((payment) => payment.state)).toEqual([state]);
  });

  it("is in time until the deadline, and late from its millisecond on", () => {
    const early = ledgerAt("reserved");
    early.pass(holdMs - 1);
    expect(wordOf(early.tell(commands.confirm()))).toBe("accepted");
    const late = ledgerAt("reserved");
    late.pass(holdMs);
    expect(wordOf(late.tell(commands.confirm()))).toBe("late");
    expect(late.row("A").balances).toMatchObject({ available: 10, reserved: 0 });
  });

  it("that is due back goes back once", () => {
    const ledger = ledgerAt("cancelled");
    ledger.tell(commands.confirm("p2"));
    expect(wordOf(ledger.tell(commands.settle("f9", "p2")))).toBe("accepted");
    expect(wordOf(ledger.tell(commands.settle("f9", "p2")))).toBe("accepted again");
    expect(wordOf(ledger.tell(commands.settle("f8", "p2")))).toBe("WRONG_STATE");
    expect(wordOf(ledger.tell(commands.settle("f9", "p3")))).toBe("KEY_REUSED");
    expect(ledger.book.paymentsOf(id)).toMatchObject([{ state: "refunded", refundId: "f9" }]);
    expect(wordOf(ledger.tell(commands.confirm("p2")))).toBe("REFUND_DUE again");
  });
});

describe("a late payment", () => {
  const revive = (payment: string) => reviveTicket("r1", payment, { A: 2 });

  it("sells the units again if they are free and the limit is kept", () => {
    const ledger = ledgerAt("expired");
    expect(wordOf(ledger.decideTicket(revive("p1")))).toBe("accepted");
    expect(ledger.order("r1")).toMatchObject({
      state: "confirmed",
      paymentId: "p1",
      revived: true,
    });
    expect(ledger.row("A").balances).toMatchObject({ available: 8, sold: 2 });
    expect(wordOf(ledger.decideTicket(revive("p1")))).toBe("accepted again");
    expect(wordOf(ledger.tell(commands.confirm("p1")))).toBe("accepted again");
    expect(wordOf(ledger.decideTicket(revive("p2")))).toBe("ALREADY_PAID");
    expect(ledger.row("A").balances).toMatchObject({ available: 8, sold: 2 });
  });

  it.each([
    ["nothing is left", { buyer: "bob", carts: [4, 4, 2] }],
    ["the buyer has reached the limit meanwhile", { buyer: "ann", carts: [3] }],
  ])("is due back when %s", (_, { buyer, carts }) => {
    const ledger = ledgerAt("expired");
    for (const [index, units] of carts.entries()) {
      const who = buyer === "ann" ? buyer : `${buyer}${index}`;
      ledger.decideTicket(reserveTicket(`o${index}`, { A: units }, { buyer: who }));
    }
    const { balances } = ledger.row("A");
    expect(wordOf(ledger.decideTicket(revive("p1")))).toBe("REFUND_DUE");
    expect(ledger.row("A").balances).toEqual(balances);
    expect(ledger.book.paymentsOf(id)).toMatchObject([{ state: "due", code: "REFUND_DUE" }]);
    expect(ledger.order("r1").state).toBe("expired");
    expect(ledger.book.projected).toMatchObject([{ ticketId: "revive:r1:p1", availableDelta: 0 }]);
    expect(wordOf(ledger.decideTicket(revive("p1")))).toBe("REFUND_DUE again");
  });

  it("is not mistaken for an extension or a refund that has its id", () => {
    const ledger = ledgerAt("reserved");
    ledger.tell(commands.extend("7", 1));
    ledger.pass(holdMs * 2);
    ledger.tell(commands.expire());
    expect(wordOf(ledger.tell(commands.confirm("7")))).toBe("late");
    expect(wordOf(ledger.decideTicket(revive("7")))).toBe("accepted");
    expect(ledger.order("r1").state).toBe("confirmed");
    expect(wordOf(ledger.tell(commands.refund("7")))).toBe("KEY_REUSED");
    expect(wordOf(ledger.tell(commands.refund("8")))).toBe("accepted");
  });
});

describe("an extension", () => {
  it("moves the deadline once, by its id", () => {
    const ledger = ledgerAt("reserved");
    const before = ledger.order("r1").expiresAt ?? 0;
    ledger.tell(commands.extend("x1", 30));
    expect(wordOf(ledger.tell(commands.extend("x1", 30)))).toBe("accepted again");
    expect(wordOf(ledger.tell(commands.extend("x1", 31)))).toBe("KEY_REUSED");
    expect(ledger.order("r1").expiresAt).toBe(before + 30_000);
    ledger.tell(commands.extend("x2", 10));
    expect(ledger.order("r1").expiresAt).toBe(before + 40_000);
  });
});

describe("damage", () => {
  it.each([
    ["pay", commands.confirm()],
    ["cancel", commands.cancel()],
  ])("stops who would %s: nothing is changed and a person looks", (_, command) => {
    const ledger = ledgerAt("reserved");
    const row = ledger.row("A");
    ledger.book.skus.set(row.sku, { ...row, balances: { ...row.balances, reserved: 1 } });
    const result = ledger.tell(command);
    expect(result).toMatchObject({ status: "broken", sku: "A" });
    expect(changedSomething(ledger)).toBe(false);
  });
});
