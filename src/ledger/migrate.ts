import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Instant } from "../domain/values.ts";
import { integer, text } from "./rows.ts";
import type { SchemaSession, SqlReader, SqlSchema } from "./sql-database.ts";

/**
 * Numbered SQL files, applied in order, each once, forward only. The hash of each is recorded: a
 * file that was edited after its release, or a schema that is newer than this program, is
 * refused before anything changes. One process migrates at a time; the others find it done.
 */
export type MigrationStatus = {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
};

export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

type Migration = {
  readonly number: number;
  readonly name: string;
  readonly hash: string;
  readonly sql: string;
};

type Dialect = SqlSchema["dialect"];

const findMigrations: Readonly<Record<Dialect, string>> = {
  sqlite: "select name from sqlite_schema where type = 'table' and name = 'migrations'",
  mysql: `
    select table_name as name from information_schema.tables
    where table_schema = database() and table_name = 'migrations'`,
};

const createMigrations = `
  create table if not exists migrations (
    number integer primary key,
    name varchar(200) not null,
    hash char(64) not null,
    applied_at_ms bigint not null
  )`;

const migrationsApplied = "select number, name, hash from migrations order by number";

const insertMigration =
  "insert into migrations (number, name, hash, applied_at_ms) values (?, ?, ?, ?)";

/** Applies what is pending; what was already applied is left alone. */
export async function migrate(
  schema: SqlSchema,
  { now, prepare }: { now: () => Instant; prepare: (session: SchemaSession) => Promise<void> },
): Promise<MigrationStatus> {
  const files = migrationFiles(schema.dialect);
  return schema.exclusively(async (session) => {
    await session.script(createMigrations);
    const pending = await pendingMigrations(session, files);
    for (const migration of pending) {
      await session.script(migration.sql);
      const { number, name, hash } = migration;
      await session.many(insertMigration, [[number, name, hash, now()]]);
    }
    await prepare(session);
    return { applied: pending.map(({ name }) => name), pending: [] };
  });
}

/** What there is and what is missing; changes nothing. */
export async function migrationStatus(
  reader: SqlReader,
  dialect: Dialect,
): Promise<MigrationStatus> {
  const files = migrationFiles(dialect);
  const found = await reader.all(findMigrations[dialect], []);
  const pending = found.length === 0 ? files : await pendingMigrations(reader, files);
  const missing = new Set(pending.map(({ name }) => name));
  const names = files.map(({ name }) => name);
  return {
    applied: names.filter((name) => !missing.has(name)),
    pending: names.filter((name) => missing.has(name)),
  };
}

async function pendingMigrations(
  reader: SqlReader,
  files: readonly Migration[],
): Promise<readonly Migration[]> {
  const known = new Map(files.map((file) => [file.number, file]));
  const applied = new Set<number>();
  for (const row of await reader.all(migrationsApplied, [])) {
    const number = integer(row, "number");
    const name = text(row, "name");
    const file = known.get(number);
    if (file === undefined) {
      throw new MigrationError(`the schema has ${name}, which is newer than this program`);
    }
    if (file.hash !== text(row, "hash")) {
      throw new MigrationError(`${name} was applied with other content than ${file.name} has`);
    }
    applied.add(number);
  }
  return files.filter(({ number }) => !applied.has(number));
}

function migrationFiles(dialect: Dialect): readonly Migration[] {
  const folder = new URL(`./migrations/${dialect}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name));
  return names.sort().map((name) => {
    const sql = readFileSync(new URL(name, folder), "utf8");
    const hash = createHash("sha256").update(sql).digest("hex");
    return { number: Number(name.slice(0, 4)), name, hash, sql };
  });
}
