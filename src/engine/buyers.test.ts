import { describe, expect, it } from "vitest";
import { type Process, quiet, Stage } from "../../test/support/stepped.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { Fault } from "../domain/fault.ts";
import type { Outcome } from "../domain/outcome.ts";
import { operationId, saleId } from "../domain/values.ts";
import type { ReservationView } from "./engine.ts";

/** An outcome in a few words. */
function said(outcome: Outcome<ReservationView>): string {
  const what = outcome.ok ? outcome.value.state : outcome.code;
  return outcome.replayed ? `${what} again` : what;
}

async function started(spec: Parameters<Stage["started"]>[0] = {}): Promise<Process> {
  return (await Stage.open()).started(spec);
}

/** Everything leaves the outbox and never comes out of the lane. */
async function lose(process: Process): Promise<void> {
  await process.relay.step();
  const deliveries = await process.stage.queue.receive(0, { max: 999, waitMs: 0 });
  await process.stage.queue.acknowledge(0, deliveries);
}

describe("a buyer who reserves", () => {
  it("is told reserved only once the ledger has committed it", async () => {
    const process = await started();
    const asked = process.ask("k1");
    await quiet();
    expect(await process.levels()).toMatchObject({ balances: { reserved: 0 } });
    let answer: string | null = null;
    void asked.then((outcome) => {
      answer = said(outcome);
    });
    await process.relay.step();
    await quiet();
    expect(answer).toBeNull();
    await process.write();
    await quiet();
    expect(answer).toBe("reserved");
    expect(await process.levels()).toMatchObject({ balances: { available: 4, reserved: 1 } });
    await process.expectCoherent();
  });

  it("reads the sale once for all who come together, and again after a failure", async () => {
    const process = await started();
    let reads = 0;
    process.bends.ledger.sale = async (id) => {
      reads += 1;
      await quiet();
      if (reads === 1) throw new Fault("OVERLOADED", "too many wait");
      return process.stage.ledger.sale(id);
    };
    const first = [process.ask("k1"), process.ask("k2")];
    for (const refusal of await Promise.allSettled(first)) expect(refusal.status).toBe("rejected");
    const second = ["k3", "k4", "k5"].map((key) => process.ask(key));
    const told = await process.drive(Promise.all(second));
    expect(told.map(said)).toEqual(["reserved", "reserved", "reserved"]);
    expect(reads).toBe(2);
  });

  it("is told pending when the wait is over first, and finds the end under the id", async () => {
    const process = await started();
    const outcome = await process.ask("k1", { A: 2 }, 0);
    expect(said(outcome)).toBe("pending");
    if (!outcome.ok) throw new Error(outcome.code);
    const { id } = outcome.value;
    expect(outcome.value.lines).toEqual(reserveTicket("x", { A: 2 }).lines);
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.state).toBe("pending");
    await process.carry();
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.state).toBe("reserved");
  });

  it("gets the same answer for the same key, and a conflict for other content", async () => {
    const process = await started();
    const first = await process.reserved("k1", { A: 2 });
    const again = await process.reserve("k1", { A: 2 });
    expect(said(again)).toBe("reserved again");
    expect(again).toMatchObject({ value: { id: first.id, expiresAt: first.expiresAt } });
    expect(said(await process.reserve("k1", { A: 1 }))).toBe("KEY_REUSED");
    expect((await process.levels()).balances.reserved).toBe(2);
  });

  it("gets the answer of the key also after the end, as the reservation is now", async () => {
    const process = await started();
    const { id } = await process.reserved("k1");
    await process.engine.settlement.cancel(id, { actor: "ann", reason: "", waitMs: 0 });
    expect(said(await process.reserve("k1"))).toBe("cancelled again");
  });

  it.each([
    ["SALE_NOT_FOUND", {}, { sale: "elsewhere" }],
    ["SKU_NOT_FOUND", { Z: 1 }, {}],
    ["LIMIT_EXCEEDED", { A: 4 }, {}],
    ["SOLD_OUT", { B: 1 }, {}],
  ] as const)("is refused with %s", async (code, cart, more) => {
    const process = await started({ stock: { A: 5, B: 0 }, limit: 3 });
    const request = {
      saleId: saleId("sale" in more ? more.sale : "s"),
      buyerId: reserveTicket("x").buyerId,
      idempotencyKey: operationId("k1"),
      lines: reserveTicket("x", Object.keys(cart).length === 0 ? { A: 1 } : cart).lines,
    };
    const outcome = await process.drive(process.engine.buyers.reserve(request, { waitMs: 100 }));
    expect(said(outcome)).toBe(code);
    expect(process.parts.decisions.waiting).toBe(0);
  });

  it("is told the conflict when other content was decided first, after a loss", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 1 }, 0);
    await process.relay.step();
    // The message is under way; hot stock forgets everything and is loaded without it.
    const kept = await process.stage.queue.receive(0, { max: 99, waitMs: 0 });
    process.stage.memory.flush();
    const rebuilding = process.rebuilder.step();
    await rebuilding;
    await process.carry();
    await process.rebuild();
    expect(said(first)).toBe("pending");
    const waits = [0, 1_000];
    const answers = waits.map((waitMs) => process.ask("k1", { A: 2 }, waitMs));
    expect(said((await answers[0]) ?? first)).toBe("pending");
    await process.stage.queue.release(0, kept);
    await process.stage.ledger.commit([
      {
        kind: "ticket",
        stamp: { lane: 0, epoch: process.parts.fences.get(0)?.epoch ?? (0 as never) },
        ticket: { ...reserveTicket("x", { A: 1 }), id: first.ok ? first.value.id : ("" as never) },
        admittedAt: 1,
        sentAt: 1,
        attempt: 1,
      },
    ]);
    expect(said(await process.drive(answers[1] ?? process.ask("k1")))).toBe("KEY_REUSED");
    expect(said(await process.reserve("k1", { A: 2 }))).toBe("KEY_REUSED");
    expect(said(await process.ask("k1", { A: 2 }, 0))).toBe("KEY_REUSED");
  });

  it("is told closed while hot stock is rebuilt, and the answer if there is one", async () => {
    const process = await started();
    await process.reserved("k1");
    process.stage.memory.flush();
    expect(said(await process.ask("k2"))).toBe("STOCK_CLOSED");
    expect(said(await process.ask("k1"))).toBe("reserved again");
    await process.rebuild();
    expect(said(await process.reserve("k2"))).toBe("reserved");
    await process.expectCoherent();
  });

  it("has the lane doubted when hot stock lacks a sale that the ledger has open", async () => {
    const process = await started();
    process.stage.memory.tamper(0, (state) => state.policies.clear());
    expect(said(await process.ask("k1"))).toBe("STOCK_CLOSED");
    expect(process.parts.fences.cause(0)).toContain("missing");
    await process.rebuild();
    expect(said(await process.reserve("k1"))).toBe("reserved");
  });
});

describe("the sold-out gate", () => {
  /** How often hot stock is asked to admit, and how many tickets. */
  function count(process: Process): { tickets: number; questions: number } {
    const counted = { tickets: 0, questions: 0 };
    process.bends.hot.admit = (fence, tickets) => {
      counted.tickets += tickets.length;
      return process.stage.memory.admit(fence, tickets);
    };
    process.bends.hot.leftOf = (fence, skus) => {
      counted.questions += 1;
      return process.stage.memory.leftOf(fence, skus);
    };
    return counted;
  }

  it("refuses together whoever comes once nothing is left", async () => {
    const process = await started({ stock: { A: 1 } });
    await process.reserved("k1");
    expect(said(await process.reserve("k2"))).toBe("SOLD_OUT");
    const counted = count(process);
    const crowd = await Promise.all(Array.from({ length: 500 }, (_, n) => process.ask(`c${n}`)));
    expect(new Set(crowd.map(said))).toEqual(new Set(["SOLD_OUT"]));
    expect(counted.tickets).toBe(0);
    expect(counted.questions).toBeLessThanOrEqual(2);
    expect(process.parts.decisions.waiting).toBe(0);
  });

  it("lets those through who have an answer", async () => {
    const process = await started({ stock: { A: 1 } });
    await process.reserved("k1");
    await process.reserve("k2");
    expect(said(await process.reserve("k1"))).toBe("reserved again");
    expect(said(await process.reserve("k1", { A: 2 }))).toBe("KEY_REUSED");
  });

  it("opens when units come back", async () => {
    const process = await started({ stock: { A: 1 } });
    const { id } = await process.reserved("k1");
    expect(said(await process.reserve("k2"))).toBe("SOLD_OUT");
    await process.engine.settlement.cancel(id, { actor: "ann", reason: "", waitMs: 0 });
    expect(said(await process.reserve("k3"))).toBe("reserved");
  });

  it("learns of what another process gave back, sold, and answered", async () => {
    const stage = await Stage.open();
    const one = await stage.started({ stock: { A: 1 } });
    const { id } = await one.reserved("k1");
    const two = await stage.process();
    expect(said(await two.reserve("k2"))).toBe("SOLD_OUT");
    await one.engine.settlement.cancel(id, { actor: "ann", reason: "", waitMs: 0 });
    expect(said(await one.reserve("k3"))).toBe("reserved");
    expect(said(await two.reserve("k3"))).toBe("reserved again");
    expect(said(await two.reserve("k4"))).toBe("SOLD_OUT");
  });

  it("means another epoch no longer", async () => {
    const process = await started({ stock: { A: 1 } });
    await process.reserved("k1");
    await process.reserve("k2");
    process.parts.fences.doubt(0, "a test");
    await process.rebuild();
    const counted = count(process);
    expect(said(await process.reserve("k2"))).toBe("SOLD_OUT");
    expect(counted.tickets).toBe(1);
  });
});

describe("an id that is looked up", () => {
  it.each(["", "x", "0.abc", "../etc", "0.OiKzYUv-VQqfDyl-MqiRCz.CZHyR4"])(
    "and is not ours is nothing, and no store is touched: %j",
    async (id) => {
      const process = await started();
      const never = (): never => {
        throw new Error("a store was touched");
      };
      process.bends.ledger.order = never;
      process.bends.hot.lookup = never;
      expect(await process.engine.buyers.reservation(id, { waitMs: 10 })).toBeNull();
      expect(await process.engine.buyers.timeline(id)).toBeNull();
      const outcome = await process.confirm(id);
      expect(said(outcome)).toBe("RESERVATION_NOT_FOUND");
    },
  );

  it("and whose ticket was lost is voided; its late message is too late", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 1 }, 0);
    if (!first.ok) throw new Error(first.code);
    const { id } = first.value;
    await process.relay.step();
    const late = await process.stage.queue.receive(0, { max: 99, waitMs: 0 });
    process.stage.memory.flush();
    await process.rebuild();
    const seen = await process.drive(process.engine.buyers.reservation(id, { waitMs: 1_000 }));
    expect(seen?.state).toBe("void");
    await process.stage.queue.release(0, late);
    await process.carry();
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.state).toBe("void");
    expect(said(await process.reserve("k1"))).toBe("VOID again");
    expect(await process.levels()).toMatchObject({ balances: { available: 5 }, drift: 0 });
    await process.expectCoherent();
  });

  it("is voided at last though the broker loses the void, on a quiet lane", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 1 }, 0);
    if (!first.ok) throw new Error(first.code);
    const { id } = first.value;
    process.stage.memory.flush();
    await process.rebuild();
    const look = () => process.engine.buyers.reservation(id, { waitMs: 0 });
    expect((await look())?.state).toBe("pending");
    await lose(process);
    expect((await look())?.state).toBe("pending");
    await process.carry();
    expect((await look())?.state).toBe("pending");
    await process.reconciler.step();
    await process.carry();
    await look();
    await process.carry();
    expect((await look())?.state).toBe("void");
  });

  it("is not voided while hot stock is closed or silent: that proves nothing", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 1 }, 0);
    if (!first.ok) throw new Error(first.code);
    const { id } = first.value;
    const asked: string[] = [];
    process.bends.hot.enqueue = async (fence, item) => {
      asked.push(item.kind);
      return process.stage.memory.enqueue(fence, item);
    };
    process.stage.memory.restart(process.stage.memory.copy());
    process.stage.memory.tamper(0, (state) => state.tickets.clear());
    const seen = await process.engine.buyers.reservation(id, { waitMs: 0 });
    expect(seen?.state).toBe("pending");
    expect((await process.stage.memory.outbox(0, 9)).items.map(({ item }) => item.kind)).toEqual([
      "ticket",
    ]);
    process.stage.memory.flush();
    asked.length = 0;
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.state).toBe("pending");
    expect(asked).toEqual([]);
  });
});
