import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { isOnStack, test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";

/** The expirer writes a deadline down this late at the most. */
const toleranceMs = 200;

/** On servers time passes while they answer. */
const justBeforeMs = isOnStack ? 500 : 999;

test("C16 a short window behind a long one of the same SKU ends in its own time", async () => {
  const shop = await openShop({ stock: { A: 2 }, holdSeconds: 1 });
  const long = await shop.reserve("long", "u1", ["A", 1]);
  await shop.extend(long.id, 19);
  const short = await shop.reserve("short", "u2", ["A", 1]);
  await shop.later(justBeforeMs);
  expect(await shop.levels("A")).toEqual(units({ R: 2, T: 2 }));
  await shop.later(1_000 - justBeforeMs + toleranceMs);
  expect((await shop.view(short.id)).state).toBe("expired");
  expect((await shop.view(long.id)).state).toBe("reserved");
  expect(await shop.levels("A")).toEqual(units({ A: 1, R: 1, T: 2 }));
  await shop.later(19_000);
  expect((await shop.view(long.id)).state).toBe("expired");
  await shop.atRest({ A: units({ A: 2, T: 2 }) });
});

test("C16 a sale with a short window ends its holds before one with a long window", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: 20 });
  await shop.openSale("brief", { stock: { B: 1 }, holdSeconds: 1 });
  await shop.reserve("long", "u1", ["A", 1]);
  await shop.reserveAt(shop.first, { key: "short", buyer: "u2", cart: [["B", 1]], sale: "brief" });
  await shop.later(1_000 + toleranceMs);
  expect(await shop.levels("A")).toEqual(units({ R: 1, T: 1 }));
  expect(await shop.levels("B")).toEqual(units({ A: 1, T: 1 }));
  await shop.later(19_000);
  await shop.atRest({ A: units({ A: 1, T: 1 }), B: units({ A: 1, T: 1 }) });
});
