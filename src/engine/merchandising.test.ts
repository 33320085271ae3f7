import { describe, expect, it } from "vitest";
import { type Process, quiet, type SaleSpec, Stage } from "../../test/support/stepped.ts";
import { reserveTicket } from "../../test/support/tickets.ts";
import { operationId, quantity, skuId } from "../domain/values.ts";
import type { StockChange } from "./engine.ts";

const acting = { actor: "op", reason: "because" };
const A = skuId("A");

async function started(spec: SaleSpec = {}): Promise<Process> {
  return (await Stage.open()).started(spec);
}

function change(
  process: Process,
  kind: "restock" | "withdraw" | "freeze" | "unfreeze",
  id: string,
  units: number,
) {
  const asked: StockChange = {
    kind,
    sku: A,
    operationId: operationId(id),
    quantity: quantity(units),
  };
  return process.drive(process.engine.merchandising.changeStock(asked, acting));
}

describe("a change of stock", () => {
  it("that takes goes through the lane behind the buyers', and robs no ticket", async () => {
    const process = await started({ stock: { A: 5 } });
    const asked = process.ask("k1", { A: 4 });
    // The buyer's ticket is there before the operator comes.
    await quiet();
    const taken = await change(process, "withdraw", "o1", 2);
    expect(taken).toMatchObject({ ok: false, code: "NOT_ENOUGH" });
    const reserved = await process.drive(asked);
    expect(reserved).toMatchObject({ ok: true, value: { state: "reserved" } });
    expect(await change(process, "withdraw", "o2", 1)).toMatchObject({ ok: true });
    expect((await process.levels()).balances).toMatchObject({ available: 0, reserved: 4 });
    await process.expectCoherent();
  });

  it.each([
    ["withdraw", "withdraw"],
    ["restock", "restock"],
    ["restock", "withdraw"],
    ["freeze", "restock"],
  ] as const)("under one id is done once: %s, then %s", async (first, second) => {
    const process = await started();
    expect(await change(process, first, "o1", 2)).toMatchObject({ ok: true, replayed: false });
    const { balances } = await process.levels();
    const same = first === second;
    expect(await change(process, second, "o1", 2)).toMatchObject(
      same ? { ok: true, replayed: true } : { ok: false, code: "KEY_REUSED" },
    );
    expect(await change(process, second, "o1", 3)).toMatchObject({ ok: false, code: "KEY_REUSED" });
    expect((await process.levels()).balances).toEqual(balances);
    await process.expectCoherent();
  });

  it("under one id, two at once, is one of them and a conflict", async () => {
    const process = await started();
    const [taken, given] = await Promise.all([
      change(process, "withdraw", "o1", 1),
      change(process, "restock", "o1", 1),
    ]);
    const outcomes = [taken, given].map((each) => (each.ok ? "ok" : each.code)).sort();
    expect(outcomes).toEqual(["KEY_REUSED", "ok"]);
    expect(await process.levels()).toMatchObject({ hot: { inFlight: 0 }, drift: 0, behind: 0 });
    await process.expectCoherent();
  });

  it("to a total is decided on the version that was looked at", async () => {
    const process = await started();
    const set = (id: string, total: number, ifVersion: number) =>
      process.drive(
        process.engine.merchandising.changeStock(
          { kind: "set-total", sku: A, operationId: operationId(id), total, ifVersion },
          acting,
        ),
      );
    expect(await set("o1", 7, 1)).toMatchObject({ ok: true });
    expect(await set("o2", 3, 1)).toMatchObject({ ok: false, code: "VERSION_MOVED" });
    expect(await set("o3", 3, 2)).toMatchObject({ ok: true });
    expect(await set("o3", 3, 2)).toMatchObject({ ok: true, replayed: true });
    expect((await process.levels()).total).toBe(3);
    // It is that already: nothing moves, and the id is remembered all the same.
    const asItIs = await set("o4", 3, 3);
    expect(asItIs).toMatchObject({ ok: true, value: { level: { version: 3 }, entries: [] } });
    expect(await set("o4", 3, 3)).toMatchObject({ ok: true, replayed: true });
    expect(await set("o4", 5, 3)).toMatchObject({ ok: false, code: "KEY_REUSED" });
  });

  it("is closed, not lost, while hot stock is rebuilt", async () => {
    const process = await started();
    process.stage.memory.flush();
    const taken = await change(process, "withdraw", "o1", 1);
    expect(taken).toMatchObject({ ok: false, code: "STOCK_CLOSED" });
    expect(await change(process, "restock", "o2", 1)).toMatchObject({ ok: true });
    await process.rebuild();
    expect(await change(process, "withdraw", "o1", 1)).toMatchObject({ ok: true });
    expect(await process.levels()).toMatchObject({ balances: { available: 5 }, drift: 0 });
  });
});

describe("a SKU", () => {
  it("that is stopped sells nothing until it is resumed; what is held can be settled", async () => {
    const process = await started();
    const { id } = await process.reserved("k1");
    const { merchandising } = process.engine;
    await merchandising.stopSku(A, operationId("o1"), acting);
    expect(await process.reserve("k2")).toMatchObject({ ok: false, code: "SALE_PAUSED" });
    expect(await process.confirm(id)).toMatchObject({ ok: true });
    await merchandising.resumeSku(A, operationId("o2"), acting);
    expect(await process.reserve("k3")).toMatchObject({ ok: true });
    const repeated = await merchandising.stopSku(A, operationId("o1"), acting);
    expect(repeated).toMatchObject({ ok: true, replayed: true, value: { status: "normal" } });
  });

  it("of which the ledger went back is stopped until a person resumes it", async () => {
    const process = await started();
    await process.reserved("k1");
    process.stage.memory.tamper(0, (state) => {
      const sku = state.skus.get(A);
      if (sku !== undefined) sku.hash = "f".repeat(64);
    });
    await process.reconciler.step();
    expect(process.happened.join("\n")).toContain("skuStopped A the ledger went back");
    expect(await process.reserve("k2")).toMatchObject({ ok: false, code: "SALE_PAUSED" });
    process.parts.fences.doubt(0, "a test");
    await process.rebuild();
    expect((await process.stage.memory.observe(0, [A])).skus).toMatchObject([
      { hash: "f".repeat(64), stopped: true },
    ]);
    await process.engine.merchandising.resumeSku(A, operationId("o1"), acting);
    await process.rebuild();
    expect(await process.reserve("k3")).toMatchObject({ ok: true });
    await process.expectCoherent();
  });
});

describe("a sale", () => {
  it("is open once hot stock has it, and the call is told again until then", async () => {
    const stage = await Stage.open();
    const process = await stage.started();
    const { merchandising } = process.engine;
    const pause = () =>
      merchandising.moveSale(
        process.sale,
        { to: "paused", operationId: operationId("o1") },
        { actor: "op" },
      );
    stage.memory.flush();
    expect(await pause()).toMatchObject({ ok: false, code: "STOCK_CLOSED" });
    await process.rebuild();
    expect(await pause()).toMatchObject({ ok: true, replayed: true });
    expect(await process.reserve("k1")).toMatchObject({ ok: false, code: "SALE_PAUSED" });
  });

  it("that follows another begins with what is left, and with no one's count", async () => {
    const process = await started({ limit: 1 });
    await process.reserved("k1");
    const { merchandising } = process.engine;
    await merchandising.moveSale(
      process.sale,
      { to: "closed", operationId: null },
      { actor: "op" },
    );
    const saleId = operationId("t") as never;
    const items = [{ sku: A, stock: 2 }];
    const plan = { title: "", opensAt: null, closesAt: null, holdSeconds: 60, limitPerBuyer: 1 };
    await merchandising.createSale({ ...plan, saleId, items }, { actor: "op" });
    await merchandising.moveSale(saleId, { to: "open", operationId: null }, { actor: "op" });
    const ask = (key: string) =>
      process.drive(
        process.engine.buyers.reserve(
          {
            saleId,
            buyerId: operationId("k1") as never,
            idempotencyKey: operationId(key),
            lines: reserveTicket("x").lines,
          },
          { waitMs: 500 },
        ),
      );
    expect(await ask("n1")).toMatchObject({ ok: true });
    expect(await ask("n2")).toMatchObject({ ok: false, code: "LIMIT_EXCEEDED" });
    expect((await process.levels()).balances).toMatchObject({ available: 5, reserved: 2 });
    await process.expectCoherent();
  });
});
