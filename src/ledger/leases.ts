import type { Lease } from "../domain/lease.ts";
import type { Instant } from "../domain/values.ts";
import { integer, text } from "./rows.ts";
import type { Row, SqlDatabase, SqlReader, SqlSession } from "./sql-database.ts";

export type LeaseWish = { readonly name: string; readonly forMs: number };

const leaseColumns = "name, holder, token, until_ms";
const leasesByName = `select ${leaseColumns} from leases where name in (?) order by name`;
const insertLease = "insert into leases (name, holder, token, until_ms) values (?, ?, 1, ?)";
const changeHands = "update leases set holder = ?, token = token + 1, until_ms = ? where name = ?";
const prolong = "update leases set until_ms = ? where holder = ? and name in (?)";
const freeAll = "update leases set until_ms = 0";
const giveUp = "update leases set until_ms = 0 where name = ? and token = ?";

type Now = (reader: SqlReader) => Promise<Instant>;

/**
 * Takes what is free and prolongs what the holder has. Who sees by a plain read that nothing is
 * free locks nothing. A lease that has run out stays its holder's until somebody else takes it:
 * only then does its token grow, and only then does anybody else act.
 */
export async function holdLeases(
  database: SqlDatabase,
  now: Now,
  { holder, wishes }: { readonly holder: string; readonly wishes: readonly LeaseWish[] },
): Promise<readonly Lease[]> {
  if (wishes.length === 0) return [];
  const names = wishes.map(({ name }) => name);
  const seen = rowsByName(await database.all(leasesByName, [names]));
  const seenAt = await now(database);
  const open = wishes.filter(({ name }) => mayHave(seen.get(name), holder, seenAt));
  if (open.length === 0) return [];
  return database.transaction((session) => hold(session, database, now, { holder, wishes: open }));
}

async function hold(
  session: SqlSession,
  { forUpdate }: Pick<SqlDatabase, "forUpdate">,
  now: Now,
  { holder, wishes }: { readonly holder: string; readonly wishes: readonly LeaseWish[] },
): Promise<readonly Lease[]> {
  const names = wishes.map(({ name }) => name);
  const rows = rowsByName(await session.all(`${leasesByName}${forUpdate}`, [names]));
  const at = await now(session);
  const held: Lease[] = [];
  const own = new Map<number, string[]>();
  for (const { name, forMs } of wishes) {
    const row = rows.get(name);
    if (!mayHave(row, holder, at)) continue;
    const token = row === undefined ? 0 : integer(row, "token");
    const isOwn = row !== undefined && text(row, "holder") === holder;
    held.push({ name, token: isOwn ? token : token + 1 });
    if (isOwn) own.set(forMs, [...(own.get(forMs) ?? []), name]);
    else if (row === undefined) await session.many(insertLease, [[name, holder, at + forMs]]);
    else await session.run(changeHands, [holder, at + forMs, name]);
  }
  for (const [forMs, list] of own) await session.run(prolong, [at + forMs, holder, list]);
  return held;
}

/** For who knows that nobody else is there. */
export async function freeLeases(database: SqlDatabase): Promise<void> {
  await database.transaction((session) => session.run(freeAll, []));
}

export async function releaseLeases(
  database: SqlDatabase,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length === 0) return;
  await database.transaction(async (session) => {
    for (const { name, token } of leases) await session.run(giveUp, [name, token]);
  });
}

/** The token of each lease, locked until the end of the transaction: nobody takes it meanwhile. */
export async function lockTokens(
  session: SqlReader,
  { forUpdate }: Pick<SqlDatabase, "forUpdate">,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await session.all(`${leasesByName}${forUpdate}`, [names]);
  return new Map(rows.map((row) => [text(row, "name"), integer(row, "token")]));
}

/** Is it still the holder's? For acts that are no commands. */
export async function isHeld(
  session: SqlReader,
  database: Pick<SqlDatabase, "forUpdate">,
  { name, token }: Lease,
): Promise<boolean> {
  return (await lockTokens(session, database, [name])).get(name) === token;
}

function rowsByName(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [text(row, "name"), row]));
}

function mayHave(row: Row | undefined, holder: string, at: Instant): boolean {
  return row === undefined || text(row, "holder") === holder || integer(row, "until_ms") <= at;
}
