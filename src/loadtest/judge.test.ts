import { describe, expect, it } from "vitest";
import { type TinyFault, TinyStore, tinyFaults } from "../../test/support/tiny-store.ts";
import { systemClock } from "../clock.ts";
import { Crowd } from "./crowd.ts";
import { endingOf, idsOf, type KeyRecord } from "./history.ts";
import { judge, type Verdict } from "./judge.ts";
import { type CrowdPlan, usualCrowd } from "./plan.ts";
import { gather } from "./prove.ts";

async function run(stock: number, fault: TinyFault | null, more: Partial<CrowdPlan> = {}) {
  return judge(await evidenceOf(stock, fault, more));
}

async function evidenceOf(stock: number, fault: TinyFault | null, more: Partial<CrowdPlan>) {
  const store = new TinyStore(stock, fault);
  const plan: CrowdPlan = {
    ...usualCrowd,
    url: "http://127.0.0.1:0",
    apiKey: null,
    saleId: "sale",
    skus: [store.sku],
    run: "run",
    buyers: 200,
    arrival: { kind: "rush", overMs: 20 },
    connections: 8,
    patienceMs: 20,
    seed: 7,
    ...more,
  };
  const before = store.stores();
  const signal = new AbortController().signal;
  const crowd = new Crowd(plan, { shop: store.shop, clock: systemClock, signal });
  return gather(proving(store, plan, await crowd.run(), before));
}

function proving(
  store: TinyStore,
  plan: CrowdPlan,
  crowd: Awaited<ReturnType<Crowd["run"]>>,
  before: ReturnType<TinyStore["stores"]>,
) {
  let turns = 0;
  return {
    crowd,
    buyers: plan.buyers,
    saleId: plan.saleId,
    run: plan.run,
    skus: [{ sku: store.sku, stocked: store.stocked, version: 1 }],
    before,
    stores: () => Promise.resolve(store.stores()),
    witness: store.witness,
    shop: store.shop,
    // A store that never comes to rest is waited for without waiting.
    clock: { ...systemClock, mono: () => turns++ * 10_000, sleep: () => Promise.resolve() },
    asksAtRest: true,
  };
}

const codes = ({ findings }: Verdict): string[] => findings.map(({ code }) => code);

describe("the verdict on a sound store", () => {
  it("counts every buyer once and finds nothing", async () => {
    const verdict = await run(50, null);
    expect(verdict.findings).toEqual([]);
    expect(verdict.ok).toBe(true);
    expect(verdict.report).toMatchObject({
      stock: 50,
      buyers: 200,
      reserved: 50,
      rejected: 150,
      pending: 0,
      expired: 0,
      oversold: 0,
      leaked: 0,
      drift: 0,
      repairs: 0,
      auditOk: true,
    });
    expect(verdict.report.requests).toBeGreaterThan(200);
    expect(verdict.report.confirmed).toBeGreaterThan(20);
  });

  it("holds for carts of several units, and for more stock than buyers", async () => {
    expect(codes(await run(50, null, { quantityMax: 3 }))).toEqual([]);
    expect(codes(await run(500, null))).toEqual([]);
    expect(codes(await run(50, null, { settling: "thinking" }))).toEqual([]);
  });

  it("has the keys of the interface, in its order", async () => {
    expect(Object.keys((await run(5, null)).report)).toEqual([
      ...["stock", "buyers", "requests", "reserved", "rejected", "pending", "confirmed"],
      ...["expired", "oversold", "leaked", "drift", "repairs", "auditOk", "p50Ms", "p99Ms"],
      "seconds",
    ]);
  });
});

describe("the verdict on a store that", () => {
  const planted = Object.entries(tinyFaults) as [TinyFault, string][];
  it.each(planted)("%s is no: %s", async (fault, expected) => {
    // A repeat is a repeat only while there is something to be had.
    const stock = fault === "makes a second order for a repeat" ? 400 : 50;
    const verdict = await run(stock, fault);
    expect(verdict.ok).toBe(false);
    expect(codes(verdict)).toContain(expected);
  });
});

describe("an order that the ledger has lost", () => {
  it("is in nobody's hands without a payment, and is found to be lost", async () => {
    const evidence = await evidenceOf(50, null, {});
    const { records } = evidence.crowd;
    const isPaid = ({ settled }: KeyRecord) => settled?.act === "pay" && settled.told === "done";
    const paid = records.find(isPaid);
    const unpaid = records.find((one) => endingOf(one) === "reserved" && one.settled === null);
    if (paid === undefined || unpaid === undefined) throw new Error("nobody bought");
    const none = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };
    /** By what people were told alone: the ledger has forgotten, and counts nothing. */
    const judged = (stocked: number, ...lost: KeyRecord[]): Verdict => {
      const ids = new Set(lost.flatMap(idsOf));
      const skus = evidence.skus.map(({ replay, level, ...sku }) => {
        const orders = new Map([...replay.orders].filter(([id]) => !ids.has(id)));
        const forgotten = { ...replay, orders, oversold: 0 };
        return { ...sku, stocked, level: { ...level, buckets: none }, replay: forgotten };
      });
      return judge({ ...evidence, skus });
    };
    const inHands = judged(0).report.oversold;
    expect(inHands).toBeGreaterThan(30);
    expect(judged(0, paid).report.oversold).toBe(inHands);
    expect(judged(0, unpaid).report.oversold).toBe(inHands - 1);
    expect(codes(judged(0, paid, unpaid))).toContain("no-entry");
  });
});
