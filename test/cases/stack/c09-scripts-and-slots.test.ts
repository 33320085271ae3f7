import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { PrivateRedisCluster } from "../../../stack/redis-cluster.ts";
import { units } from "../../support/at-rest.ts";
import { openShop } from "../../support/shop.ts";
import { httpOf } from "../../support/shop-http.ts";
import { caseServers } from "../../support/shop-stack.ts";

const hundred = Array.from({ length: 100 }, (_, n) => n);

test("C09 (a) scripts that are flushed five times under load are nobody's business", async () => {
  const shop = await openShop({ stock: { A: 100 } });
  const redis = new Redis(caseServers().redis);
  onTestFinished(() => redis.disconnect());
  const asked: Promise<{ answer: string }>[] = [];
  for (const n of hundred) {
    asked.push(shop.reserve(`k${n}`, `u${n}`, ["A", 1]));
    if (n % 20 !== 19) continue;
    await redis.script("FLUSH");
    await shop.passes(5);
  }
  const told = await Promise.all(asked);
  expect(told.filter(({ answer }) => answer === "ok")).toHaveLength(100);
  await shop.atRest({ A: units({ R: 100, T: 100 }) });
});

test("C09 (b) a cart over four SKUs stands in one slot of a cluster", async () => {
  const cluster = await PrivateRedisCluster.start();
  onTestFinished(() => cluster.stop());
  const skus = ["a.b.", "-", "~", "x_y.z"].map((odd) => `s${odd}`);
  const stock = Object.fromEntries(skus.map((sku) => [sku, 2]));
  const shop = await openShop({ stock, servers: { hot: cluster.url } });
  const cart = skus.map((sku) => [sku, 1] as const);
  expect((await shop.reserve("k1", "u1", ...cart)).answer).toBe("ok");
  const held = units({ A: 1, R: 1, T: 2 });
  await shop.atRest(Object.fromEntries(skus.map((sku) => [sku, held])));
});

test("C09 (b) braces, which would change a slot, stand in no id", async () => {
  const shop = await openShop({ stock: { A: 2 } });
  const ask = await httpOf(shop);
  for (const sku of ["a{b}", "{}", "}{", "x{y}z"]) {
    const body = { saleId: "odd", holdSeconds: 60, items: [{ sku, stock: 2 }] };
    expect(await ask("/v1/sales", { body })).toMatchObject({ status: 400, code: "INVALID" });
    const items = [
      { sku: "A", quantity: 1 },
      { sku, quantity: 1 },
    ];
    const cart = { saleId: "sale", buyerId: "u1", items };
    const told = await ask("/v1/reservations", { key: "k1", body: cart });
    expect(told).toMatchObject({ status: 400, code: "INVALID" });
  }
  await shop.atRest({ A: units({ A: 2, T: 2 }) });
});
