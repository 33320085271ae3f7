import { careForNewLanes } from "./lane-care.ts";
import type { SchemaSession, SqlReader } from "./sql-database.ts";

const lanesKnown = "select lane from lanes";
const insertLane = "insert into lanes (lane, epoch, met, incarnation) values (?, 0, 0, null)";

/** The lanes of a new ledger: their number is part of every reservation id, so it stays. */
export async function makeLanes(session: SchemaSession, count: number): Promise<void> {
  if (await lanesAreMade(session)) return;
  await session.many(
    insertLane,
    Array.from({ length: count }, (_, lane) => [lane]),
  );
  await careForNewLanes(session);
}

export async function lanesAreMade(reader: SqlReader): Promise<boolean> {
  return (await reader.all(lanesKnown, [])).length > 0;
}
