import { NoAnswer } from "../../client/desk-errors.ts";
import { LevelBody, StockChangedBody } from "../../http/contract.ts";
import {
  type Command,
  type Context,
  exitCodes,
  numberOption,
  type Options,
  textOption,
} from "../context.ts";
import { usageError } from "../failure.ts";
import { atDesk, operationIdOf, path } from "../operator.ts";
import { entryTable, tellLevel } from "./stock.ts";

type Act = {
  readonly sku: string;
  readonly act: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

export const stockMoves = {
  restock: moving("restock"),
  withdraw: moving("withdraw"),
  freeze: moving("freeze"),
  unfreeze: moving("unfreeze"),
} as const;

function moving(act: "restock" | "withdraw" | "freeze" | "unfreeze"): Command {
  return (context, options, [sku = "", quantity = ""]) =>
    change(context, options, {
      sku,
      act,
      body: { quantity: wholeNumber(context, quantity), ...operator(options, act) },
    });
}

export const stockAdjust: Command = (context, options, [sku = ""]) => {
  const { text } = context;
  const delta = numberOption(options, "delta");
  const total = numberOption(options, "total");
  const version = numberOption(options, "ifVersion");
  const example = `holdfast stock adjust ${sku} --delta -3`;
  if ((delta === undefined) === (total === undefined)) {
    throw usageError(text("stock.oneOfDeltaTotal"), "", example);
  }
  if (total === undefined) {
    return change(context, options, {
      sku,
      act: "adjust",
      body: { delta, ...operator(options, "adjust") },
    });
  }
  if (version === undefined) {
    const next = `holdfast stock show ${sku}`;
    throw usageError(text("stock.totalNeedsVersion"), text("stock.totalNeedsVersion.why"), next);
  }
  return change(context, options, {
    sku,
    act: "adjust",
    body: { total, ...operator(options, "adjust") },
    headers: { "if-match": `"${version}"` },
  });
};

export const stockCount: Command = (context, options, [sku = "", found = ""]) =>
  change(context, options, {
    sku,
    act: "count",
    body: { found: wholeNumber(context, found), ...operator(options, "count") },
  });

export const stockStatuses = {
  stop: settingStatus("stop"),
  resume: settingStatus("resume"),
} as const;

function settingStatus(act: "stop" | "resume"): Command {
  return (context, options, [sku = ""]) =>
    atDesk(context, async (desk) => {
      const body = operator(options, act);
      const level = await desk
        .post(path("stock", sku, act), body, { schema: LevelBody })
        .catch(withOperationId(context, body.operationId));
      tellLevel(context, level);
      context.result(level);
      return exitCodes.done;
    });
}

function change(
  context: Context,
  _options: Options,
  { sku, act, body, headers }: Act,
): Promise<number> {
  return atDesk(context, async (desk) => {
    const options = { schema: StockChangedBody, ...(headers === undefined ? {} : { headers }) };
    const changed = await desk
      .post(path("stock", sku, act), body, options)
      .catch(withOperationId(context, String(body["operationId"])));
    for (const line of entryTable(context, changed.entries)) context.say(line);
    tellLevel(context, changed.level);
    context.note(context.text("act.operation", { operationId: String(body["operationId"]) }));
    context.result(changed);
    return exitCodes.done;
  });
}

function operator(options: Options, act: string): { operationId: string; reason: string } {
  const reason = textOption(options, "reason") ?? `${act} from the command line`;
  return { operationId: operationIdOf(options), reason };
}

/** An act whose answer was lost may have happened: the same id finds out, and does it once. */
function withOperationId(context: Context, operationId: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof NoAnswer && error.kind === "unknown") {
      context.note(context.text("act.again", { operationId }));
    }
    throw error;
  };
}

function wholeNumber({ text }: Context, word: string): number {
  if (/^\d{1,16}$/.test(word) && Number.isSafeInteger(Number(word))) return Number(word);
  throw usageError(text("stock.wholeNumber", { word }), "", "holdfast stock --help");
}
