import { describe, expect, it } from "vitest";
import { runBenches } from "../../bench/benches.ts";
import { reserve } from "../../bench/committed.ts";
import { guarded, type Plain, rowOf, type Scale } from "../../bench/pairs.ts";
import { type Row, reportOf } from "../../bench/report.ts";
import { growthPerMinute } from "../../bench/soak.ts";
import { openSale, openWorld, prove } from "../../bench/world.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";

const tiny: Scale = {
  seconds: 0.05,
  pairs: 2,
  ourCallers: [4],
  recipeCallers: [1],
  count: 40,
};
const plain: Plain = { name: "any", unit: "1/s", baselineName: null, target: null };

describe("the benchmark", () => {
  it("says each row's figure, baseline, pairs and verdict, as JSON", async () => {
    const told: Row[] = [];
    const rows = await runBenches(["committed", "lone", "bytes"], (row) => told.push(row), tiny);
    const report: unknown = JSON.parse(JSON.stringify(reportOf(rows)));
    const pair = { ours: expect.any(Number), baseline: expect.any(Number) };
    expect(told).toEqual(rows);
    expect(report).toMatchObject({
      machine: { cpu: expect.any(String), cores: expect.any(Number) },
      versions: { node: process.versions.node, "better-sqlite3": expect.stringMatching(/^\d/) },
      commit: expect.any(String),
      rows: [
        { name: "committed", baselineName: "one transaction per order", pairs: [pair, pair] },
        { name: "a lone request", unit: "ms", pairs: [pair, pair] },
        { name: "a lone request over HTTP", unit: "ms", pairs: [pair, pair] },
        { name: "ledger per order", unit: "bytes", baseline: null, ratio: null, ok: true },
      ],
    });
  });

  it("judges by the median of the ratios", () => {
    const target = { of: "ratio", is: ">=", bound: 5 } as const;
    const pairs = [4, 6, 5, 9, 1].map((ours) => ({ ours, baseline: 1 }));
    expect(rowOf({ ...plain, target }, pairs)).toMatchObject({ ratio: 5, ok: true });
    expect(rowOf({ ...plain, target }, pairs.slice(2))).toMatchObject({ ratio: 5, ok: true });
    expect(rowOf({ ...plain, target }, pairs.slice(4))).toMatchObject({ ratio: 1, ok: false });
  });

  it("measures growth as a share of the mean, by least squares", () => {
    const sample = (second: number, resident: number) => ({
      second,
      resident,
      heap: 0,
      reserved: 0,
    });
    expect(growthPerMinute([0, 60, 120].map((at) => sample(at, 100)))).toBe(0);
    expect(growthPerMinute([sample(0, 99), sample(60, 100), sample(120, 101)])).toBeCloseTo(1);
  });
});

describe("a run that breaks an invariant has no figure", () => {
  it("when more was promised than the ledger holds", async () => {
    const row = await guarded(plain, async () => {
      await using world = await openWorld();
      const sale = await openSale(world, { name: "short", stock: 10 });
      await reserve(world, sale, 0);
      await prove(world, { sale, reserved: 2 });
      return rowOf(plain, [{ ours: 1, baseline: null }]);
    });
    expect(row).toMatchObject({ ours: null, ok: false, note: expect.stringContaining("reserved") });
  });

  it("when hot stock had to be repaired", async () => {
    const row = await guarded(plain, async () => {
      await using world = await openWorld();
      const sale = await openSale(world, { name: "bent", stock: 10 });
      const { hot } = world.holdfast.parts;
      if (hot instanceof MemoryHotStock) hot.flush();
      await reserve(world, sale, 0);
      await prove(world, { sale, reserved: 1 });
      return rowOf(plain, [{ ours: 1, baseline: null }]);
    });
    expect(row).toMatchObject({ ours: null, ok: false });
  });
});
