import { describe, expect, it } from "vitest";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { operationId, quantity, skuId } from "../domain/values.ts";
import type { StockChange } from "./engine.ts";

const acting = { actor: "op", reason: "because" };
const A = skuId("A");
const one = quantity(1);

async function started(): Promise<Process> {
  const process = await (await Stage.open()).started({ stock: { A: 9 } });
  await act(process, { kind: "freeze", quantity: quantity(4) }, { id: "begin" });
  return process;
}

function act(
  process: Process,
  kind: object,
  { id, ifVersion }: { readonly id: string; readonly ifVersion?: number },
) {
  const version = ifVersion === undefined ? {} : { ifVersion };
  const change = { ...kind, sku: A, operationId: operationId(id), ...version } as StockChange;
  return process.drive(process.engine.merchandising.changeStock(change, acting));
}

const kinds: readonly object[] = [
  { kind: "restock", quantity: one },
  { kind: "withdraw", quantity: one },
  { kind: "freeze", quantity: one },
  { kind: "unfreeze", quantity: one },
  { kind: "adjust", delta: 1 },
  { kind: "adjust", delta: -1 },
  { kind: "set-total", total: 8 },
  { kind: "set-total", total: 10 },
  { kind: "count", found: 3 },
];

describe("a form that was filled in on older numbers", () => {
  it.each(kinds)("changes nothing, and is told the newer ones: %j", async (kind) => {
    const process = await started();
    const seen = await process.levels();
    await process.reserved("k1");
    const before = await process.levels();
    const stale = await act(process, kind, { id: "o1", ifVersion: seen.version });
    expect(stale).toMatchObject({
      ok: false,
      code: "VERSION_MOVED",
      facts: { level: { version: before.version, balances: before.balances } },
    });
    expect((await process.levels()).balances).toEqual(before.balances);
    const { version } = await process.levels();
    expect(await act(process, kind, { id: "o2", ifVersion: version })).toMatchObject({ ok: true });
    // Told again it is a repeat: its answer stands, whatever has moved since.
    expect(await act(process, kind, { id: "o2", ifVersion: version })).toMatchObject({
      ok: true,
      replayed: true,
    });
    await process.expectCoherent();
  });

  it("is decided by the ledger: of two at once, one is refused", async () => {
    const process = await started();
    const { version } = await process.levels();
    const both = await Promise.all(
      ["o1", "o2"].map((id) =>
        act(
          process,
          { kind: "restock", quantity: one },
          {
            id,
            ifVersion: version,
          },
        ),
      ),
    );
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    expect(both.find(({ ok }) => !ok)).toMatchObject({ code: "VERSION_MOVED" });
  });

  it("stops and resumes no SKU", async () => {
    const process = await started();
    const { merchandising } = process.engine;
    const { version } = await process.levels();
    await process.reserved("k1");
    const stale = { ...acting, ifVersion: version };
    const stopped = await merchandising.stopSku(A, operationId("o1"), stale);
    expect(stopped).toMatchObject({ ok: false, code: "VERSION_MOVED" });
    const now = { ...acting, ifVersion: (await process.levels()).version };
    expect(await merchandising.stopSku(A, operationId("o2"), now)).toMatchObject({ ok: true });
    const resumed = await merchandising.resumeSku(A, operationId("o3"), stale);
    expect(resumed).toMatchObject({ ok: false, code: "VERSION_MOVED" });
    expect(await process.levels()).toMatchObject({ status: "stopped" });
  });

  it("moves no sale, and is told its newer state", async () => {
    const process = await started();
    const { merchandising } = process.engine;
    const view = await merchandising.sale(process.sale);
    const ifRevision = view?.sale.revision ?? 0;
    const move = (to: "paused" | "closed", id: string) =>
      merchandising.moveSale(
        process.sale,
        { to, operationId: operationId(id), ifRevision },
        { actor: "op" },
      );
    expect(await move("paused", "o1")).toMatchObject({ ok: true });
    expect(await move("closed", "o2")).toMatchObject({
      ok: false,
      code: "VERSION_MOVED",
      facts: { state: "paused", sale: { sale: { revision: ifRevision + 1 } } },
    });
    expect(await move("paused", "o1")).toMatchObject({ ok: true, replayed: true });
    expect(await merchandising.sale(process.sale)).toMatchObject({ sale: { state: "paused" } });
  });
});
