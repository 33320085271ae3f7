import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

const even = "9007199254740992";
const odd = "9007199254740993";

test("C10 (a) ids that are one number in floating point are two orders", async () => {
  const shop = await openShop({ stock: { A: 2 } });
  const first = await shop.reserve(even, "u1", ["A", 1]);
  const second = await shop.reserve(odd, "u1", ["A", 1]);
  expect([first.answer, second.answer]).toEqual(["ok", "ok"]);
  expect((await shop.pay(second.id, odd)).answer).toBe("ok");
  expect((await shop.view(first.id)).state).toBe("reserved");
  expect((await shop.view(second.id)).paymentId).toBe(odd);
  expect((await shop.pay(second.id, even)).answer).toBe("ALREADY_PAID");
  await shop.atRest({ A: units({ R: 1, S: 1, T: 2 }) });
});

test("C10 (a) SKUs and buyers that are one number in floating point are kept apart", async () => {
  const shop = await openShop({ stock: { [even]: 2, [odd]: 2 }, limit: 1 });
  expect((await shop.reserve("k1", even, [odd, 1])).answer).toBe("ok");
  expect((await shop.reserve("k2", odd, [odd, 1])).answer).toBe("ok");
  await shop.atRest({ [even]: units({ A: 2, T: 2 }), [odd]: units({ R: 2, T: 2 }) });
});

test("C10 (b) a level passes 2^31 exactly, in both stores", async () => {
  const shop = await openShop({ stock: { A: 1_000_000_000 } });
  expect(await shop.restock("A", 1_000_000_000)).toBe("ok");
  expect(await shop.restock("A", 147_483_647)).toBe("ok");
  expect(await shop.levels("A")).toEqual(units({ A: 2_147_483_647, T: 2_147_483_647 }));
  expect(await shop.adjust("A", 1)).toBe("ok");
  await shop.atRest({ A: units({ A: 2_147_483_648, T: 2_147_483_648 }) });
});

test("C10 (b) at the largest exact level one more unit is refused", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const shop = await openShop({ stock: { A: most } });
  expect(await shop.adjust("A", 1)).toBe("NOT_ENOUGH");
  expect(await shop.adjust("A", -1)).toBe("ok");
  expect(await shop.levels("A")).toEqual(units({ A: most - 1, T: most - 1 }));
  expect(await shop.adjust("A", 1)).toBe("ok");
  await shop.atRest({ A: units({ A: most, T: most }) });
});

test("C10 (c) a hundred million units are reserved in one line", async () => {
  const shop = await openShop({ stock: { A: 100_000_000 } });
  expect((await shop.reserve("k1", "u1", ["A", 100_000_000])).answer).toBe("ok");
  await shop.atRest({ A: units({ R: 100_000_000, T: 100_000_000 }) });
});

test("C10 (d) a stock that cannot be kept exactly is refused", async () => {
  const shop = await openShop({ stock: { A: 1 } });
  const ask = await httpOf(shop);
  const stocks = [
    "9007199254740993",
    "9007199254740991",
    "1e17",
    "100000000000000000",
    "1e3",
    "-1",
  ];
  for (const stock of stocks) {
    const body = `{"saleId":"big","holdSeconds":60,"items":[{"sku":"B","stock":${stock}}]}`;
    expect(await ask("/v1/sales", { body })).toMatchObject({ status: 400, code: "INVALID" });
  }
  expect(await ask("/v1/sales/big")).toMatchObject({ status: 404 });
  expect(await ask("/v1/stock/B")).toMatchObject({ status: 404 });
  await shop.atRest({ A: units({ A: 1, T: 1 }) });
});
