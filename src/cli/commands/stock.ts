import type { Desk } from "../../client/desk.ts";
import { type EntryBody, EntryPage, LevelBody, LevelPage } from "../../http/contract.ts";
import {
  type Command,
  type Context,
  exitCodes,
  numberOption,
  numberOr,
  type Options,
  textOption,
} from "../context.ts";
import { atDesk, pageSize, path, query, readPages } from "../operator.ts";
import { table } from "../table.ts";
import { column, levelTable } from "./sale.ts";

export const stockList: Command = (context, options) =>
  atDesk(context, async (desk) => {
    const limit = numberOr(options, "limit", 1_000);
    const first = `/v1/stock${query({ limit: pageSize(limit) })}`;
    const { items } = await readPages((at) => desk.get(at, LevelPage), first, limit);
    if (items.length === 0) context.say(context.text("stock.none"));
    else for (const line of levelTable(context, items)) context.say(line);
    context.result({ items });
    return exitCodes.done;
  });

export const stockShow: Command = (context, options, [sku = ""]) =>
  atDesk(context, async (desk) => {
    const asOf = query({
      asOfVersion: numberOption(options, "asOfVersion"),
      asOf: textOption(options, "asOf"),
    });
    const level = await desk.get(path("stock", sku) + asOf, LevelBody);
    tellLevel(context, level);
    context.result(level);
    return exitCodes.done;
  });

/** The ledger's buckets with their equation, then hot stock with its own. */
export function tellLevel(context: Context, level: LevelBody): void {
  const { text, say } = context;
  const { available, reserved, sold, frozen, lost, total, version, hash, hot } = level;
  for (const line of levelTable(context, [level])) say(line);
  say(text("stock.equation", { available, reserved, sold, frozen, lost, total }));
  if (hot === null) say(text("stock.hotClosed"));
  else say(text("stock.hot", { hot: hot.available, inFlight: hot.inFlight, behind: level.behind }));
  say(text("stock.version", { version, hash }));
  if (level.statusReason !== null) say(text("stock.because", { reason: level.statusReason }));
}

export const stockEntries: Command = (context, options, [sku = ""]) =>
  atDesk(context, async (desk) => {
    const format = textOption(options, "format");
    if (format !== undefined) return exportEntries(context, desk, { sku, format, options });
    const limit = numberOr(options, "limit", 50);
    const search = query({
      limit: pageSize(limit),
      from: textOption(options, "from"),
      to: textOption(options, "to"),
      cursor: textOption(options, "cursor"),
    });
    const first = `${path("stock", sku, "entries")}${search}`;
    const { items, next } = await readPages((at) => desk.get(at, EntryPage), first, limit);
    for (const line of entryTable(context, items)) context.say(line);
    if (next !== null) context.say(context.text("stock.more", { limit: limit * 10 }));
    context.result({ items, next });
    return exitCodes.done;
  });

type Export = { readonly sku: string; readonly format: string; readonly options: Options };

/** All of them, as they come: a pipe takes them page by page. */
async function exportEntries(
  context: Context,
  desk: Desk,
  { sku, format, options }: Export,
): Promise<number> {
  const [from, to] = [textOption(options, "from"), textOption(options, "to")];
  const whole = `${path("stock", sku, "entries")}${query({ format, from, to })}`;
  for await (const text of desk.stream(whole)) context.write(text);
  return exitCodes.done;
}

export function entryTable(context: Context, entries: readonly EntryBody[]): string[] {
  const names = [
    "version",
    "operation",
    "quantity",
    "movement",
    "available",
    "actor",
    "at",
    "hash",
  ];
  const rows = entries.map((entry) => [
    String(entry.version),
    entry.operation,
    String(entry.quantity),
    entry.from === null ? "–" : `${entry.from} → ${entry.to}`,
    String(entry.after.available),
    entry.actor,
    entry.at,
    entry.hash.slice(0, 12),
  ]);
  const right = ["version", "quantity", "available"];
  const align = names.map((name) =>
    right.includes(name) ? ("right" as const) : ("left" as const),
  );
  return table([names.map((name) => column(context, name)), ...rows], align);
}
