import type { SkuEvidence } from "../loadtest/judge.ts";
import { bucketNames } from "../loadtest/witness.ts";
import type { Context } from "./context.ts";
import type { RushResult } from "./rush.ts";
import { bar, table } from "./table.ts";
import { optionalText } from "./text.ts";

const barWidth = 32;
const findingsShown = 10;

/** Tells a run in the order in which it happened: the answers, the shelves, the proof. */
export function tellStory(context: Context, result: RushResult): void {
  const { evidence, verdict } = result;
  tellAnswers(context, result);
  for (const sku of evidence.skus) tellSku(context, sku, result);
  tellProof(context, result);
  if (!verdict.ok) tellFindings(context, result);
}

function tellAnswers(context: Context, { verdict }: RushResult): void {
  const { text, paint, say } = context;
  const { report } = verdict;
  const numbers = new Intl.NumberFormat(text.language);
  const { buyers, reserved, rejected, pending } = report;
  say();
  say(paint.bold(text("story.answers")));
  const rows = (
    [
      ["story.reserved", reserved],
      ["story.rejected", rejected],
      ["story.pending", pending],
    ] as const
  ).map(([key, units]) => [text(key), numbers.format(units), bar(units, buyers, barWidth)]);
  for (const line of table(rows, ["left", "right", "left"])) say(`  ${line}`);
  say(paint.dim(`  ${text("story.requests", { requests: report.requests, buyers })}`));
  const { seconds, p50Ms, p99Ms } = report;
  say(paint.dim(`  ${text("story.latency", { seconds, p50Ms, p99Ms })}`));
}

function tellSku(context: Context, sku: SkuEvidence, { verdict }: RushResult): void {
  const { text, paint, say } = context;
  const numbers = new Intl.NumberFormat(text.language);
  const { buckets } = sku.level;
  const total = Object.values(buckets).reduce((sum, units) => sum + units, 0);
  say();
  say(paint.bold(text("story.shelves", { sku: sku.sku })));
  const rows = bucketNames.map((name) => [
    text(`bucket.${name}`),
    numbers.format(buckets[name]),
    bar(buckets[name], total, barWidth),
  ]);
  for (const line of table(rows, ["left", "right", "left"])) say(`  ${line}`);
  const stocked = sku.stocked ?? sku.replay.stocked;
  const sum = bucketNames.map((name) => numbers.format(buckets[name])).join(" + ");
  const isWhole = total === stocked && verdict.report.leaked === 0;
  say(`  ${check(context, isWhole)} ${text("story.equation", { sum, stocked })}`);
}

function tellProof(context: Context, result: RushResult): void {
  const { evidence, verdict } = result;
  const { text, paint, say } = context;
  const { report } = verdict;
  say();
  say(paint.bold(text(result.isBeside ? "story.proof" : "story.proofByApi")));
  for (const { sku, level } of evidence.skus) {
    const hot = evidence.after.items.find((item) => item.sku === sku);
    if (hot === undefined) continue;
    const { hotAvailable, inFlight } = hot;
    const ledger = level.buckets.available;
    const fits = hotAvailable + inFlight === ledger;
    say(`  ${check(context, fits)} ${text("story.hot", { hotAvailable, inFlight, ledger })}`);
  }
  const { oversold, leaked, drift, repairs, reserved } = report;
  const isClean = oversold + leaked + drift + repairs === 0;
  say(
    `  ${check(context, isClean)} ${text("story.numbers", { oversold, leaked, drift, repairs })}`,
  );
  const isKept = !verdict.findings.some(({ code }) => code === "no-entry");
  say(`  ${check(context, isKept)} ${text("story.entries", { reserved })}`);
  const { entries } = evidence.audit;
  const head = evidence.skus[0]?.level.hash.slice(0, 12) ?? "";
  say(`  ${check(context, report.auditOk)} ${text("story.audit", { entries, head })}`);
}

function tellFindings(context: Context, { verdict }: RushResult): void {
  const { text, paint, note } = context;
  note("");
  note(paint.red(paint.bold(text("story.broken", { findings: verdict.findings.length }))));
  for (const { code, facts } of verdict.findings.slice(0, findingsShown)) {
    note(`  ${paint.red("✖")} ${optionalText(text, `finding.${code}`, facts) ?? code}`);
  }
  const more = verdict.findings.length - findingsShown;
  if (more > 0) note(`    ${text("story.more", { more })}`);
}

export function check({ paint }: Context, holds: boolean): string {
  return holds ? paint.green("✔") : paint.red("✖");
}
