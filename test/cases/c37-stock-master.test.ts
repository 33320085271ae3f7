import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { httpOf } from "../support/shop-http.ts";

async function withHold(): Promise<{ shop: Shop; id: string }> {
  const shop = await openShop({ stock: { A: 5 } });
  const { id } = await shop.reserve("o1", "u1", ["A", 3]);
  expect(await shop.levels("A")).toEqual(units({ A: 2, R: 3, T: 5 }));
  return { shop, id };
}

test("C37 (a) a SKU cannot be deleted; when stopped it still serves its orders", async () => {
  const { shop, id } = await withHold();
  const ask = await httpOf(shop);
  for (const path of ["/v1/stock/A", "/v1/sales/sale"]) {
    const told = await ask(path, { method: "DELETE" });
    expect(told).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
  }
  const second = await shop.reserve("o2", "u2", ["A", 1]);
  expect(await shop.stopSku("A")).toBe("ok");
  expect((await shop.reserve("o3", "u3", ["A", 1])).answer).toBe("SALE_PAUSED");
  expect((await shop.pay(id, "p1")).state).toBe("confirmed");
  expect((await shop.cancel(second.id)).state).toBe("cancelled");
  await shop.atRest({ A: units({ A: 2, S: 3, T: 5 }) }, { stopped: ["A"] });
});

test("C37 (a) a sale that is closed takes no new orders and still serves its own", async () => {
  const { shop, id } = await withHold();
  expect(await shop.moveSale("closed")).toBe("ok");
  expect((await shop.reserve("o3", "u3", ["A", 1])).answer).toBe("SALE_ENDED");
  expect(await shop.reserve("o1", "u1", ["A", 3])).toMatchObject({ answer: "replayed", id });
  expect((await shop.pay(id, "p1")).state).toBe("confirmed");
  await shop.atRest({ A: units({ A: 2, S: 3, T: 5 }) });
});

test("C37 (b) a total below what is held is refused; one of just that much is taken", async () => {
  const { shop } = await withHold();
  const { version } = await shop.row("A");
  expect(await shop.setTotal("A", 1, version)).toBe("NOT_ENOUGH");
  expect(await shop.levels("A")).toEqual(units({ A: 2, R: 3, T: 5 }));
  expect(await shop.setTotal("A", 3, version)).toBe("ok");
  await shop.atRest({ A: units({ R: 3, T: 3 }) });
});

test("C37 (b) a negative adjust never takes what is held", async () => {
  const { shop } = await withHold();
  expect(await shop.adjust("A", -3)).toBe("NOT_ENOUGH");
  expect(await shop.adjust("A", -2)).toBe("ok");
  await shop.atRest({ A: units({ R: 3, T: 3 }) });
});

test.each(["the SKU's key", "all keys of the lane"])(
  "C37 (c) with %s removed from hot stock a cancel still gives the units back",
  async (what) => {
    const { shop, id } = await withHold();
    if (what === "all keys of the lane") await shop.hand.emptyHot();
    else await shop.hand.dropSkus();
    expect((await shop.cancel(id)).answer).toBe("ok");
    expect(await shop.levels("A")).toEqual(units({ A: 5, T: 5 }));
    expect((await shop.reserve("o2", "u2", ["A", 5])).answer).toBe("ok");
    await shop.atRest({ A: units({ R: 5, T: 5 }) }, { repairs: 1 });
  },
);
