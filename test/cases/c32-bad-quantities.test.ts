import { expect } from "vitest";
import { quantity } from "../../src/domain/values.ts";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { type Ask, httpOf } from "../support/shop-http.ts";

/** As it stands in the body: texts that are not JSON are among them. */
const bad = [
  "0",
  "-0",
  "-3",
  "2.5",
  "2.0",
  '"2"',
  '"2.5"',
  '"1e3"',
  "1e3",
  "1E0",
  '"0x10"',
  "0x10",
  '" 5 "',
  '""',
  "null",
  "true",
  "[1]",
  "{}",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e400",
  "01",
  "+1",
  "1_000",
  "１",
  "2147483648",
  "9007199254740992",
  "1000000001",
];

function reserveText(ask: Ask, items: string, key = "k1") {
  const body = `{"saleId":"sale","buyerId":"u1","items":${items}}`;
  return ask("/v1/reservations", { key, body });
}

test("C32 a quantity that is no integer of at least 1 is refused, and holds nothing", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  for (const text of bad) {
    const told = await reserveText(ask, `[{"sku":"A","quantity":${text}}]`);
    expect([text, told.status, told.code]).toEqual([text, 400, "INVALID"]);
  }
  const missing = await reserveText(ask, '[{"sku":"A"}]');
  expect(missing).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: "/items/0/quantity" }] },
  });
  const twice = await reserveText(ask, '[{"sku":"A","quantity":1,"quantity":-3}]');
  expect(twice).toMatchObject({ status: 400, code: "INVALID" });
  expect(await shop.levels("A")).toEqual(units({ A: 5, T: 5 }));
  // The key of the refused requests is free: nothing was remembered under it.
  expect((await reserveText(ask, '[{"sku":"A","quantity":2}]')).status).toBe(201);
  await shop.atRest({ A: units({ A: 3, R: 2, T: 5 }) });
});

test("C32 bad quantities of operators and refunds are refused as well", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const { id } = await shop.reserve("k1", "u1", ["A", 2]);
  await shop.pay(id, "p1");
  for (const text of bad) {
    const about = `"operationId":"o","reason":"r"`;
    const calls = [
      ask(`/v1/reservations/${id}/refund`, {
        body: `{"refundId":"r","restock":true,"items":[{"sku":"A","quantity":${text}}]}`,
      }),
      ask("/v1/stock/A/restock", { body: `{${about},"quantity":${text}}` }),
      ask("/v1/stock/A/withdraw", { body: `{${about},"quantity":${text}}` }),
      ask("/v1/stock/A/freeze", { body: `{${about},"quantity":${text}}` }),
    ];
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect([text, ...statuses]).toEqual([text, 400, 400, 400, 400]);
  }
  await shop.atRest({ A: units({ A: 3, S: 2, T: 5 }) });
});

test("C32 inside the engine nothing but a parsed quantity exists", () => {
  const values = [
    0,
    -3,
    2.5,
    "2.5",
    "1e3",
    "2",
    "",
    null,
    true,
    [1],
    {},
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 31,
  ];
  for (const value of [...values, 2 ** 53, undefined, 1n]) expect(() => quantity(value)).toThrow();
});

const thousand = Array.from({ length: 1_000 }, (_, n) => `S${n}`);

test("C32 a cart of 1,000 lines is all or nothing", async () => {
  const shop = await openShop({ stock: Object.fromEntries(thousand.map((sku) => [sku, 1])) });
  const ask = await httpOf(shop);
  const whole = JSON.stringify(thousand.map((sku) => ({ sku, quantity: 1 })));
  const last = await shop.reserve("last", "u2", ["S999", 1]);
  expect(await reserveText(ask, whole, "k1")).toMatchObject({ status: 409, code: "SOLD_OUT" });
  expect(await shop.levels("S0")).toEqual(units({ A: 1, T: 1 }));
  await shop.cancel(last.id);
  expect((await reserveText(ask, whole, "k2")).status).toBe(201);
  const held = units({ R: 1, T: 1 });
  await shop.atRest(Object.fromEntries(thousand.map((sku) => [sku, held])));
});

test("C32 too many lines, or megabytes, are refused before they are parsed", async () => {
  const shop = await openShop({ stock: { A: 5 } });
  const ask = await httpOf(shop);
  const lines = (count: number): string =>
    `[${Array<string>(count).fill('{"sku":"A","quantity":1}').join()}]`;
  expect(await reserveText(ask, lines(1_001))).toMatchObject({ status: 400, code: "INVALID" });
  expect(await reserveText(ask, lines(70_000))).toMatchObject({ status: 413, code: "TOO_LARGE" });
  const spaces = `${lines(1)}${" ".repeat(5_000_000)}`;
  expect(await reserveText(ask, spaces)).toMatchObject({ status: 413, code: "TOO_LARGE" });
  expect(await reserveText(ask, "[]")).toMatchObject({ status: 400, code: "INVALID" });
  const sum = '[{"sku":"A","quantity":1000000000},{"sku":"A","quantity":1}]';
  expect(await reserveText(ask, sum)).toMatchObject({ status: 400, code: "INVALID" });
  const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
  expect(await reserveText(ask, deep)).toMatchObject({ status: 400, code: "INVALID" });
  await shop.atRest({ A: units({ A: 5, T: 5 }) });
});
