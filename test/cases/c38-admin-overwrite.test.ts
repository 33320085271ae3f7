import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

test("C38 a number from a form that was opened earlier erases no sale", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const ask = await httpOf(shop);
  const form = await ask("/v1/stock/A");
  expect(form.body).toMatchObject({ available: 10 });
  const opened = { "if-match": `"${String(form.body["version"])}"` };
  await shop.reserve("o1", "u1", ["A", 4]);

  const save = { operationId: "save", total: 12, reason: "counted" };
  const told = await ask("/v1/stock/A/adjust", { headers: opened, body: save });
  expect(told).toMatchObject({ status: 412, code: "VERSION_MOVED" });
  expect(told.body["level"]).toMatchObject({ available: 6, reserved: 4 });
  const blind = await ask("/v1/stock/A/adjust", { body: save });
  expect(blind).toMatchObject({ status: 400, code: "INVALID" });
  expect(await shop.levels("A")).toEqual(units({ A: 6, R: 4, T: 10 }));

  // Nothing but a title: there is no call that writes a title and a stock together.
  const title = await ask("/v1/stock/A", { method: "PATCH", body: { title: "New" } });
  expect(title).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
  expect(await shop.levels("A")).toEqual(units({ A: 6, R: 4, T: 10 }));

  expect(await shop.adjust("A", 2)).toBe("ok");
  await shop.atRest({ A: units({ A: 8, R: 4, T: 12 }) });
});

test("C38 a sale that is created again with another title or stock is a conflict", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const ask = await httpOf(shop);
  const items = [{ sku: "B", stock: 5 }];
  const form = { saleId: "form", title: "Old", holdSeconds: 60, items };
  expect((await ask("/v1/sales", { body: form })).status).toBe(201);
  expect((await ask("/v1/sales", { body: form })).status).toBe(200);
  for (const other of [{ title: "New" }, { items: [{ sku: "B", stock: 6 }] }]) {
    const told = await ask("/v1/sales", { body: { ...form, ...other } });
    expect(told).toMatchObject({ status: 422, code: "KEY_REUSED" });
  }
  await shop.atRest({ A: units({ A: 10, T: 10 }), B: units({ A: 5, T: 5 }) });
});

test("C38 a hundred corrections beside a hundred reservations lose none of either", async () => {
  const shop = await openShop({ stock: { A: 200 } });
  const told = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => [
      await shop.adjust("A", 1),
      (await shop.reserve(`k${n}`, `u${n}`, ["A", 1])).answer,
    ]),
  );
  expect(new Set(told.flat())).toEqual(new Set(["ok"]));
  await shop.atRest({ A: units({ A: 200, R: 100, T: 300 }) });
});
