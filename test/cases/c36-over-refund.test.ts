import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";

const back = (count: number) => ({ lines: [["A", count]] as const, restock: true });

test("C36 of two refunds that fit one by one and not together one is done", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const { id } = await shop.reserve("o1", "u1", ["A", 5]);
  await shop.pay(id, "p1");
  expect(await shop.levels("A")).toEqual(units({ A: 5, S: 5, T: 10 }));
  const both = await Promise.all([shop.refund(id, "r1", back(3)), shop.refund(id, "r2", back(3))]);
  expect(both.map(({ answer }) => answer)).toEqual(["ok", "NOT_ENOUGH"]);
  expect(await shop.levels("A")).toEqual(units({ A: 8, S: 2, T: 10 }));
  expect(await shop.refund(id, "r3", back(2))).toMatchObject({ answer: "ok", state: "refunded" });
  expect((await shop.refund(id, "r4", back(1))).answer).toBe("WRONG_STATE");
  expect((await shop.view(id)).refunds.map(({ refundId }) => refundId)).toEqual(["r1", "r3"]);
  await shop.atRest({ A: units({ A: 10, T: 10 }) });
});

test("C36 of twenty refunds of one unit at once five are done", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const { id } = await shop.reserve("o1", "u1", ["A", 5]);
  await shop.pay(id, "p1");
  const twenty = Array.from({ length: 20 }, (_, n) => shop.refund(id, `r${n}`, back(1)));
  const answers = (await Promise.all(twenty)).map(({ answer }) => answer);
  expect(answers.filter((answer) => answer === "ok")).toHaveLength(5);
  expect(answers.filter((answer) => answer === "WRONG_STATE")).toHaveLength(15);
  await shop.atRest({ A: units({ A: 10, T: 10 }) });
});

test("C36 a refund that names a SKU twice counts the sum", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const { id } = await shop.reserve("o1", "u1", ["A", 5]);
  await shop.pay(id, "p1");
  const lines = [
    ["A", 3],
    ["A", 3],
  ] as const;
  expect((await shop.refund(id, "r1", { lines, restock: true })).answer).toBe("NOT_ENOUGH");
  await shop.atRest({ A: units({ A: 5, S: 5, T: 10 }) });
});
