import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

const someBack = { lines: [["A", 4]], restock: true } as const;

async function paidOrder(shop: Shop, key: string): Promise<string> {
  const { id } = await shop.reserve(key, "u1", ["A", 10]);
  await shop.pay(id, `pay-${key}`);
  return id;
}

test("C35 a part that went back is not put back again by a cancel", async () => {
  const shop = await openShop({ stock: { A: 100 } });
  const id = await paidOrder(shop, "o1");
  expect(await shop.levels("A")).toEqual(units({ A: 90, S: 10, T: 100 }));
  expect((await shop.refund(id, "r1", someBack)).answer).toBe("ok");
  expect(await shop.levels("A")).toEqual(units({ A: 94, S: 6, T: 100 }));
  expect((await shop.cancel(id)).answer).toBe("WRONG_STATE");
  expect((await shop.refund(id, "r1", someBack)).answer).toBe("replayed");
  const other = { lines: [["A", 3]], restock: true } as const;
  expect((await shop.refund(id, "r1", other)).answer).toBe("KEY_REUSED");
  expect(await shop.levels("A")).toEqual(units({ A: 94, S: 6, T: 100 }));
  const rest = await shop.refund(id, "r2", { lines: null, restock: true });
  expect(rest).toMatchObject({ answer: "ok", state: "refunded" });
  expect((await shop.cancel(id)).answer).toBe("WRONG_STATE");
  await shop.atRest({ A: units({ A: 100, T: 100 }) });
});

test("C35 units that do not go back on sale are lost, and stay so", async () => {
  const shop = await openShop({ stock: { A: 100 } });
  const id = await paidOrder(shop, "o1");
  const lost = { lines: [["A", 3]], restock: false } as const;
  expect((await shop.refund(id, "r1", lost)).answer).toBe("ok");
  expect(await shop.levels("A")).toEqual(units({ A: 90, S: 7, L: 3, T: 100 }));
  expect((await shop.refund(id, "r1", lost)).answer).toBe("replayed");
  const back = { lines: [["A", 3]], restock: true } as const;
  expect((await shop.refund(id, "r1", back)).answer).toBe("KEY_REUSED");
  await shop.refund(id, "r2", { lines: null, restock: true });
  await shop.atRest({ A: units({ A: 97, L: 3, T: 100 }) });
});

test("C35 an order is paid as a whole: a payment of a part is refused", async () => {
  const shop = await openShop({ stock: { A: 100 } });
  const ask = await httpOf(shop);
  const { id } = await shop.reserve("o1", "u1", ["A", 10]);
  const body = { paymentId: "p1", items: [{ sku: "A", quantity: 7 }] };
  const told = await ask(`/v1/reservations/${id}/confirm`, { body });
  expect(told).toMatchObject({ status: 400, code: "INVALID" });
  expect(await shop.levels("A")).toEqual(units({ A: 90, R: 10, T: 100 }));
  expect((await shop.cancel(id)).answer).toBe("ok");
  expect((await shop.cancel(id)).answer).toBe("replayed");
  await shop.atRest({ A: units({ A: 100, T: 100 }) });
});
