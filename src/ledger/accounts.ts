import type { Instant } from "../domain/values.ts";
import type { Accounts, AttemptLimit, NewSession, SessionRow } from "./ledger.ts";
import { bytes, integer, text } from "./rows.ts";
import type { Row, SqlDatabase, SqlReader, SqlSession } from "./sql-database.ts";

const adminName = "console-admin";
const kept = "select value from meta where name = ?";
const keep = "insert into meta (name, value) values (?, ?)";
/** A row that is always there: who has it is alone with what may not be there yet. */
const turn = "select name from meta where name = 'reservation-ids'";

const sessionById = `
  select session_id, name, credential, opened_at_ms, seen_at_ms from sessions
  where session_id = ?`;
const insertSession = `
  insert into sessions (session_id, name, credential, opened_at_ms, seen_at_ms)
  values (?, ?, ?, ?, ?)`;
const sweepSessions = "delete from sessions where opened_at_ms < ?";
const seeSession = "update sessions set seen_at_ms = ? where session_id = ?";
const endSession = "delete from sessions where session_id = ?";
const endSessionsOf = "delete from sessions where name = ?";

const attemptsBySubject = `
  select subject, failures, last_at_ms, locked_until_ms from sign_in_attempts
  where subject in (?) order by subject`;
const insertAttempt = `
  insert into sign_in_attempts (subject, failures, last_at_ms, locked_until_ms)
  values (?, ?, ?, ?)`;
const updateAttempt = `
  update sign_in_attempts set failures = ?, last_at_ms = ?, locked_until_ms = ?
  where subject = ?`;
const forgetAttempts = "delete from sign_in_attempts where subject in (?)";
const sweepAttempts = "delete from sign_in_attempts where last_at_ms < ? and locked_until_ms < ?";

export class SqlAccounts implements Accounts {
  readonly #database: SqlDatabase;
  readonly #now: (reader: SqlReader) => Promise<Instant>;

  constructor(database: SqlDatabase, now: (reader: SqlReader) => Promise<Instant>) {
    this.#database = database;
    this.#now = now;
  }

  adminCredential(): Promise<string | null> {
    return keptCredential(this.#database);
  }

  keepAdminCredential(hash: string): Promise<string> {
    return this.#database.transaction(async (session) => {
      await session.all(`${turn}${this.#database.forUpdate}`, []);
      const known = await keptCredential(session);
      if (known !== null) return known;
      await session.many(keep, [[adminName, Buffer.from(hash)]]);
      return hash;
    });
  }

  async openSession({ id, name, credential }: NewSession, forgetMs: number): Promise<void> {
    await this.#database.transaction(async (session) => {
      const now = await this.#now(session);
      await session.run(sweepSessions, [now - forgetMs]);
      await session.many(insertSession, [[id, name, credential, now, now]]);
    });
  }

  async session(id: string): Promise<SessionRow | null> {
    const [row] = await this.#database.all(sessionById, [id]);
    return row === undefined ? null : sessionOf(row, await this.#now(this.#database));
  }

  async sessionSeen(id: string): Promise<void> {
    await this.#database.transaction(async (session) =>
      session.run(seeSession, [await this.#now(session), id]),
    );
  }

  async endSession(id: string): Promise<boolean> {
    const ended = await this.#database.transaction((session) => session.run(endSession, [id]));
    return ended === 1;
  }

  endSessionsOf(name: string): Promise<number> {
    return this.#database.transaction((session) => session.run(endSessionsOf, [name]));
  }

  /** Who is locked out is told so by a plain read: knocking on costs the ledger no lock. */
  async countAttempt(limits: readonly AttemptLimit[]): Promise<number | null> {
    const { lockedMs } = await this.#attempts(this.#database, limits);
    if (lockedMs > 0) return lockedMs;
    return this.#database.transaction((session) => this.#count(session, limits));
  }

  async forgetAttempts(subjects: readonly string[]): Promise<void> {
    await this.#database.transaction((session) => session.run(forgetAttempts, [subjects]));
  }

  async #count(session: SqlSession, limits: readonly AttemptLimit[]): Promise<number | null> {
    await session.all(`${turn}${this.#database.forUpdate}`, []);
    const { lockedMs, rows, now } = await this.#attempts(session, limits);
    if (lockedMs > 0) return lockedMs;
    const forgetMs = Math.max(...limits.map((limit) => limit.forgetMs));
    await session.run(sweepAttempts, [now - forgetMs, now]);
    for (const limit of limits) await write(session, limit, { row: rows.get(limit.subject), now });
    return null;
  }

  async #attempts(reader: SqlReader, limits: readonly AttemptLimit[]) {
    const found = await reader.all(attemptsBySubject, [limits.map(({ subject }) => subject)]);
    const now = await this.#now(reader);
    const lockedMs = Math.max(0, ...found.map((row) => integer(row, "locked_until_ms") - now));
    return { lockedMs, rows: new Map(found.map((row) => [text(row, "subject"), row])), now };
  }
}

async function write(
  session: SqlSession,
  limit: AttemptLimit,
  { row, now }: { readonly row: Row | undefined; readonly now: Instant },
): Promise<void> {
  const { subject, forgetMs } = limit;
  const known = row === undefined ? 0 : integer(row, "failures");
  const isFresh = row !== undefined && now - integer(row, "last_at_ms") <= forgetMs;
  const failures = isFresh ? known + 1 : 1;
  const lockedUntil = now + lockMsAfter(failures, limit);
  // One that is no longer fresh may have been swept out a moment ago.
  const changed = await session.run(updateAttempt, [failures, now, lockedUntil, subject]);
  if (changed === 0) await session.many(insertAttempt, [[subject, failures, now, lockedUntil]]);
}

function lockMsAfter(failures: number, { failuresMax, lockMs, lockMsMax }: AttemptLimit): number {
  const over = failures - failuresMax;
  return over < 0 ? 0 : Math.min(lockMsMax, lockMs * 2 ** Math.min(over, 30));
}

async function keptCredential(reader: SqlReader): Promise<string | null> {
  const [row] = await reader.all(kept, [adminName]);
  return row === undefined ? null : bytes(row, "value").toString("utf8");
}

function sessionOf(row: Row, readAt: Instant): SessionRow {
  return {
    id: text(row, "session_id"),
    name: text(row, "name"),
    credential: text(row, "credential"),
    openedAt: integer(row, "opened_at_ms"),
    seenAt: integer(row, "seen_at_ms"),
    readAt,
  };
}
