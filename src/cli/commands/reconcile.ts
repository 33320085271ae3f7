import type { Static } from "typebox";
import type { Desk } from "../../client/desk.ts";
import { NoAnswer } from "../../client/desk-errors.ts";
import { ReconciliationBody, RepairBody } from "../../http/contract.ts";
import type { BucketDamage, Ledger } from "../../ledger/ledger.ts";
import {
  type Command,
  type Context,
  exitCodes,
  isOn,
  type Options,
  textOption,
} from "../context.ts";
import { usageError } from "../failure.ts";
import { isLedgerNamed, mayReadLedger, withLedger } from "../ledger-file.ts";
import { atDesk } from "../operator.ts";
import { table } from "../table.ts";
import { column } from "./sale.ts";

type Reconciliation = Static<typeof ReconciliationBody>;
type Repair = Static<typeof RepairBody>;

const settleMsMax = 5_000;
const settlePollMs = 50;

/** Compares hot stock with the ledger, exactly and under traffic; repairs only when asked to. */
export const reconcile: Command = async (context, options) => {
  if (isOn(options, "dryRun") && !isOn(options, "repair")) {
    const { text } = context;
    throw usageError(text("reconcile.dryRunAlone"), "", "holdfast reconcile --repair --dry-run");
  }
  if (isLedgerNamed(context)) return ledgerOnly(context, options);
  try {
    return await atDesk(context, (desk) => compare(context, options, desk));
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.kind !== "away" || !mayReadLedger(context))
      throw error;
    context.note(context.text("offline.noServer", { url: error.url }));
    return ledgerOnly(context, options);
  }
};

async function compare(context: Context, options: Options, desk: Desk): Promise<number> {
  const read = (): Promise<Reconciliation> => desk.get("/v1/reconciliation", ReconciliationBody);
  const before = await read();
  if (!isOn(options, "repair")) {
    tellReconciliation(context, before);
    context.result(before);
    return before.drift === 0 ? exitCodes.done : exitCodes.broken;
  }
  const dryRun = isOn(options, "dryRun");
  const sku = textOption(options, "sku");
  const reason = textOption(options, "reason") ?? "repair from the command line";
  const body = { dryRun, reason, ...(sku === undefined ? {} : { sku }) };
  const repair = await desk.post("/v1/reconciliation/repair", body, { schema: RepairBody });
  tellRepair(context, repair);
  const after = dryRun ? before : await settled(context, read);
  tellReconciliation(context, after);
  context.result({ ...after, ...repair });
  return after.drift === 0 ? exitCodes.done : exitCodes.broken;
}

/** A rebuild takes a moment: what stands after it is the result. */
async function settled(
  { clock }: Context,
  read: () => Promise<Reconciliation>,
): Promise<Reconciliation> {
  const untilMs = clock.mono() + settleMsMax;
  for (;;) {
    const found = await read();
    if ((found.closed === 0 && found.drift === 0) || clock.mono() >= untilMs) return found;
    await clock.sleep(settlePollMs);
  }
}

function tellReconciliation(context: Context, found: Reconciliation): void {
  const { text, paint, say } = context;
  const { skus, drift, behind, inFlight, repairs, closed, stopped } = found;
  const names = ["sku", "status", "version", "available", "inFlight", "hot", "drift", "behind"];
  const rows = found.items.map((item) => [
    item.sku,
    item.status === "ok" ? "ok" : paint.yellow(item.status),
    String(item.version),
    ...[item.ledgerAvailable, item.inFlight, item.hotAvailable].map(String),
    item.drift === 0 ? "0" : paint.red(String(item.drift)),
    String(item.behind),
  ]);
  const align = names.map((_, at) => (at < 2 ? ("left" as const) : ("right" as const)));
  const head = names.map((name) => column(context, name));
  if (rows.length > 0) for (const line of table([head, ...rows], align)) say(line);
  const words = text("reconcile.sum", { skus, drift, behind, inFlight, repairs, closed, stopped });
  say(drift === 0 ? paint.green(words) : paint.red(words));
}

function tellRepair({ text, say }: Context, { dryRun, actions }: Repair): void {
  if (actions.length === 0) say(text("reconcile.nothing"));
  for (const { action, subject, reason, done, look } of actions) {
    const what = done ? text("reconcile.did", { action, subject, reason }) : undefined;
    say(what ?? text(dryRun ? "reconcile.would" : "reconcile.not", { action, subject, reason }));
    say(`  ${look}`);
  }
}

/** Without a server there is no hot stock: the ledger's own sums are all that can be compared. */
function ledgerOnly(context: Context, options: Options): Promise<number> {
  if (isOn(options, "repair")) {
    const { text } = context;
    throw usageError(text("reconcile.offlineRepair"), "", "holdfast serve");
  }
  const { ledger } = context.loaded.config;
  return withLedger(ledger, context.text, async (beside) => {
    context.note(context.text("reconcile.ledgerOnly"));
    const { skus, damage } = await allDamage(beside);
    for (const { sku, what, expected, found } of damage) {
      context.say(context.text("reconcile.damage", { sku, what, expected, found }));
    }
    const drift = damage.reduce((sum, one) => sum + Math.abs(one.expected - one.found), 0);
    context.say(context.text("reconcile.ledgerSum", { skus, drift }));
    context.result({ skus, drift, repairs: 0, hot: null, damage });
    return damage.length === 0 ? exitCodes.done : exitCodes.broken;
  });
}

async function allDamage(ledger: Ledger): Promise<{ skus: number; damage: BucketDamage[] }> {
  const damage: BucketDamage[] = [];
  let skus = 0;
  for (let after: string | null = null; ; ) {
    const page = await ledger.levelPage(after, 500);
    const names = page.map(({ sku }) => sku);
    if (names.length > 0) damage.push(...(await ledger.bucketDamage(names)));
    skus += names.length;
    after = names.at(-1) ?? null;
    if (names.length < 500) return { skus, damage };
  }
}
