import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";

const twenty = Array.from({ length: 20 }, (_, n) => n);

test("C04 twenty tries of one buyer at once get the one unit that the limit allows", async () => {
  const shop = await openShop({ stock: { A: 100 }, limit: 1 });
  const told = await Promise.all(twenty.map((n) => shop.reserve(`k${n}`, "u1", ["A", 1])));
  expect(told.filter(({ answer }) => answer === "ok")).toHaveLength(1);
  expect(told.filter(({ answer }) => answer === "LIMIT_EXCEEDED")).toHaveLength(19);
  expect(await shop.levels("A")).toEqual(units({ A: 99, R: 1, T: 100 }));

  const held = told.find(({ answer }) => answer === "ok");
  expect((await shop.cancel(held?.id ?? "")).answer).toBe("ok");
  const again = await shop.reserve("again", "u1", ["A", 1]);
  expect(again.answer).toBe("ok");
  expect(await shop.levels("A")).toEqual(units({ A: 99, R: 1, T: 100 }));

  expect((await shop.pay(again.id, "p1")).state).toBe("confirmed");
  expect((await shop.reserve("more", "u1", ["A", 1])).answer).toBe("LIMIT_EXCEEDED");
  await shop.atRest({ A: units({ A: 99, S: 1, T: 100 }) });
});

test("C04 a hot stock that has lost the buyers' counts does not let one buy twice", async () => {
  const shop = await openShop({ stock: { A: 100 }, limit: 1 });
  expect((await shop.reserve("k1", "u1", ["A", 1])).answer).toBe("ok");
  await shop.hand.editHot("A", (sku) => sku.buyers.clear());
  const told = await shop.reserve("k2", "u1", ["A", 1]);
  expect(told).toMatchObject({ answer: "LIMIT_EXCEEDED", state: "rejected" });
  await shop.atRest({ A: units({ A: 99, R: 1, T: 100 }) }, { lateRefusals: 1 });
});

test("C04 a returned unit gives its place back, an expired one too", async () => {
  const shop = await openShop({ stock: { A: 10 }, limit: 1, holdSeconds: 60 });
  const first = await shop.reserve("k1", "u1", ["A", 1]);
  await shop.later(60_200);
  expect((await shop.view(first.id)).state).toBe("expired");
  const second = await shop.reserve("k2", "u1", ["A", 1]);
  expect((await shop.pay(second.id, "p1")).answer).toBe("ok");
  expect((await shop.refund(second.id, "r1", { lines: null, restock: true })).answer).toBe("ok");
  expect((await shop.reserve("k3", "u1", ["A", 1])).answer).toBe("ok");
  await shop.atRest({ A: units({ A: 9, R: 1, T: 10 }) });
});
