import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { beforeEachCall } from "../support/bent-ports.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop } from "../support/shop.ts";

const tries = Array.from({ length: 10 }, (_, n) => n);

test("C05 (a) repeats over the limit burn no units", async () => {
  const shop = await openShop({ stock: { A: 2 }, limit: 1 });
  expect((await shop.reserve("k", "u1", ["A", 1])).answer).toBe("ok");
  const told = await Promise.all(tries.map((n) => shop.reserve(`k${n}`, "u1", ["A", 1])));
  expect(told.map(({ answer }) => answer)).toEqual(tries.map(() => "LIMIT_EXCEEDED"));
  await shop.atRest({ A: units({ A: 1, R: 1, T: 2 }) });
});

test("C05 (b) an order that does not fit takes nothing from one that does", async () => {
  const shop = await openShop({
    stock: { A: 2 },
    // Whatever came after the first step of an order would come late.
    stores: (stores) => ({
      ...stores,
      hot: beforeEachCall(stores.hot, (call) =>
        call === "admit" ? undefined : stores.clock.sleep(100),
      ),
    }),
  });
  const seen: number[] = [];
  shop.time.eachTick(() => void shop.hand.editHot("A", ({ available }) => seen.push(available)));
  const [x, y] = await Promise.all([
    shop.reserve("x", "u1", ["A", 3]),
    shop.reserve("y", "u2", ["A", 2]),
  ]);
  expect([x.answer, y.answer]).toEqual(["SOLD_OUT", "ok"]);
  await shop.atRest({ A: units({ R: 2, T: 2 }) });
  expect(seen.length).toBeGreaterThan(100);
  expect(Math.min(...seen)).toBe(0);
});

test("C05 (b) a cart that fails at its last line holds nothing of the others", async () => {
  const shop = await openShop({ stock: { A: 1, B: 1, C: 1 } });
  expect((await shop.reserve("k1", "u1", ["C", 1])).answer).toBe("ok");
  const told = await shop.reserve("k2", "u2", ["A", 1], ["B", 1], ["C", 1]);
  expect(told.answer).toBe("SOLD_OUT");
  const both = await shop.reserve("k3", "u3", ["A", 1], ["B", 1]);
  expect(both.answer).toBe("ok");
  const held = units({ R: 1, T: 1 });
  await shop.atRest({ A: held, B: held, C: held });
});
