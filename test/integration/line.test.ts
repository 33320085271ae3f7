import { expect, test } from "vitest";
import { buyerId, operationId, quantity, saleId, skuId } from "../../src/domain/values.ts";
import { silentEvents } from "../../src/events.ts";
import { openHoldfast } from "../../src/wire.ts";

test("a reservation is decided, paid and refunded, and both stores agree", async () => {
  const events = {
    ...silentEvents,
    workerFailed: (w: string, e: unknown) => console.error(w, e),
    alarm: (a: string, b: string) => console.error(a, b),
  };
  await using holdfast = await openHoldfast({ ledgerUrl: "sqlite::memory:", events });
  await holdfast.start();
  const { merchandising, buyers, settlement, oversight } = holdfast.engine;
  const created = await merchandising.createSale(
    {
      saleId: saleId("night"),
      title: "Night",
      opensAt: null,
      closesAt: null,
      holdSeconds: 60,
      limitPerBuyer: 2,
      items: [{ sku: skuId("A"), stock: 5 }],
    },
    { actor: "test" },
  );
  expect(created.ok).toBe(true);
  const opened = await merchandising.moveSale(
    saleId("night"),
    { to: "open", operationId: null },
    { actor: "test" },
  );
  expect(opened).toMatchObject({ ok: true });
  const request = {
    saleId: saleId("night"),
    buyerId: buyerId("u1"),
    idempotencyKey: operationId("k1"),
    lines: [{ sku: skuId("A"), quantity: quantity(2) }],
  };
  const first = await buyers.reserve(request, { waitMs: 2000 });
  expect(first).toMatchObject({ ok: true, replayed: false, value: { state: "reserved" } });
  const again = await buyers.reserve(request, { waitMs: 2000 });
  expect(again).toMatchObject({ ok: true, replayed: true, value: { state: "reserved" } });
  if (!first.ok) throw new Error("unreachable");
  const acting = { actor: "test", reason: "" };
  const paid = await settlement.confirm(
    first.value.id,
    { paymentId: operationId("p1"), paidAt: null },
    acting,
  );
  expect(paid).toMatchObject({ ok: true, value: { state: "confirmed" } });
  const frozen = await merchandising.changeStock(
    { kind: "freeze", sku: skuId("A"), operationId: operationId("f1"), quantity: quantity(1) },
    acting,
  );
  expect(frozen).toMatchObject({ ok: true });
  expect(await holdfast.drain(1000)).toBe(true);
  const report = await oversight.reconciliation();
  expect(report).toMatchObject({ drift: 0, behind: 0, inFlight: 0, repairs: 0, closed: 0 });
  expect(report.items).toMatchObject([{ sku: "A", ledgerAvailable: 2, hotAvailable: 2 }]);
  expect(await oversight.verify(null)).toMatchObject({ ok: true });
});
