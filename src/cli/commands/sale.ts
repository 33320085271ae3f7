import type { Desk } from "../../client/desk.ts";
import { type LevelBody, SaleBody, SalePage } from "../../http/contract.ts";
import {
  type Command,
  type Context,
  exitCodes,
  isOn,
  listOption,
  numberOption,
  numberOr,
  textOption,
} from "../context.ts";
import { usageError } from "../failure.ts";
import { atDesk, confirmed, pageSize, path, query, readPages } from "../operator.ts";
import { table } from "../table.ts";

export const saleList: Command = (context, options) =>
  atDesk(context, async (desk) => {
    const limit = numberOr(options, "limit", 50);
    const first = `/v1/sales${query({ limit: pageSize(limit) })}`;
    const { items } = await readPages((at) => desk.get(at, SalePage), first, limit);
    const { text } = context;
    const head = ["sale", "state", "title", "skus"].map((name) => column(context, name));
    const rows = items.map(({ saleId, state, title, items: skus }) => [
      saleId,
      text(`saleState.${state}`),
      title,
      String(skus.length),
    ]);
    if (rows.length === 0) context.say(text("sale.none"));
    else
      for (const line of table([head, ...rows], ["left", "left", "left", "right"]))
        context.say(line);
    context.result({ items });
    return exitCodes.done;
  });

export const saleShow: Command = (context, _options, [saleId = ""]) =>
  atDesk(context, async (desk) => {
    const sale = await desk.get(path("sales", saleId), SaleBody);
    tellSale(context, sale);
    context.result(sale);
    return exitCodes.done;
  });

export const saleCreate: Command = (context, options, [saleId = ""]) =>
  atDesk(context, async (desk) => {
    const { text } = context;
    const items = listOption(options, "item").map((item) => readItem(context, item));
    const again = `holdfast sale create ${saleId} --item SKU=STOCK`;
    if (items.length === 0) throw usageError(text("sale.noItems"), "", again);
    const limitPerBuyer = numberOption(options, "limitPerBuyer");
    const title = textOption(options, "title");
    const opensAt = textOption(options, "opensAt");
    const closesAt = textOption(options, "closesAt");
    const body = {
      saleId,
      holdSeconds: numberOr(options, "holdSeconds", 900),
      items,
      ...(title === undefined ? {} : { title }),
      ...(opensAt === undefined ? {} : { opensAt }),
      ...(closesAt === undefined ? {} : { closesAt }),
      ...(limitPerBuyer === undefined ? {} : { limitPerBuyer }),
    };
    const created = await desk.post("/v1/sales", body, { schema: SaleBody });
    const sale = isOn(options, "open") ? await move(desk, { saleId, to: "open" }) : created;
    tellSale(context, sale);
    context.result(sale);
    return exitCodes.done;
  });

export const saleMoves = {
  open: moving("open"),
  pause: moving("pause"),
  close: moving("close"),
} as const;

type Move = keyof typeof saleMoves;

function moving(to: "open" | "pause" | "close"): Command {
  return (context, options, [saleId = ""]) =>
    atDesk(context, async (desk) => {
      const again = `holdfast sale close ${saleId} --yes`;
      const question = context.text("sale.confirmClose", { saleId });
      if (to === "close" && !(await confirmed(context, options, { question, again }))) {
        context.note(context.text("confirm.no"));
        return exitCodes.failed;
      }
      const operationId = textOption(options, "operationId");
      const reason = textOption(options, "reason") ?? `${to} from the command line`;
      const sale = await move(desk, { saleId, to, reason, ...(operationId && { operationId }) });
      tellSale(context, sale);
      context.result(sale);
      return exitCodes.done;
    });
}

type Moving = {
  readonly saleId: string;
  readonly to: Move;
  readonly operationId?: string;
  readonly reason?: string;
};

function move(desk: Desk, { saleId, to, operationId, reason }: Moving): Promise<SaleBody> {
  const body = {
    ...(operationId === undefined ? {} : { operationId }),
    ...(reason === undefined ? {} : { reason }),
  };
  return desk.post(path("sales", saleId, to), body, { schema: SaleBody });
}

function tellSale(context: Context, sale: SaleBody): void {
  const { text, paint, say } = context;
  const { saleId, title, state, opensAt, closesAt, holdSeconds, limitPerBuyer } = sale;
  say(paint.bold(`${saleId}  ${text(`saleState.${state}`)}${title === "" ? "" : `  ${title}`}`));
  if (opensAt !== null) say(`  ${text("sale.opensAt", { time: opensAt })}`);
  if (closesAt !== null) say(`  ${text("sale.closesAt", { time: closesAt })}`);
  say(`  ${text("sale.hold", { holdSeconds })}`);
  if (limitPerBuyer !== null) say(`  ${text("sale.limit", { limitPerBuyer })}`);
  for (const line of levelTable(context, sale.items)) say(`  ${line}`);
}

const levelColumns = ["total", "available", "reserved", "sold", "frozen", "lost"] as const;

/** A row per SKU: the ledger's buckets, and beside them what hot stock holds. */
export function levelTable(context: Context, levels: readonly LevelBody[]): string[] {
  const { text, paint } = context;
  const names = ["sku", "status", ...levelColumns, "hot", "inFlight", "drift"];
  const rows = levels.map((level) => [
    level.sku,
    level.status === "stopped" ? paint.red(text("status.stopped")) : text("status.normal"),
    ...levelColumns.map((name) => String(level[name])),
    level.hot === null ? text("status.closed") : String(level.hot.available),
    String(level.hot?.inFlight ?? 0),
    level.drift === 0 ? "0" : paint.red(String(level.drift)),
  ]);
  const align = names.map((_, at) => (at < 2 ? ("left" as const) : ("right" as const)));
  return table([names.map((name) => column(context, name)), ...rows], align);
}

export function column({ text, paint }: Context, name: string): string {
  return paint.dim(text(`column.${columnKey(name)}`));
}

function columnKey(name: string) {
  const known = [
    "sale",
    "state",
    "title",
    "skus",
    "sku",
    "status",
    "total",
    "available",
    "reserved",
    "sold",
    "frozen",
    "lost",
    "hot",
    "inFlight",
    "drift",
    "version",
    "operation",
    "quantity",
    "movement",
    "actor",
    "reason",
    "at",
    "id",
    "item",
    "tries",
    "hash",
    "behind",
  ] as const;
  return known.find((one) => one === name) ?? "id";
}

function readItem({ text }: Context, item: string): { sku: string; stock: number } {
  const [, sku, stock] = /^([^=]+)=(\d{1,15})$/.exec(item) ?? [];
  if (sku !== undefined && stock !== undefined) return { sku, stock: Number(stock) };
  throw usageError(text("sale.badItem", { item }), "", "--item phone=100");
}
