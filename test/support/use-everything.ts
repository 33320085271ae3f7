import type { ManualClock } from "../../src/clock.ts";
import { reservationId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import {
  cancel,
  confirm,
  expire,
  give,
  leaseOf,
  openSale,
  refund,
  reserve,
  revive,
  skuA,
  skuB,
  take,
} from "./ledger-fixtures.ts";

/** Every statement of a ledger at least once: what its plans are is looked at afterwards. */
export async function useEverything(ledger: Ledger, clock: ManualClock): Promise<void> {
  await openSale(ledger, { limit: 5, holdMs: 1000 });
  await ledger.commit([reserve("a"), reserve("b"), reserve("c"), reserve("d")]);
  await ledger.commit([confirm("a", "p1"), confirm("b", "p1"), cancel("c"), reserve("a")]);
  await ledger.commit([confirm("a", "p2"), refund("a", { id: "x" })]);
  await ledger.commit([take("freeze", skuA, { id: "f", quantity: 2 })]);
  await ledger.commit([give("unfreeze", skuA, { id: "u", quantity: 1 })]);
  clock.advance(1000);
  const due = await ledger.dueHolds(null, 1);
  await ledger.dueHolds(due[0] ?? null, 1);
  await ledger.commit([expire("d")]);
  await ledger.commit([revive("d", "p3")]);
  await ledger.snapshot(0, ["a", "take:sku-a:f"]);
  await ledger.settled(0, ["a", "take:sku-a:f"]);
  await ledger.entriesAfter(skuA, 0, 10);
  await ledger.order(reservationId("a"));
  await ledger.orderEntries(reservationId("a"));
  await ledger.levels([skuA, skuB]);
  await ledger.levelPage(null, 10);
  await ledger.balancesAt([{ sku: skuA, version: 1 }]);
  await ledger.versionAt(skuA, clock.now());
  await ledger.entries(skuA, { after: 0, limit: 10, from: 0, to: null });
  await ledger.sales({ after: null, limit: 10 });
  await ledger.salesIn(["open"]);
  await ledger.endedSales([]);
  await ledger.search("a", 10);
  await ledger.verify(null);
  await ledger.bucketDamage([skuA]);
  await ledger.counts();
  await ledger.unpublished(10);
  await ledger.published([{ sku: skuA, version: 1 }], await leaseOf(ledger, "publisher"));
}
