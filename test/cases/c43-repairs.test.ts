import { expect } from "vitest";
import { run } from "../../src/cli/run.ts";
import { reservationId, skuId } from "../../src/domain/values.ts";
import { units } from "../support/at-rest.ts";
import { test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";

test("C43 (a) orders on their way are no fault, and a repair changes nothing", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  await shop.stopWorkers("ledger-writer");
  for (const n of [1, 2, 3]) {
    const request = { key: `k${n}`, buyer: `u${n}`, cart: [["A", 1]] as const, waitMs: 0 };
    expect((await shop.reserveAt(shop.first, request)).state).toBe("pending");
  }
  await shop.passes(3_000);
  const report = await shop.reconcile();
  expect(report).toMatchObject({ drift: 0, behind: 0, inFlight: 3, repairs: 0, stopped: 0 });
  expect(report.items).toMatchObject([{ sku: "A", status: "ok", hotAvailable: 7, inFlight: 3 }]);
  expect(await shop.repair()).toEqual([]);
  shop.first.start("ledger-writer");
  expect(await shop.levels("A")).toEqual(units({ A: 7, R: 3, T: 10 }));
  await shop.atRest({ A: units({ A: 7, R: 3, T: 10 }) });
});

/** Three orders, of which the second, of 2 units, loses its entry. */
async function damagedShop(): Promise<{ shop: Shop; damaged: string }> {
  const shop = await openShop({ stock: { A: 10, B: 10 }, onDisk: true });
  await shop.reserve("o1", "u1", ["A", 1], ["B", 1]);
  const { id: damaged } = await shop.reserve("o2", "u2", ["A", 2]);
  await shop.reserve("o3", "u3", ["A", 1]);
  const deleted = await shop.hand.sql(
    `delete from inventory_log where operation_type = 'reserve'
     and order_no = (select order_no from orders where order_id = ?)`,
    damaged,
  );
  expect(deleted).toBe(1);
  return { shop, damaged };
}

async function commandLine(line: string): Promise<{ code: number; result: unknown }> {
  let out = "";
  const code = await run({
    argv: line.split(" "),
    env: {},
    isOutTerminal: false,
    isErrTerminal: false,
    isInteractive: false,
    out: (text) => {
      out += text;
    },
    err: () => {},
    ask: () => Promise.resolve(""),
    stopping: () => new AbortController().signal,
  });
  return { code, result: JSON.parse(out.trim().split("\n").at(-1) ?? "null") };
}

test("C43 (b) a deleted entry is named exactly, and stops its SKU and no other", async () => {
  const { shop, damaged } = await damagedShop();
  await shop.passes(2_000);
  const damage = { what: "reserved", expected: 2, found: 0, reservationId: damaged };
  expect(await shop.ledger.bucketDamage([skuId("A"), skuId("B")])).toEqual([
    { sku: "A", ...damage },
  ]);
  expect(await shop.row("A")).toMatchObject({
    status: "stopped",
    statusReason: `reserved of order ${damaged}: 2 expected, 0 found`,
  });
  expect(await shop.verify()).toMatchObject({ ok: false, firstBroken: { sku: "A", version: 3 } });
  expect((await shop.reserve("o4", "u4", ["A", 1])).answer).toBe("SALE_PAUSED");
  expect((await shop.reserve("o5", "u5", ["B", 1])).answer).toBe("ok");
  const resting = { stopped: ["A"], proven: false, calls: 1 };
  await shop.atRest({ A: units({ A: 6, R: 4, T: 10 }), B: units({ A: 8, R: 2, T: 10 }) }, resting);
});

test("C43 (b) the command line says the same, and ends with 3", async () => {
  const { shop, damaged } = await damagedShop();
  const proof = await commandLine(`audit verify --ledger ${shop.ledgerUrl} --json`);
  expect(proof.code).toBe(3);
  expect(proof.result).toMatchObject({ ok: false, firstBroken: { sku: "A", version: 3 } });
  const sums = await commandLine(`reconcile --ledger ${shop.ledgerUrl} --json`);
  expect(sums.code).toBe(3);
  const damage = [{ sku: "A", expected: 2, found: 0, reservationId: damaged }];
  expect(sums.result).toMatchObject({ drift: 2, damage });
  shop.leavesDamage();
});

test("C43 (b) repairs, again and in parallel, leave damage of the ledger to a person", async () => {
  const { shop, damaged } = await damagedShop();
  await shop.passes(2_000);
  const entries = () =>
    shop.ledger.entries(skuId("A"), { after: 0, limit: 100, from: null, to: null });
  const before = {
    row: await shop.row("A"),
    entries: await entries(),
    hot: await shop.hand.copyHot(),
  };
  const reports = [await shop.repair(), await shop.repair()];
  reports.push(...(await Promise.all([shop.repair(), shop.repair()])));
  for (const report of reports) {
    expect(report).toMatchObject([{ action: "none", subject: "A", done: false }]);
    expect(report[0]?.reason).toContain(`order ${damaged}: 2 expected, 0 found`);
  }
  await shop.passes(2_000);
  const after = {
    row: await shop.row("A"),
    entries: await entries(),
    hot: await shop.hand.copyHot(),
  };
  expect(after).toEqual(before);
  const resting = { stopped: ["A"], proven: false, calls: 1 };
  await shop.atRest({ A: units({ A: 6, R: 4, T: 10 }), B: units({ A: 9, R: 1, T: 10 }) }, resting);
});

test("C43 (b) drift that somebody made in hot stock is repaired once, by a rebuild", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  await shop.reserve("o1", "u1", ["A", 2]);
  await shop.stopWorkers("reconciler");
  await shop.hand.editHot("A", (sku) => {
    sku.available -= 3;
  });
  const found = await shop.reconcile();
  expect(found).toMatchObject({ drift: 3, items: [{ sku: "A", drift: -3, status: "drift" }] });
  const repairs = (await Promise.all([shop.repair("A"), shop.repair("A")])).flat();
  // Whoever comes a little later finds it mended already.
  expect(repairs.length).toBeGreaterThan(0);
  for (const repair of repairs) expect(repair).toMatchObject({ action: "rebuild", done: true });
  expect(await shop.levels("A")).toEqual(units({ A: 8, R: 2, T: 10 }));
  expect(await shop.repair("A")).toEqual([]);
  shop.first.start("reconciler");
  await shop.atRest({ A: units({ A: 8, R: 2, T: 10 }) }, { repairs: 1 });
});

test("C43 (c) an id of one kind never names an order by another kind of id", async () => {
  const shop = await openShop({ stock: { A: 10 } });
  const second = await shop.reserve("o2", "u2", ["A", 2]);
  // Key, buyer and payment of the first order are the internal id of the second.
  const first = await shop.reserve(second.id, second.id, ["A", 1]);
  expect(first.id).not.toBe(second.id);
  expect((await shop.pay(first.id, second.id)).answer).toBe("ok");
  expect(await shop.state(second.id)).toBe("reserved");
  expect(await shop.levels("A")).toEqual(units({ A: 7, R: 2, S: 1, T: 10 }));
  const { hits } = await shop.first.engine.oversight.search(second.id);
  expect(hits.map(({ id, matched }) => [id, matched])).toEqual(
    expect.arrayContaining([
      [second.id, "reservationId"],
      [first.id, "paymentId"],
    ]),
  );
  expect((await shop.cancel(second.id)).state).toBe("cancelled");
  expect(await shop.state(first.id)).toBe("confirmed");
  expect((await shop.ledger.order(reservationId(first.id)))?.order.paymentId).toBe(second.id);
  await shop.atRest({ A: units({ A: 9, S: 1, T: 10 }) });
});
