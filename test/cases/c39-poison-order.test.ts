import { expect } from "vitest";
import { reservationId } from "../../src/domain/values.ts";
import { units } from "../support/at-rest.ts";
import { isOnStack, test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";

const holdMs = 60_000;
const skus = Array.from({ length: 10 }, (_, n) => `S${n}`);
const stock = Object.fromEntries(skus.map((sku) => [sku, 1]));

async function holdAll(shop: Shop): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const sku of skus) ids.push((await shop.reserve(`k-${sku}`, "u1", [sku, 1])).id);
  return ids;
}

async function sweep(shop: Shop): Promise<void> {
  await shop.time.pass(holdMs + 200);
  await shop.passes(1_000);
}

async function expectOnlyThirdHeld(shop: Shop, ids: readonly string[]): Promise<void> {
  for (const [n, id] of ids.entries()) {
    const found = await shop.ledger.order(reservationId(id));
    expect([id, found?.order.state]).toEqual([id, n === 2 ? "reserved" : "expired"]);
  }
  for (const sku of skus.filter((each) => each !== "S2")) {
    expect((await shop.row(sku)).balances).toMatchObject({ available: 1, reserved: 0 });
  }
}

const damages = {
  "whose stock row is missing": "delete from inventory where sku_id = 'S2'",
  "whose stock row was edited":
    "update inventory set available = 1, reserved = 0 where sku_id = 'S2'",
  "whose stock row was edited in another bucket":
    "update inventory set sold = sold + 1, total = total + 1 where sku_id = 'S2'",
};

test.each(Object.entries(damages))(
  "C39 a hold %s does not stop the sweep of the others",
  async (_, sql) => {
    const shop = await openShop({ stock, onDisk: true, holdSeconds: holdMs / 1000 });
    const ids = await holdAll(shop);
    expect(await shop.hand.sql(sql)).toBe(1);
    await sweep(shop);
    await expectOnlyThirdHeld(shop, ids);

    // The next sweep takes new orders; the bad one is tried with them, and reported again.
    const late = await shop.reserve("late", "u2", ["S9", 1]);
    await sweep(shop);
    expect(await shop.state(late.id)).toBe("expired");
    await expectOnlyThirdHeld(shop, ids);
    const alarms = shop.noted.filter((line) => line.startsWith(`alarm expiry: hold ${ids[2]}`));
    expect(alarms).toHaveLength(2);
    expect(await shop.verify()).toMatchObject({ ok: false });
    shop.leavesDamage();
  },
);

test("C39 a hold that was broken is swept as soon as it is mended", async () => {
  const shop = await openShop({ stock, onDisk: true, holdSeconds: holdMs / 1000 });
  await holdAll(shop);
  await shop.hand.sql("update inventory set available = 1, reserved = 0 where sku_id = 'S2'");
  await sweep(shop);
  await shop.hand.sql("update inventory set available = 0, reserved = 1 where sku_id = 'S2'");
  await shop.passes(1_000);
  const free = units({ A: 1, T: 1 });
  const expected = Object.fromEntries(skus.map((sku) => [sku, free]));
  await shop.atRest(expected, { stopped: ["S2"], calls: 2 });
});

/** Over HTTP it is told to come back; what is wrong is for the operator's eyes. */
const refusal = isOnStack ? "ask again with the same id" : "a person must look";

test.each(Object.entries(damages))(
  "C39 an order with a line %s is not paid, cancelled or refunded by half",
  async (_, sql) => {
    const shop = await openShop({ stock, onDisk: true, holdSeconds: holdMs / 1000 });
    const { id } = await shop.reserve("o1", "u1", ["S1", 1], ["S2", 1]);
    await shop.hand.sql(sql);
    await expect(shop.pay(id, "p1")).rejects.toThrow(refusal);
    await expect(shop.cancel(id)).rejects.toThrow(refusal);
    await shop.time.pass(holdMs + 200);
    await expect(shop.pay(id, "p2")).rejects.toThrow(refusal);
    const found = await shop.ledger.order(reservationId(id));
    expect(found).toMatchObject({ order: { state: "reserved", paymentId: null }, payments: [] });
    expect((await shop.row("S1")).balances).toMatchObject({ available: 0, reserved: 1, sold: 0 });
    shop.leavesDamage();
  },
);
