import type { Instant } from "../domain/values.ts";
import type { DeadLetter, DeadLetterQuery, DeadLetterSettlement, NewDeadLetter } from "./ledger.ts";
import { deadLetterOf } from "./row-parsers.ts";
import type { SqlDatabase, SqlReader } from "./sql-database.ts";

const letterColumns = `
  id, lane, reason, body, kind, item_id, sku_id, tries, state, created_at_ms, settled_at_ms,
  settled_by, settled_reason`;

const insertLetter = `
  insert into dead_letters (
    lane, reason, body, kind, item_id, sku_id, tries, state, created_at_ms
  ) values (?, ?, ?, ?, ?, ?, ?, 'open', ?)`;

const letterById = `select ${letterColumns} from dead_letters where id = ?`;

/** A filter that is null lets everything pass. */
const lettersAfter = `
  select ${letterColumns} from dead_letters
  where id > ?
    and (? is null or state = ?)
    and (? is null or lane = ?)
    and (? is null or reason = ?)
    and (? is null or item_id = ?)
  order by id limit ?`;

const settleOpen = `
  update dead_letters
  set state = ?, settled_at_ms = ?, settled_by = ?, settled_reason = ?
  where id = ? and state = 'open'`;

export async function addDeadLetter(
  database: SqlDatabase,
  letter: NewDeadLetter,
  at: Instant,
): Promise<number> {
  const { lane, reason, body, kind, itemId, sku, tries } = letter;
  const row = [lane, reason, body, kind, itemId, sku, tries, at];
  const [id] = await database.transaction((session) => session.insert(insertLetter, [row]));
  return id ?? 0;
}

export async function deadLetter(reader: SqlReader, id: number): Promise<DeadLetter | null> {
  const [row] = await reader.all(letterById, [id]);
  return row === undefined ? null : deadLetterOf(row);
}

export async function deadLetters(
  reader: SqlReader,
  query: DeadLetterQuery,
): Promise<readonly DeadLetter[]> {
  const { state, lane, reason, itemId } = query;
  const filters = [state, state, lane, lane, reason, reason, itemId, itemId];
  return (await reader.all(lettersAfter, [query.after, ...filters, query.limit])).map(deadLetterOf);
}

/** Two operators may press the button at once: one of them is first. */
export async function settleDeadLetter(
  database: SqlDatabase,
  id: number,
  settlement: DeadLetterSettlement & { readonly at: Instant },
): Promise<boolean> {
  const { state, at, actor, reason } = settlement;
  const changed = await database.transaction((session) =>
    session.run(settleOpen, [state, at, actor, reason, id]),
  );
  return changed === 1;
}
