import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

const path = "/v1/reservations";
const fifty = Array.from({ length: 50 }, (_, n) => n);

test("C40 (a) a key with other content is a conflict; other spelling is not", async () => {
  const shop = await openShop({ stock: { A: 10, B: 10 } });
  const ask = await httpOf(shop);
  const plain = '{"saleId":"sale","buyerId":"u1","items":[{"sku":"A","quantity":1}]}';
  const first = await ask(path, { key: "k1", body: plain });
  expect(first.status).toBe(201);
  for (const items of ['[{"sku":"A","quantity":2}]', '[{"sku":"B","quantity":1}]']) {
    const other = `{"saleId":"sale","buyerId":"u1","items":${items}}`;
    const told = await ask(path, { key: "k1", body: other });
    expect(told).toMatchObject({ status: 422, code: "KEY_REUSED" });
    expect(JSON.stringify(told.body)).not.toContain(String(first.body["reservationId"]));
  }
  const spaced = ` { "items" : [ { "quantity" : 1 , "sku" : "A" } ] ,
    "buyerId":"u1", "saleId" : "sale" } `;
  for (const key of ["k1", '"k1"']) {
    const told = await ask(path, { key, body: spaced });
    expect(told).toMatchObject({ status: 201, headers: { "idempotency-replayed": "true" } });
    expect(told.body).toEqual(first.body);
  }
  await shop.atRest({ A: units({ A: 9, R: 1, T: 10 }), B: units({ A: 10, T: 10 }) });
});

test("C40 (a) the same cart in another order of lines is the same content", async () => {
  const shop = await openShop({ stock: { A: 10, B: 10 } });
  const { id } = await shop.reserve("k1", "u1", ["A", 2], ["B", 1]);
  const again = await shop.reserve("k1", "u1", ["B", 1], ["A", 1], ["A", 1]);
  expect(again).toMatchObject({ answer: "replayed", id });
  await shop.atRest({ A: units({ A: 8, R: 2, T: 10 }), B: units({ A: 9, R: 1, T: 10 }) });
});

test.each(["survives", "is lost"] as const)(
  "C40 (b) killed after claiming a key, when hot stock %s: the retry has its order",
  async (hot) => {
    const shop = await openShop({ stock: { A: 10 } });
    await shop.stopWorkers("relay");
    const claim = { key: "k2", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
    expect((await shop.reserveAt(shop.first, claim)).state).toBe("pending");
    await shop.kill({ hot });
    await shop.addProcess();
    await shop.isOpen();
    const startedAt = shop.time.clock.mono();
    const retry = await shop.reserve("k2", "u1", ["A", 1]);
    expect(retry.state).toBe("reserved");
    expect(shop.time.clock.mono() - startedAt).toBeLessThan(3_000);
    expect((await shop.reserve("k2", "u1", ["A", 1])).answer).toBe("replayed");
    await shop.atRest({ A: units({ A: 9, R: 1, T: 10 }) });
  },
);

test("C40 (b) killed after claiming a key, and looked at first: the order is void", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  await shop.stopWorkers("relay");
  const claim = { key: "k2", buyer: "u1", cart: [["A", 1]] as const, waitMs: 0 };
  const { id } = await shop.reserveAt(shop.first, claim);
  await shop.kill({ hot: "is lost" });
  await shop.addProcess();
  await shop.isOpen();
  await shop.view(id);
  await shop.settle();
  expect(await shop.state(id)).toBe("void");
  expect((await shop.reserve("k2", "u1", ["A", 1])).answer).toBe("VOID");
  expect((await shop.reserve("k2-again", "u1", ["A", 1])).answer).toBe("ok");
  await shop.atRest({ A: units({ A: 9, R: 1, T: 10 }) }, { voids: 1 });
});

test("C40 (c) one key fifty times at once is one order", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const told = await Promise.all(fifty.map(() => shop.reserve("k3", "u1", ["A", 1])));
  expect(told.filter(({ answer }) => answer === "ok")).toHaveLength(1);
  expect(told.filter(({ answer }) => answer === "replayed")).toHaveLength(49);
  expect(new Set(told.map(({ id }) => id)).size).toBe(1);
  expect(told.every(({ state }) => state === "reserved")).toBe(true);
  await shop.atRest({ A: units({ A: 9, R: 1, T: 10 }) });
});

test("C40 (d) another buyer's request under the key is an order of its own", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const ask = await httpOf(shop);
  const items = [{ sku: "A", quantity: 1 }];
  const mine = await ask(path, { key: "k1", body: { saleId: "sale", buyerId: "u1", items } });
  const yours = await ask(path, { key: "k1", body: { saleId: "sale", buyerId: "u2", items } });
  expect([mine.status, yours.status]).toEqual([201, 201]);
  expect(yours.headers["idempotency-replayed"]).toBeUndefined();
  expect(yours.body).toMatchObject({ buyerId: "u2" });
  expect(yours.body["reservationId"]).not.toBe(mine.body["reservationId"]);
  await shop.atRest({ A: units({ A: 8, R: 2, T: 10 }) });
});

test("C40 (d) a key is no name at another call, and no other call's id is a key", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const ask = await httpOf(shop);
  const { id } = await shop.reserve("k1", "u1", ["A", 1]);
  const cancel = await ask(`${path}/k1/cancel`, { method: "POST", key: "k1" });
  expect(cancel).toMatchObject({ status: 404, code: "RESERVATION_NOT_FOUND" });
  expect(await shop.state(id)).toBe("reserved");
  // One word as payment, refund and operation id: each has a scope of its own.
  expect((await shop.pay(id, "k1")).answer).toBe("ok");
  const back = { lines: [["A", 1]], restock: true } as const;
  expect((await shop.refund(id, "k1", back)).answer).toBe("ok");
  const body = { operationId: "k1", quantity: 1, reason: "r" };
  expect((await ask("/v1/stock/A/restock", { body })).status).toBe(200);
  await shop.atRest({ A: units({ A: 11, T: 11 }) });
});

test("C40 (e) a refusal that took nothing is not remembered: the key may succeed", async () => {
  const shop = await openShop({ stock: { A: 1 } });
  await shop.reserve("k0", "u0", ["A", 1]);
  expect((await shop.reserve("k4", "u1", ["A", 1])).answer).toBe("SOLD_OUT");
  expect((await shop.reserve("k4", "u1", ["A", 1])).answer).toBe("SOLD_OUT");
  expect(await shop.restock("A", 2)).toBe("ok");
  expect((await shop.reserve("k4", "u1", ["A", 1])).answer).toBe("ok");
  expect((await shop.reserve("k5", "u1", ["A", 1])).answer).toBe("ok");
  await shop.atRest({ A: units({ R: 3, T: 3 }) });
});

test("C40 (e) a refusal by the ledger is the answer to its key for ever", async () => {
  const shop = await openShop({ stock: { A: 1 } });
  await shop.reserve("k0", "u0", ["A", 1]);
  await shop.stopWorkers("reconciler");
  await shop.hand.editHot("A", (sku) => {
    sku.available += 1;
  });
  const late = await shop.reserve("k4", "u1", ["A", 1]);
  expect(late).toMatchObject({ answer: "SOLD_OUT", state: "rejected" });
  shop.first.start("reconciler");
  await shop.passes(2_000);
  expect(await shop.restock("A", 1)).toBe("ok");
  const again = await shop.reserve("k4", "u1", ["A", 1]);
  expect(again).toMatchObject({ answer: "SOLD_OUT", state: "rejected", id: late.id });
  expect((await shop.reserve("k5", "u1", ["A", 1])).answer).toBe("ok");
  await shop.atRest({ A: units({ R: 2, T: 2 }) }, { repairs: 1, lateRefusals: 1 });
});

test("C40 a request that was not understood leaves its key free", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const ask = await httpOf(shop);
  const body = (quantity: unknown) => ({
    saleId: "sale",
    buyerId: "u1",
    items: [{ sku: "A", quantity }],
  });
  expect((await ask(path, { key: "k1", body: body(0) })).status).toBe(400);
  expect((await ask(path, { key: "k1", body: body(2) })).status).toBe(201);
  expect((await ask(path, { body: body(2) })).code).toBe("KEY_MISSING");
  for (const key of ["", "a b", "k".repeat(65), '"k1', "kü"]) {
    expect(await ask(path, { key, body: body(2) })).toMatchObject({ status: 400 });
  }
  await shop.atRest({ A: units({ A: 8, R: 2, T: 10 }) });
});
