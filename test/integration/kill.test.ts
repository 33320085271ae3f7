import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSale } from "../../src/cli/rush.ts";
import { type Desk, openDesk } from "../../src/client/desk.ts";
import { systemClock } from "../../src/clock.ts";
import { Crowd } from "../../src/loadtest/crowd.ts";
import { endingOf } from "../../src/loadtest/history.ts";
import { httpWitness, storesNow } from "../../src/loadtest/http-witness.ts";
import { type Evidence, judge, type Verdict } from "../../src/loadtest/judge.ts";
import { type CrowdPlan, usualCrowd } from "../../src/loadtest/plan.ts";
import { gather, type SkuStart } from "../../src/loadtest/prove.ts";
import { openShop } from "../../src/loadtest/shop.ts";
import { aFreePort, runCommand, type Server, startServer } from "../support/command-line.ts";

const file = "ledger.db";
const saleId = "rush";
const sku = "phone";
const buyers = 900;

let folder: string;
let server: Server;
let desk: Desk;
let args: readonly string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
  args = [
    "--port",
    String(await aFreePort()),
    "--ledger",
    `sqlite:${file}`,
    "--log-level",
    "error",
  ];
  server = await startServer(args, { cwd: folder });
  desk = openDesk({ url: server.url, apiKey: null });
});

afterEach(async () => {
  await desk.close();
  await server.end("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Kills the server at these moments, each time starts it again on the same file and port. */
async function killAt(momentsMs: readonly number[]): Promise<void> {
  let elapsedMs = 0;
  for (const momentMs of momentsMs) {
    await systemClock.sleep(Math.max(0, momentMs - elapsedMs));
    const fromMs = systemClock.mono();
    await server.end("SIGKILL");
    server = await startServer(args, { cwd: folder });
    elapsedMs = momentMs + (systemClock.mono() - fromMs);
  }
}

function planFor(more: Partial<CrowdPlan>): CrowdPlan {
  return {
    ...usualCrowd,
    url: server.url,
    apiKey: null,
    saleId,
    skus: [sku],
    run: "kill",
    buyers,
    arrival: { kind: "rush", overMs: 2_500 },
    settling: "thinking",
    connections: 64,
    waitSeconds: 2,
    seed: 11,
    ...more,
  };
}

async function judged(plan: CrowdPlan, start: SkuStart, kills: readonly number[]) {
  const shop = openShop(plan);
  const before = await storesNow(desk);
  const signal = new AbortController().signal;
  const crowd = new Crowd(plan, { shop, clock: systemClock, signal });
  const [result] = await Promise.all([crowd.run(), killAt(kills)]);
  const evidence = await gather({
    ...{ crowd: result, buyers, saleId, run: plan.run, skus: [start], before, shop },
    stores: () => storesNow(desk),
    witness: httpWitness(desk),
    clock: systemClock,
    asksAtRest: true,
  });
  await shop.close();
  return { evidence, verdict: judge(evidence) };
}

/** Tickets that died with the memory of the killed process end void: the one "no" of its own. */
function beyondVoid({ findings }: Verdict): unknown[] {
  return findings.filter(({ code, facts }) => {
    return !(code === "refused-oddly" && facts["code"] === "VOID");
  });
}

function told(evidence: Evidence): Record<string, number> {
  const counts: Record<string, number> = { reserved: 0, rejected: 0, pending: 0 };
  for (const record of evidence.crowd.records) {
    const ending = endingOf(record);
    counts[ending] = (counts[ending] ?? 0) + 1;
  }
  return counts;
}

describe("a server that is killed in the middle of a rush and started on the same file", () => {
  const rounds: [string, readonly number[], number][] = [
    ["early, while there is still stock", [120, 700], 500],
    ["around the moment it sells out", [400, 1_000, 1_700], 150],
    ["late, while holders pay and cancel", [1_400, 2_400], 700],
  ];

  it.each(rounds)(
    "keeps every promise: %s",
    async (_, kills, stock) => {
      const start = await openSale(desk, { saleId, sku, title: "", stock, holdSeconds: 900 });
      const { evidence, verdict } = await judged(planFor({}), start, kills);

      expect(beyondVoid(verdict)).toEqual([]);
      expect(verdict.report).toMatchObject({
        ...{ stock, buyers, pending: 0, oversold: 0, leaked: 0, drift: 0, auditOk: true },
      });
      expect(told(evidence)["reserved"]).toBeGreaterThan(0);
      expect(evidence.crowd.records.some(({ answers }) => answers.some(isCut))).toBe(true);
      await server.end("SIGTERM");
      const audit = await runCommand(["audit", "verify", "--json", "--ledger", `sqlite:${file}`], {
        cwd: folder,
      });
      expect(audit.code).toBe(0);
      expect(JSON.parse(audit.lines.at(-1) ?? "")).toMatchObject({ ok: true, firstBroken: null });
    },
    180_000,
  );
});

/** The kill was felt: somebody's answer never came. */
function isCut({ kind }: { readonly kind: string }): boolean {
  return kind === "unknown";
}
