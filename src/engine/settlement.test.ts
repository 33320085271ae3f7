import { describe, expect, it } from "vitest";
import { type Process, type SaleSpec, Stage } from "../../test/support/stepped.ts";
import { linesOf } from "../../test/support/tickets.ts";
import type { Outcome } from "../domain/outcome.ts";
import { operationId } from "../domain/values.ts";
import type { ReservationView } from "./engine.ts";

const acting = { actor: "shop", reason: "because" };

function said(outcome: Outcome<ReservationView>): string {
  const what = outcome.ok ? outcome.value.state : outcome.code;
  return outcome.replayed ? `${what} again` : what;
}

async function started(spec: SaleSpec = {}): Promise<Process> {
  return (await Stage.open()).started(spec);
}

function cancel(process: Process, id: string, waitMs = 0) {
  return process.engine.settlement.cancel(id, { ...acting, waitMs });
}

async function expired(process: Process, key = "k1", units = 2): Promise<string> {
  const { id } = await process.reserved(key, { A: units });
  process.stage.clock.advance(60_000);
  await process.expirer.step();
  return id;
}

describe("a late payment", () => {
  it("takes the units again, the buyers' way", async () => {
    const process = await started();
    const id = await expired(process);
    expect(said(await process.confirm(id))).toBe("confirmed");
    const view = await process.engine.buyers.reservation(id, { waitMs: 0 });
    expect(view).toMatchObject({ revived: true, paymentId: "p1", refundDue: [] });
    expect(await process.levels()).toMatchObject({
      balances: { available: 3, sold: 2 },
      hot: { available: 3, inFlight: 0 },
    });
    expect(said(await process.confirm(id))).toBe("confirmed again");
    await process.expectCoherent();
  });

  it("is due back when hot stock has nothing left, and stays so", async () => {
    const process = await started({ stock: { A: 2 } });
    const id = await expired(process);
    const other = await process.reserved("k2", { A: 2 });
    expect(said(await process.confirm(id))).toBe("REFUND_DUE");
    await cancel(process, other.id);
    expect(said(await process.confirm(id))).toBe("REFUND_DUE again");
    const view = await process.engine.buyers.reservation(id, { waitMs: 0 });
    expect(view?.refundDue).toMatchObject([{ paymentId: "p1", state: "due" }]);
    const refund = {
      kind: "payment",
      refundId: operationId("f1"),
      paymentId: operationId("p1"),
    } as const;
    expect((await process.engine.settlement.refund(id, refund, acting)).ok).toBe(true);
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.refundDue).toEqual([]);
    await process.expectCoherent();
  });

  it("is due back over the buyer's limit", async () => {
    const process = await started({ limit: 2 });
    const { id } = await process.reserved("k1", { A: 2 });
    process.stage.clock.advance(60_000);
    await process.expirer.step();
    const again = await process.reserve("k2", { A: 1 }, "k1");
    expect(again.ok).toBe(true);
    expect(said(await process.confirm(id))).toBe("REFUND_DUE");
    await process.expectCoherent();
  });

  it("is told to ask again, and nothing is due, while hot stock is closed", async () => {
    const process = await started();
    const id = await expired(process);
    process.stage.memory.flush();
    expect(said(await process.confirm(id))).toBe("STOCK_CLOSED");
    expect((await process.engine.buyers.reservation(id, { waitMs: 0 }))?.payments).toEqual([]);
    await process.rebuild();
    expect(said(await process.confirm(id))).toBe("confirmed");
  });

  it("that the lane does not decide in time is told again, and decided once", async () => {
    const process = await started();
    const id = await expired(process);
    const paid = { paymentId: operationId("p1"), paidAt: null };
    const relay = process.stage.memory.outbox.bind(process.stage.memory);
    process.bends.hot.outbox = async (lane) => relay(lane, 0);
    const asked = process.engine.settlement.confirm(id, paid, acting);
    expect(said(await process.drive(asked))).toBe("BUSY");
    delete process.bends.hot.outbox;
    expect(said(await process.confirm(id))).toBe("confirmed");
    expect((await process.levels()).balances).toMatchObject({ available: 3, sold: 2 });
  });

  it("of the very deadline is late, whoever comes first", async () => {
    const process = await started({ stock: { A: 1 } });
    const { id } = await process.reserved("k1", { A: 1 });
    process.stage.clock.advance(60_000);
    const view = await process.engine.buyers.reservation(id, { waitMs: 0 });
    expect(view?.state).toBe("expired");
    expect(said(await process.confirm(id))).toBe("confirmed");
    const { entries } = await import("../../test/support/coherent.ts").then(({ worldOf }) =>
      worldOf(process.parts),
    );
    const operations = entries.map(({ operation }) => operation);
    expect(operations).toEqual(["restock", "reserve", "expire", "revive"]);
  });
});

describe("a cancellation", () => {
  it("of a pending ticket goes through the lane behind it, and gives all back", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    const outcome = await process.drive(cancel(process, first.value.id, 1_000));
    expect(said(outcome)).toBe("cancelled");
    expect(await process.levels()).toMatchObject({
      balances: { available: 5, reserved: 0 },
      hot: { available: 5, inFlight: 0 },
      version: 3,
    });
    await process.expectCoherent();
  });

  it("that is not waited for is pending, and done all the same", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    expect(said(await cancel(process, first.value.id))).toBe("pending");
    await process.carry();
    const view = await process.engine.buyers.reservation(first.value.id, { waitMs: 0 });
    expect(view?.state).toBe("cancelled");
  });

  it("that overtook its ticket ends the id; the ticket finds that and is dropped", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    await process.relay.step();
    const late = await process.stage.queue.receive(0, { max: 9, waitMs: 0 });
    expect(said(await process.drive(cancel(process, first.value.id, 500)))).toBe("cancelled");
    await process.stage.queue.release(0, late);
    await process.carry();
    expect(await process.levels()).toMatchObject({
      balances: { available: 5, reserved: 0 },
      hot: { available: 5, inFlight: 0 },
    });
    expect(said(await process.reserve("k1", { A: 2 }))).toBe("cancelled again");
    await process.expectCoherent();
  });

  it("hears of a decision that is made while it is put into the lane", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    process.bends.hot.enqueue = async (fence, item) => {
      const reply = await process.stage.memory.enqueue(fence, item);
      await process.carry();
      return reply;
    };
    const before = process.stage.clock.mono();
    const outcome = await process.drive(cancel(process, first.value.id, 5_000));
    expect(said(outcome)).toBe("cancelled");
    expect(process.stage.clock.mono() - before).toBeLessThan(1_000);
  });

  it("is refused once it is paid, and told again when it was done", async () => {
    const process = await started();
    const { id } = await process.reserved("k1");
    await process.confirm(id);
    expect(said(await cancel(process, id))).toBe("WRONG_STATE");
    const other = await process.reserved("k2");
    expect(said(await cancel(process, other.id))).toBe("cancelled");
    expect(said(await cancel(process, other.id))).toBe("cancelled again");
  });

  it("while hot stock is closed is asked again", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 2 }, 0);
    if (!first.ok) throw new Error(first.code);
    process.stage.memory.flush();
    expect(said(await cancel(process, first.value.id))).toBe("STOCK_CLOSED");
  });
});

describe("a command about a pending order", () => {
  it("is not decided, and says so; nothing is made up", async () => {
    const process = await started();
    const first = await process.ask("k1", { A: 1 }, 0);
    if (!first.ok) throw new Error(first.code);
    const { id } = first.value;
    const { settlement } = process.engine;
    const paid = { paymentId: operationId("p1"), paidAt: null };
    const extension = { operationId: operationId("x1"), seconds: 5 };
    for (const outcome of [
      await settlement.confirm(id, paid, acting),
      await settlement.extend(id, extension, acting),
    ]) {
      expect(outcome).toMatchObject({ ok: false, code: "WRONG_STATE" });
      expect(outcome).toMatchObject({ facts: { state: "pending", retryable: true } });
    }
    expect(said(await process.confirm(id))).toBe("WRONG_STATE");
    expect(said(await process.confirm(id))).toBe("confirmed");
  });
});

describe("a refund", () => {
  it("in part and in whole is seen in both stores, and opens the gate", async () => {
    const process = await started({ stock: { A: 2 } });
    const { id } = await process.reserved("k1", { A: 2 });
    await process.confirm(id);
    expect((await process.reserve("k2")).ok).toBe(false);
    const part = { kind: "units", refundId: operationId("f1"), lines: linesOf({ A: 1 }) } as const;
    const refund = (more: typeof part | { kind: "units"; refundId: never; lines: null }) =>
      process.engine.settlement.refund(id, { ...more, restock: true }, acting);
    expect(said(await refund(part))).toBe("confirmed");
    expect(said(await refund(part))).toBe("confirmed again");
    expect((await process.reserve("k3")).ok).toBe(true);
    const rest = { kind: "units", refundId: operationId("f2") as never, lines: null } as const;
    expect(said(await refund(rest))).toBe("refunded");
    expect((await process.levels()).balances).toMatchObject({ available: 1, sold: 0, reserved: 1 });
    await process.expectCoherent();
  });
});
