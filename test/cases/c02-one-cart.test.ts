import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

test("C02 (a) two lines that fit one by one and not together are refused as a whole", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const told = await shop.reserve("k1", "u1", ["A", 3], ["A", 3]);
  expect(told.answer).toBe("SOLD_OUT");
  await shop.atRest({ A: units({ A: 5, T: 5 }) });
});

test("C02 (b) two lines of one SKU are booked, and come back, as their sum", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const told = await shop.reserve("k1", "u1", ["A", 2], ["A", 3]);
  expect(told).toMatchObject({ answer: "ok", view: { lines: [{ sku: "A", quantity: 5 }] } });
  expect(await shop.levels("A")).toEqual(units({ R: 5, T: 5 }));
  expect((await shop.cancel(told.id)).answer).toBe("ok");
  await shop.atRest({ A: units({ A: 5, T: 5 }) });
});

test("C02 (c) the last unit on two lines with different notes is not sold twice", async () => {
  const shop = await openShop({ stock: { A: 1 } });
  const ask = await httpOf(shop);
  const about = { saleId: "sale", buyerId: "u1" };
  const plain = [
    { sku: "A", quantity: 1 },
    { sku: "A", quantity: 1 },
  ];
  const noted = plain.map((line, n) => ({ ...line, note: ["red", "blue"][n] }));
  const path = "/v1/reservations";
  const refused = await ask(path, { key: "k1", body: { ...about, items: noted } });
  expect(refused).toMatchObject({ status: 400, code: "INVALID" });
  const soldOut = await ask(path, { key: "k2", body: { ...about, items: plain } });
  expect(soldOut).toMatchObject({ status: 409, code: "SOLD_OUT" });
  await shop.atRest({ A: units({ A: 1, T: 1 }) });
});

test("C02 the limit of a buyer counts the sum of a cart's lines", async () => {
  const shop = await openShop({ stock: { A: 5 }, limit: 3 });
  expect((await shop.reserve("k1", "u1", ["A", 2], ["A", 2])).answer).toBe("LIMIT_EXCEEDED");
  expect((await shop.reserve("k2", "u1", ["A", 2], ["A", 1])).answer).toBe("ok");
  await shop.atRest({ A: units({ A: 2, R: 3, T: 5 }) });
});
