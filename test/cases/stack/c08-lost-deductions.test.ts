import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { units } from "../../support/at-rest.ts";
import { openShop, type Shop } from "../../support/shop.ts";
import { caseServers } from "../../support/shop-stack.ts";

const six = Array.from({ length: 6 }, (_, n) => n);
const fifteen = Array.from({ length: 15 }, (_, n) => n);

/** What the shop's hot stock holds now; the function that is returned puts just that back. */
async function copyOfHot({ prefix }: Shop): Promise<() => Promise<void>> {
  const redis = new Redis(caseServers().redis);
  onTestFinished(() => redis.disconnect());
  const own = async (): Promise<readonly string[]> =>
    (await redis.keys(`${prefix}:*`)).filter((key) => !key.endsWith(":bus"));
  const kept = new Map<string, Buffer>();
  for (const key of await own()) {
    const dump = await redis.dumpBuffer(key);
    if (dump !== null) kept.set(key, dump);
  }
  return async () => {
    const step = redis.multi().del(...(await own()));
    for (const [key, dump] of kept) step.restore(key, 0, dump);
    await step.exec();
  };
}

/** Six deductions that the ledger has and hot stock has no more: 15 left where there are 9. */
async function withSixForgotten(): Promise<Shop> {
  const shop = await openShop({ stock: { A: 20 } });
  for (const n of [0, 1, 2, 3, 4]) await shop.reserve(`a${n}`, `a${n}`, ["A", 1]);
  expect(await shop.levels("A")).toEqual(units({ A: 15, R: 5, T: 20 }));
  const putBack = await copyOfHot(shop);
  for (const n of six) await shop.reserve(`b${n}`, `b${n}`, ["A", 1]);
  expect(await shop.levels("A")).toEqual(units({ A: 9, R: 11, T: 20 }));
  await shop.stopWorkers("reconciler");
  await putBack();
  return shop;
}

test("C08 the report says by how much a hot stock that was put back is behind", async () => {
  const shop = await withSixForgotten();
  const { behind, drift, items } = await shop.reconcile();
  expect({ behind, drift }).toEqual({ behind: 6, drift: 0 });
  const [item] = items;
  expect(item).toMatchObject({ sku: "A", status: "behind", behind: 6, hotAvailable: 15 });
  expect((await shop.row("A")).balances).toMatchObject({ available: 9, reserved: 11 });
  // What hot stock lacks is read from the ledger: ordinary work, and no repair.
  shop.first.start("reconciler");
  expect(await shop.levels("A")).toEqual(units({ A: 9, R: 11, T: 20 }));
  await shop.atRest({ A: units({ A: 9, R: 11, T: 20 }) });
});

test("C08 nobody is promised one of the six units that are gone already", async () => {
  const shop = await withSixForgotten();
  const told = await Promise.all(fifteen.map((n) => shop.reserve(`c${n}`, `c${n}`, ["A", 1])));
  expect(told.filter(({ state }) => state === "reserved")).toHaveLength(9);
  for (const { answer, state } of told) {
    if (state === "reserved") continue;
    expect(answer).toBe("SOLD_OUT");
    expect(["rejected", null]).toContain(state);
  }
  // One of the six asks again: it is the order that it was.
  const again = await shop.reserve("b0", "b0", ["A", 1]);
  expect(again).toMatchObject({ state: "reserved", id: shop.idOf("b0", "b0") });
  shop.first.start("reconciler");
  const late = told.filter(({ state }) => state === "rejected").length;
  await shop.atRest({ A: units({ R: 20, T: 20 }) }, { lateRefusals: late });
});
