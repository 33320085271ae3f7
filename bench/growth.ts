import { reserveAll } from "./answers.ts";
import { plenty, reserve } from "./committed.ts";
import { spreadRow } from "./hot-sku.ts";
import { closedLoop, rateOf } from "./load.ts";
import { guarded, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Pair, Row } from "./report.ts";
import { bytesOf } from "./storage.ts";
import { openSale, openWorld, prove } from "./world.ts";

/**
 * What the cost of an order does as there is more of everything: orders in the ledger and in hot
 * stock, SKUs, orders a transaction.
 */
export async function growthRows(scale: Scale): Promise<Row[]> {
  const rows: Row[] = [];
  for (const share of [0.5, 50, 500]) rows.push(...(await ordersRows(scale, scale.count * share)));
  for (const skus of [100, 1_000, 10_000]) rows.push(await spreadRow(scale, skus));
  for (const callers of [1, 10, 100, 1_000]) rows.push(await groupRow(scale, callers));
  return rows;
}

async function ordersRows(scale: Scale, orders: number): Promise<Row[]> {
  const rate: Plain = {
    name: `committed, ${orders} orders there`,
    unit: "reservations/s",
    baselineName: "none there",
    target: null,
  };
  const storage: Plain = {
    name: `ledger per order, ${orders} orders`,
    unit: "bytes",
    baselineName: null,
    target: null,
  };
  const sizes: Pair[] = [];
  // A long ledger takes its time to fill and to prove; short ones are noisier.
  const pairs = orders > scale.count * 100 ? 1 : scale.pairs;
  const rateRow = await guarded(rate, async () => {
    const rates: Pair[] = [];
    for (let n = 0; n < pairs; n += 1) {
      const baseline = await grown(scale, 0);
      const ours = await grown(scale, orders);
      rates.push({ ours: ours.rate, baseline: baseline.rate });
      sizes.push({ ours: ours.bytes / orders, baseline: null });
    }
    return rowOf(rate, rates);
  });
  return sizes.length === 0 ? [rateRow] : [rateRow, rowOf(storage, sizes)];
}

/** Beside so many open orders of the same SKU: what is committed, and what they take on disk. */
async function grown(
  scale: Scale,
  orders: number,
): Promise<{ readonly rate: number; readonly bytes: number }> {
  await using world = await openWorld();
  const sale = await openSale(world, { name: "grown", stock: plenty });
  const empty = bytesOf(world.file);
  await reserveAll(orders, (n) => reserve(world, sale, n));
  const bytes = bytesOf(world.file) - empty;
  const callers = scale.ourCallers.at(-1) ?? 1;
  const tally = await closedLoop({ callers, seconds: scale.seconds }, (n) =>
    reserve(world, sale, orders + n),
  );
  await prove(world, { sale, reserved: orders + tally.answered });
  return { rate: rateOf(tally), bytes };
}

/** So many callers, each with one order at a time, and how many of them share a transaction. */
async function groupRow(scale: Scale, callers: number): Promise<Row> {
  const plain: Plain = {
    name: `committed, ${callers} ${callers === 1 ? "caller" : "callers"}`,
    unit: "reservations/s",
    baselineName: null,
    target: null,
  };
  return guarded(plain, async () => {
    const groups = { count: 0, commands: 0 };
    const rates: Pair[] = [];
    for (let n = 0; n < scale.pairs; n += 1) {
      await using world = await openWorld({
        batchCommitted: (commands) => {
          groups.count += 1;
          groups.commands += commands;
        },
      });
      const sale = await openSale(world, { name: "group", stock: plenty });
      const tally = await closedLoop({ callers, seconds: scale.seconds }, (buyer) =>
        reserve(world, sale, buyer),
      );
      await prove(world, { sale, reserved: tally.answered });
      rates.push({ ours: rateOf(tally), baseline: null });
    }
    const share = groups.commands / groups.count;
    return rowOf({ ...plain, note: `${share.toFixed(1)} commands a transaction` }, rates);
  });
}
