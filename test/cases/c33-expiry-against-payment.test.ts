import { expect } from "vitest";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";

const holdMs = 60_000;

/** Time passes and nobody writes the deadlines down. */
async function withoutSweep(shop: Shop, ms: number): Promise<void> {
  await shop.stopWorkers("expirer");
  await shop.later(ms);
}

/** Pays and sweeps in the same moment, around the deadline, in either order. */
async function race(shop: Shop, run: number): Promise<{ id: string; isRevived: boolean }> {
  const { id } = await shop.reserve(`k${run}`, `u${run}`, ["A", 1]);
  await withoutSweep(shop, holdMs - 2 + (run % 5));
  const payFirst = run % 2 === 0;
  if (!payFirst) shop.first.start("expirer");
  const paid = shop.pay(id, `p${run}`);
  if (payFirst) shop.first.start("expirer");
  const told = await paid;
  expect(told).toMatchObject({ answer: "ok", state: "confirmed" });
  return { id, isRevived: told.view?.revived === true };
}

test("C33 (a) of payment and expiry in one moment the payment wins, 200 times", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: holdMs / 1000 });
  const seen = { held: 0, revived: 0 };
  for (let run = 0; run < 200; run += 1) {
    const { id, isRevived } = await race(shop, run);
    seen[isRevived ? "revived" : "held"] += 1;
    expect(await shop.levels("A")).toEqual(units({ S: 1, T: 1 }));
    await shop.refund(id, "back", { lines: null, restock: true });
  }
  // Before the deadline it was still held; from the deadline on, it was taken again.
  expect(seen).toEqual({ held: 80, revived: 120 });
  await shop.atRest({ A: units({ A: 1, T: 1 }) });
});

test("C33 (a) where another waits for the unit, it goes to one of the two", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: holdMs / 1000 });
  const ends = new Set<string>();
  for (let run = 0; run < 20; run += 1) {
    const first = await shop.reserve(`k${run}`, `u${run}`, ["A", 1]);
    await withoutSweep(shop, holdMs - 1 + (run % 2));
    shop.first.start("expirer");
    if (run % 4 > 1) await shop.time.pass(200);
    const [next, paid] = await Promise.all([
      shop.reserve(`n${run}`, `v${run}`, ["A", 1]),
      shop.pay(first.id, `p${run}`),
    ]);
    ends.add(`${paid.answer} ${next.answer}`);
    const winner = paid.answer === "ok" ? first.id : next.id;
    if (paid.answer === "REFUND_DUE") {
      expect(await shop.levels("A")).toEqual(units({ R: 1, T: 1 }));
      expect(paid.view?.refundDue).toHaveLength(1);
      await shop.cancel(winner);
    } else {
      expect(await shop.levels("A")).toEqual(units({ S: 1, T: 1 }));
      await shop.refund(winner, "back", { lines: null, restock: true });
    }
  }
  expect([...ends].sort()).toEqual(["REFUND_DUE ok", "ok SOLD_OUT"]);
  await shop.atRest({ A: units({ A: 1, T: 1 }) });
});

test("C33 (b) paid in time and told late, with the unit free: the order is revived", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: holdMs / 1000 });
  const { id, view } = await shop.reserve("k1", "u1", ["A", 1]);
  const deadline = view?.expiresAt ?? 0;
  await shop.later(holdMs + 5_000);
  expect((await shop.view(id)).state).toBe("expired");
  const told = await shop.pay(id, "p1", deadline - 5_000);
  expect(told).toMatchObject({ answer: "ok", state: "confirmed", view: { revived: true } });
  expect((await shop.pay(id, "p1", deadline - 5_000)).answer).toBe("replayed");
  await shop.atRest({ A: units({ S: 1, T: 1 }) });
});

test("C33 (c) told late three times, with the unit gone: due back once", async () => {
  const shop = await openShop({ stock: { A: 1 }, holdSeconds: holdMs / 1000 });
  const { id, view } = await shop.reserve("k1", "u1", ["A", 1]);
  const paidAt = (view?.expiresAt ?? 0) - 5_000;
  await shop.later(holdMs + 1_000);
  const other = await shop.reserve("k2", "u2", ["A", 1]);
  await shop.pay(other.id, "q1");
  for (const _ of ["webhook", "webhook", "return"]) {
    const told = await shop.pay(id, "p1", paidAt);
    expect(told).toMatchObject({ answer: "REFUND_DUE", state: "expired" });
    expect(told.view?.refundDue).toMatchObject([{ paymentId: "p1", state: "due" }]);
  }
  expect((await shop.payBack(id, "r1", "p1")).view?.refundDue).toEqual([]);
  expect((await shop.payBack(id, "r1", "p1")).answer).toBe("replayed");
  expect((await shop.payBack(id, "r2", "p1")).answer).toBe("WRONG_STATE");
  await shop.atRest({ A: units({ S: 1, T: 1 }) });
});

test("C33 (c) a late payment that only the ledger refuses is due back once", async () => {
  const shop = await openShop({ stock: { A: 2 }, limit: 1, holdSeconds: holdMs / 1000 });
  const { id } = await shop.reserve("k1", "u1", ["A", 1]);
  await shop.later(holdMs + 1_000);
  expect((await shop.reserve("k2", "u1", ["A", 1])).answer).toBe("ok");
  await shop.hand.editHot("A", (sku) => sku.buyers.clear());
  const told = await shop.pay(id, "p1");
  expect(told).toMatchObject({ answer: "REFUND_DUE", state: "expired" });
  expect(await shop.pay(id, "p1")).toMatchObject({ answer: "REFUND_DUE" });
  expect(told.view?.refundDue).toHaveLength(1);
  await shop.atRest({ A: units({ A: 1, R: 1, T: 2 }) }, { lateRefusals: 1 });
});

test("C33 (c) a late payment does not pass the limit of its buyer", async () => {
  const shop = await openShop({ stock: { A: 2 }, limit: 1, holdSeconds: holdMs / 1000 });
  const { id } = await shop.reserve("k1", "u1", ["A", 1]);
  await shop.later(holdMs + 1_000);
  expect((await shop.reserve("k2", "u1", ["A", 1])).answer).toBe("ok");
  expect((await shop.pay(id, "p1")).answer).toBe("REFUND_DUE");
  await shop.atRest({ A: units({ A: 1, R: 1, T: 2 }) });
});
