import { systemClock } from "../src/clock.ts";
import type { Finding, Verdict } from "../src/loadtest/judge.ts";
import { type Load, LoadRun } from "./load.ts";
import { Normality } from "./normal.ts";
import { holdOpen } from "./open-holds.ts";
import type { FaultRow, RowResult } from "./row.ts";
import { Scene, type SharedServers } from "./scene.ts";
import { Trickle } from "./trickle.ts";

export type RowRun = {
  readonly result: RowResult;
  /** Why it is not ok, for people. */
  readonly why: readonly string[];
};

/** Plays one row: a fresh stage, the load, the fault a third of the way in, and the verdict. */
export async function runRow(row: FaultRow, shared: SharedServers, load: Load): Promise<RowRun> {
  const thirdMs = (load.seconds * 1_000) / 3;
  const scene = await Scene.open(shared, { ...row, faultMs: thirdMs });
  const run = new LoadRun(scene.serve.url, load);
  const normality = new Normality(scene.serve.url);
  const trickle = new Trickle(scene.serve.url);
  try {
    await normality.openSale();
    await trickle.openSale();
    await holdOpen(scene.serve.url, load.open ?? 0);
    await run.openSale();
    let secondsToNormal: number | null = null;
    const verdict = await run.judged(async () => {
      trickle.start();
      await systemClock.sleep(thirdMs);
      await row.inject(scene);
      secondsToNormal = await normality.secondsUntil(row.stops === undefined ? "usual" : "stopped");
      await trickle.stop();
    });
    const findings = [...verdict.findings, ...(await trickle.findings())];
    return judgeRow(row, { ...verdict, findings }, secondsToNormal);
  } catch (error) {
    const said = [scene.serve.log(), scene.ledger.server.log()].join("\n");
    throw new Error(`${row.id}: ${String(error)}\n${said}`, { cause: error });
  } finally {
    await trickle.close();
    await run.close();
    await scene.close();
  }
}

/** A row that could not be played has proved nothing, and says why; the others go on. */
export function unplayed({ id, fault }: FaultRow, error: unknown): RowRun {
  const nothing = { requests: 0, reserved: 0, lost: 0, oversold: 0, repairs: 0 };
  const result = { id, fault, ...nothing, secondsToNormal: null, proved: false, ok: false };
  return { result, why: [error instanceof Error ? error.message : String(error)] };
}

/** Exported for its test. */
export function judgeRow(row: FaultRow, verdict: Verdict, secondsToNormal: number | null): RowRun {
  const { requests, reserved, oversold, repairs } = verdict.report;
  const lost = verdict.findings
    .filter(({ code }) => code === "no-entry" || code === "pending" || code === "payment-lost")
    .reduce((sum, { facts }) => sum + Number(facts["keys"] ?? 1), 0);
  const why = verdict.findings.filter((each) => !isPriced(row, each)).map(tell);
  if (row.stops !== undefined && !verdict.findings.some(({ code }) => code === "stopped")) {
    why.push("no SKU was stopped for a person to look");
  }
  const proved = why.length === 0;
  if (secondsToNormal === null || secondsToNormal > row.normalWithin) {
    why.push(`as usual after ${secondsToNormal ?? "more than 120"} s, not ${row.normalWithin} s`);
  }
  const numbers = { requests, reserved, lost, oversold, repairs, secondsToNormal };
  const result = { id: row.id, fault: row.fault, ...numbers, proved, ok: why.length === 0 };
  return { result, why };
}

/**
 * What this fault may cost. Nothing may ever be oversold, lost or broken, unless somebody has
 * changed the ledger itself.
 */
function isPriced({ may, stops }: FaultRow, { code, facts }: Finding): boolean {
  if (stops !== undefined && (code === "stopped" || stops.finds.includes(code))) return true;
  if (code === "repairs") return may !== "nothing";
  return code === "refused-oddly" && facts["code"] === "VOID" && may === "tickets";
}

function tell({ code, facts }: Finding): string {
  const words = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return `${code}: ${words.join(", ")}`;
}
