import { existsSync } from "node:fs";
import { type Clock, type Random, systemRandom } from "../clock.ts";
import { makeLanes } from "./lanes.ts";
import type { Ledger } from "./ledger.ts";
import { MigrationError, type MigrationStatus, migrate, migrationStatus } from "./migrate.ts";
import { makeSecrets } from "./secrets.ts";
import { SqlLedger } from "./sql-ledger.ts";
import { memoryPath, openSqlite, type SqliteDatabase } from "./sqlite.ts";

export type SqliteLedgerOptions = {
  readonly clock: Clock;
  /** Where the ledger's secrets come from, the first time. */
  readonly random?: Random;
  /** How many lanes a new ledger has; one that exists keeps its own. */
  readonly lanes?: number;
  /** Neither migrates nor writes. */
  readonly readOnly?: boolean;
  /** Called between the statements of long reads; the default lets them run on. */
  readonly pause?: () => Promise<void>;
};

/** Opens a file, or `:memory:`, and brings its schema up to date; read-only: refuses an old one. */
export async function openSqliteLedger(
  path: string,
  options: SqliteLedgerOptions,
): Promise<Ledger> {
  const database = await open(path, options);
  try {
    const { pending } = await migrationStatus(database, "sqlite");
    if (pending.length > 0 && options.readOnly === true) {
      throw new MigrationError(`${path} needs a migration first: ${pending.join(", ")}`);
    }
    if (pending.length > 0) await bringUp(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlLedger(database, options.clock);
}

export async function migrateSqlite(
  path: string,
  options: SqliteLedgerOptions & { readonly dryRun: boolean },
): Promise<MigrationStatus> {
  // A dry run must not leave a file behind.
  const target = options.dryRun && !existsSync(path) ? memoryPath : path;
  const readOnly = options.dryRun && target !== memoryPath;
  const database = await open(target, { ...options, readOnly });
  try {
    return options.dryRun
      ? await migrationStatus(database, "sqlite")
      : await bringUp(database, options);
  } finally {
    await database.close();
  }
}

function open(path: string, { readOnly, pause }: SqliteLedgerOptions): Promise<SqliteDatabase> {
  return openSqlite(path, { readOnly: readOnly ?? false, pause: pause ?? (async () => {}) });
}

function bringUp(
  database: SqliteDatabase,
  { clock, random = systemRandom, lanes = 1 }: SqliteLedgerOptions,
): Promise<MigrationStatus> {
  return migrate(database, {
    now: () => clock.now(),
    prepare: async (session) => {
      await makeSecrets(session, random);
      await makeLanes(session, lanes);
    },
  });
}
