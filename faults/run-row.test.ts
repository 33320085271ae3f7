import { describe, expect, it } from "vitest";
import type { Finding, Report, Verdict } from "../src/loadtest/judge.ts";
import type { FaultRow } from "./row.ts";
import { judgeRow } from "./run-row.ts";

const report = { requests: 9, reserved: 5, oversold: 0, repairs: 0 } as Report;

function judged(
  may: FaultRow["may"],
  findings: readonly Finding[],
  seconds: number | null = 1,
  more: Pick<FaultRow, "stops"> = {},
) {
  const row: FaultRow = {
    ...{ id: "X1", fault: "a fault", isGate: false, bus: "redis", may, normalWithin: 5 },
    ...more,
    inject: () => Promise.resolve(),
  };
  const verdict: Verdict = { report, findings, ok: findings.length === 0 };
  return judgeRow(row, verdict, seconds);
}

const repairs: Finding = { code: "repairs", facts: { units: 1 } };
const isVoid: Finding = { code: "refused-oddly", facts: { key: "k", code: "VOID" } };

describe("the verdict on a row", () => {
  it("is good when nothing was found and it was soon as usual", () => {
    expect(judged("nothing", []).result).toEqual({
      ...{ id: "X1", fault: "a fault", requests: 9, reserved: 5, lost: 0, oversold: 0 },
      ...{ repairs: 0, secondsToNormal: 1, proved: true, ok: true },
    });
  });

  it.each<[FaultRow["may"], Finding, boolean]>([
    ["nothing", repairs, false],
    ["rebuild", repairs, true],
    ["tickets", repairs, true],
    ["nothing", isVoid, false],
    ["rebuild", isVoid, false],
    ["tickets", isVoid, true],
    ["tickets", { code: "oversold", facts: { units: 1 } }, false],
    ["tickets", { code: "no-entry", facts: { key: "k", id: "r" } }, false],
    ["tickets", { code: "refused-oddly", facts: { key: "k", code: "HTTP 500" } }, false],
  ])("what may cost %s, and %o was found: %s", (may, finding, ok) => {
    expect(judged(may, [finding]).result).toMatchObject({ ok, proved: ok });
  });

  it("counts each answer without an entry and each undecided key as lost", () => {
    const found: Finding[] = [
      { code: "no-entry", facts: { key: "k", id: "r" } },
      { code: "pending", facts: { keys: 3 } },
    ];
    expect(judged("tickets", found).result.lost).toBe(4);
  });

  it("is bad when it takes longer than its target", () => {
    const { result, why } = judged("tickets", [], 5.1);
    expect(result).toMatchObject({ ok: false, proved: true });
    expect(why).toEqual(["as usual after 5.1 s, not 5 s"]);
  });

  it("of a harmed ledger is good when SKUs were stopped, and only what was done is found", () => {
    const stopped: Finding = { code: "stopped", facts: { skus: 1 } };
    const gone: Finding = { code: "no-entry", facts: { key: "k", id: "r" } };
    const stops = { finds: ["no-entry"] } as const;
    const of = (...found: Finding[]): boolean =>
      judged("tickets", found, 1, { stops }).result.proved;
    expect([of(stopped, gone), of(gone), of(stopped, isVoid)]).toEqual([true, false, true]);
    expect(of(stopped, { code: "oversold", facts: { units: 1 } })).toBe(false);
    expect(judged("nothing", [stopped]).result.proved).toBe(false);
  });
});
