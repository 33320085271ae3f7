import type { Clock } from "../clock.ts";
import { type BookKeys, keysOf } from "../domain/book.ts";
import type { Command, CommandResult } from "../domain/command.ts";
import { decide } from "../domain/decide.ts";
import type { Instant, ReservationId, SkuId } from "../domain/values.ts";
import { type LoadedBook, loadBook } from "./book-load.ts";
import { BookWriter } from "./book-write.ts";
import { Disturbed } from "./disturbed.ts";
import type { Commit } from "./ledger.ts";
import type { Sales } from "./sales.ts";
import { portions, type SqlDatabase, type SqlReader, type SqlSession } from "./sql-database.ts";

export type CommitContext = {
  readonly database: SqlDatabase;
  readonly clock: Clock;
  readonly sales: Sales;
};

/**
 * One transaction: read the working set, decide each command in order, write the changes. The
 * first time it takes the tickets to be new, without asking; where one is not, its order's unique
 * key undoes the transaction, and it is run again with everything read.
 */
export async function commitCommands(
  context: CommitContext,
  commands: readonly Command[],
): Promise<Commit> {
  if (commands.length === 0) return { results: [], entries: [], settled: [] };
  let isFirst = true;
  return context.database.transaction(async (session) => {
    const expectNew = isFirst;
    isFirst = false;
    const loaded = await load(context, session, keysOf(commands, { expectNew }));
    const writer = new BookWriter(session, loaded);
    const { remote } = context.database;
    const results: CommandResult[] = [];
    for (const part of portions(commands, remote?.decidedAhead ?? commands.length)) {
      const decided = part.map((each) => broken(loaded, each) ?? decide(loaded.book, each));
      // A repeat is answered whatever has become of its SKU.
      if (expectNew && decided.some(isUndecided)) throw new Disturbed("overtaken", doubtful);
      results.push(...decided);
      if (remote === undefined || results.length === commands.length) continue;
      writer.begin();
      await remote.turn();
    }
    await writer.finish();
    return { results, entries: loaded.book.projected, settled: loaded.book.settled };
  });
}

const doubtful = "a command that cannot be decided may be a repeat";

function load(
  { database, clock, sales }: CommitContext,
  session: SqlSession,
  keys: BookKeys,
): Promise<LoadedBook> {
  const now = () => decidingTime(database, session, clock);
  return loadBook(session, keys, { now, sales, database });
}

function isUndecided({ status }: CommandResult): boolean {
  return status === "broken" || status === "poison";
}

/** The database's clock; where it has none, the process's. */
export async function decidingTime(
  database: SqlDatabase,
  reader: SqlReader,
  clock: Clock,
): Promise<Instant> {
  return database.now === undefined ? clock.now() : database.now(reader);
}

function broken(loaded: LoadedBook, command: Command): CommandResult | null {
  return brokenOrder(loaded, command) ?? brokenSku(loaded, command);
}

/** An order with a line that is gone is not settled by its other lines. */
function brokenOrder({ damagedOrders }: LoadedBook, command: Command): CommandResult | null {
  if (damagedOrders.size === 0) return null;
  const id = movedOrder(command);
  const reason = id === null ? undefined : damagedOrders.get(id);
  return reason === undefined ? null : { status: "broken", sku: null, reason };
}

/** The order whose units a command may move. */
function movedOrder(command: Command): ReservationId | null {
  switch (command.kind) {
    case "cancel":
    case "confirm":
    case "expire":
    case "refund":
      return command.id;
    case "ticket":
      return command.ticket.kind === "revive" ? command.ticket.reservationId : null;
    default:
      return null;
  }
}

/** Nothing moves on a SKU whose row and log disagree: a person looks first. */
function brokenSku({ damaged, book }: LoadedBook, command: Command): CommandResult | null {
  if (damaged.size === 0) return null;
  for (const sku of movedSkus(book, command)) {
    const reason = damaged.get(sku);
    if (reason !== undefined) return { status: "broken", sku, reason };
  }
  return null;
}

/** The SKUs on which a command may make an entry. A repeat of a decided ticket makes none. */
function movedSkus(book: LoadedBook["book"], command: Command): readonly SkuId[] {
  switch (command.kind) {
    case "ticket":
      if (command.ticket.kind === "reserve" && book.orders.has(command.ticket.id)) return [];
      return command.ticket.lines.map(({ sku }) => sku);
    case "cancel":
    case "confirm":
    case "expire":
    case "refund":
      return (book.orders.get(command.id)?.lines ?? []).map(({ sku }) => sku);
    case "give":
    case "count":
      return [command.sku];
    case "create-sale":
      if (book.sales.has(command.saleId)) return [];
      return command.items.map(({ sku }) => sku);
    case "void":
    case "barrier":
    case "refuse-late":
    case "extend":
    case "settle-payment":
    case "sale-state":
    case "sku-status":
      return [];
  }
}
