import { NoAnswer } from "../../client/desk-errors.ts";
import { skuId, ValueError } from "../../domain/values.ts";
import { VerificationBody } from "../../http/contract.ts";
import type { Verification } from "../../ledger/ledger.ts";
import { type Command, type Context, exitCodes, textOption } from "../context.ts";
import { usageError } from "../failure.ts";
import { isLedgerNamed, mayReadLedger, withLedger } from "../ledger-file.ts";
import { atDesk } from "../operator.ts";

/** Recomputes every chain, sum and bucket; names the first entry that does not hold. */
export const auditVerify: Command = async (context, options) => {
  const sku = textOption(options, "sku");
  const found = isLedgerNamed(context)
    ? await offline(context, sku)
    : await online(context, sku).catch((error: unknown) => {
        if (!(error instanceof NoAnswer) || error.kind !== "away") throw error;
        if (!mayReadLedger(context)) throw error;
        context.note(context.text("offline.noServer", { url: error.url }));
        return offline(context, sku);
      });
  tell(context, found);
  const { ok, skus, entries, firstBroken } = found;
  context.result({ ok, skus, entries, firstBroken });
  return ok ? exitCodes.done : exitCodes.broken;
};

function online(context: Context, sku: string | undefined): Promise<Found> {
  const body = sku === undefined ? {} : { sku };
  return atDesk(context, (desk) =>
    desk.post("/v1/audit/verify", body, { schema: VerificationBody }),
  );
}

type Found = Pick<Verification, "ok" | "skus" | "entries"> & {
  readonly firstBroken: {
    readonly sku: string;
    readonly version: number;
    readonly what: string;
    readonly expected: string;
    readonly found: string;
  } | null;
};

function offline(context: Context, sku: string | undefined): Promise<Found> {
  const { text, loaded } = context;
  return withLedger(loaded.config.ledger, text, (ledger) => ledger.verify(readSku(context, sku)));
}

function readSku({ text }: Context, sku: string | undefined) {
  try {
    return sku === undefined ? null : skuId(sku);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw usageError(
      text("audit.badSku", { sku: sku ?? "" }),
      error.message,
      "holdfast stock list",
    );
  }
}

function tell({ text, paint, say }: Context, { ok, skus, entries, firstBroken }: Found): void {
  if (ok) {
    say(paint.green(text("audit.ok", { skus, entries })));
    return;
  }
  say(paint.red(text("audit.broken", { skus, entries })));
  if (firstBroken === null) return;
  const { sku, version, what, expected, found } = firstBroken;
  say(`  ${text("audit.first", { sku, version: String(version), what })}`);
  say(`  ${text("audit.expected", { expected, found })}`);
}
