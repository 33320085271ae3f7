import type { Clock } from "../clock.ts";
import { keysOf } from "../domain/book.ts";
import type { Command, CommandResult } from "../domain/command.ts";
import { decide } from "../domain/decide.ts";
import type { Instant, ReservationId, SkuId } from "../domain/values.ts";
import { type LoadedBook, loadBook } from "./book-load.ts";
import { writeBook } from "./book-write.ts";
import type { Commit } from "./ledger.ts";
import type { Sales } from "./sales.ts";
import type { SqlDatabase, SqlReader } from "./sql-database.ts";

export type CommitContext = {
  readonly database: SqlDatabase;
  readonly clock: Clock;
  readonly sales: Sales;
};

/** One transaction: read the working set, decide each command in order, write the changes. */
export async function commitCommands(
  context: CommitContext,
  commands: readonly Command[],
): Promise<Commit> {
  if (commands.length === 0) return { results: [], entries: [], settled: [] };
  const { database, clock, sales } = context;
  return database.transaction(async (session) => {
    const loaded = await loadBook(session, keysOf(commands), {
      now: () => decidingTime(database, session, clock),
      sales,
      database,
    });
    const { book } = loaded;
    const results = commands.map((command) => broken(loaded, command) ?? decide(book, command));
    await writeBook(session, loaded);
    return { results, entries: book.projected, settled: book.settled };
  });
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
