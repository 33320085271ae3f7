import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { type Ask, httpOf } from "../support/shop-http.ts";

const untouched = { A: units({ A: 5, T: 5 }) };
const cart = (sku: string) => [{ sku, quantity: 1 }];

function reserve(ask: Ask, key: string, sku: string, buyerId = "u1") {
  return ask("/v1/reservations", { key, body: { saleId: "s", buyerId, items: cart(sku) } });
}

test("C29 (a) SKUs that differ by case are two; those with a space or accent none", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const odd = ["abc ", " abc", "abç", "àbc", "abc\u0301", "ａｂｃ", "abc\u200b", "abc\n", "", "-a"];
  for (const sku of odd) {
    const body = { saleId: "odd", holdSeconds: 60, items: [{ sku, stock: 9 }] };
    expect(await ask("/v1/sales", { body })).toMatchObject({ status: 400, code: "INVALID" });
    const told = await reserve(ask, "k0", sku);
    expect(told).toMatchObject({ status: 400, code: "INVALID" });
  }
  const items = [
    { sku: "abc", stock: 5 },
    { sku: "ABC", stock: 7 },
  ];
  const made = await ask("/v1/sales", { body: { saleId: "s", holdSeconds: 60, items } });
  expect(made.status).toBe(201);
  expect((await ask("/v1/sales/s/open", { method: "POST" })).status).toBe(200);
  expect((await reserve(ask, "k1", "abc")).status).toBe(201);
  const [small, large] = [units({ A: 4, R: 1, T: 5 }), units({ A: 7, T: 7 })];
  await shop.atRest({ ...untouched, abc: small, ABC: large });
});

test("C29 (a) buyers and keys that differ by case are two buyers and two keys", async () => {
  const shop = await openShop({ stock: { A: 5 }, limit: 1 });
  const told = [
    await shop.reserve("key", "ann", ["A", 1]),
    await shop.reserve("key", "Ann", ["A", 1]),
    await shop.reserve("KEY", "ann", ["A", 1]),
  ];
  expect(told.map(({ answer }) => answer)).toEqual(["ok", "ok", "LIMIT_EXCEEDED"]);
  await shop.atRest({ A: units({ A: 3, R: 2, T: 5 }) });
});

test("C29 (b) an id of 64 characters is whole, a longer one is refused and not cut", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const stem = "x".repeat(63);
  const ids = [
    stem,
    `${stem}a`,
    `${stem}b`,
    `${stem}ab`,
    stem.padEnd(255, "y"),
    stem.padEnd(300, "z"),
  ];
  const body = (buyerId: string) => ({ saleId: "sale", buyerId, items: cart("A") });
  const statuses: number[] = [];
  for (const key of ids) {
    const told = await ask("/v1/reservations", { key, body: body("u1") });
    statuses.push(told.status);
  }
  expect(statuses).toEqual([201, 201, 201, 400, 400, 400]);
  const repeat = await ask("/v1/reservations", { key: `${stem}a`, body: body("u1") });
  expect(repeat).toMatchObject({ status: 201, headers: { "idempotency-replayed": "true" } });
  for (const buyer of [`${stem}ab`, stem.padEnd(300, "y")]) {
    const told = await ask("/v1/reservations", { key: "k", body: body(buyer) });
    expect(told).toMatchObject({ status: 400, code: "INVALID" });
  }
  await shop.atRest({ A: units({ A: 2, R: 3, T: 5 }) });
});

test("C29 (b) payment ids that share their first 64 characters are not taken for one", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const { id } = await shop.reserve("k1", "u1", ["A", 1]);
  const pay = (paymentId: string) =>
    ask(`/v1/reservations/${id}/confirm`, { body: { paymentId } }).then(({ status }) => status);
  const payment = "p".repeat(64);
  expect(await pay(`${payment}1`)).toBe(400);
  expect(await pay(payment)).toBe(200);
  expect(await pay(`${payment}2`)).toBe(400);
  expect(await pay(`${payment.slice(1)}q`)).toBe(409);
  await shop.atRest({ A: units({ A: 4, S: 1, T: 5 }) });
});

test("C29 a forged or foreign reservation id is unknown, in any case of its letters", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const { id } = await shop.reserve("k1", "u1", ["A", 1]);
  for (const other of [id.toUpperCase(), `${id}x`, `${id}%20`, id.slice(0, -1), "o1"]) {
    const told = await ask(`/v1/reservations/${other}/cancel`, { method: "POST" });
    expect(told).toMatchObject({ status: 404, code: "RESERVATION_NOT_FOUND" });
  }
  await shop.atRest({ A: units({ A: 4, R: 1, T: 5 }) });
});
