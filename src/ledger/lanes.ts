import type { SchemaSession } from "./sql-database.ts";

const lanesKnown = "select lane from lanes";
const insertLane = "insert into lanes (lane, epoch, met, incarnation) values (?, 0, 0, null)";

/** The lanes of a new ledger: their number is part of every reservation id, so it stays. */
export async function makeLanes(session: SchemaSession, count: number): Promise<void> {
  const known = await session.all(lanesKnown, []);
  if (known.length > 0) return;
  await session.many(
    insertLane,
    Array.from({ length: count }, (_, lane) => [lane]),
  );
}
