import { type Random, systemClock, systemRandom } from "../clock.ts";
import { lanesAreMade, makeLanes } from "./lanes.ts";
import type { Ledger } from "./ledger.ts";
import { MigrationError, type MigrationStatus, migrate, migrationStatus } from "./migrate.ts";
import { type MysqlDatabase, type MysqlOptions, openMysql } from "./mysql.ts";
import { makeSecrets, secretsAreMade } from "./secrets.ts";
import type { SqlReader } from "./sql-database.ts";
import { SqlLedger } from "./sql-ledger.ts";

export type MysqlLedgerOptions = MysqlOptions & {
  /** Where the ledger's secrets come from, the first time. */
  readonly random?: Random;
  /** How many lanes a new ledger has; one that exists keeps its own. */
  readonly lanes?: number;
  /** Neither migrates nor writes. */
  readonly readOnly?: boolean;
};

/** Opens a database, `mysql://…` or `mariadb://…`, and brings its schema up to date. */
export async function openMysqlLedger(
  url: string,
  options: MysqlLedgerOptions = {},
): Promise<Ledger> {
  const database = await openMysql(url, options);
  try {
    const { pending } = await migrationStatus(database, "mysql");
    if (pending.length > 0 && options.readOnly === true) {
      throw new MigrationError(`the ledger needs a migration first: ${pending.join(", ")}`);
    }
    // What follows the last definition is another transaction: it may be missing alone.
    const isWhole = pending.length === 0 && (await isPrepared(database));
    if (!isWhole && options.readOnly !== true) await bringUp(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new SqlLedger(database, options.clock ?? systemClock);
}

export async function migrateMysql(
  url: string,
  options: MysqlLedgerOptions & { readonly dryRun: boolean },
): Promise<MigrationStatus> {
  const database = await openMysql(url, options);
  try {
    return options.dryRun
      ? await migrationStatus(database, "mysql")
      : await bringUp(database, options);
  } finally {
    await database.close();
  }
}

async function isPrepared(reader: SqlReader): Promise<boolean> {
  return (await secretsAreMade(reader)) && (await lanesAreMade(reader));
}

async function bringUp(
  database: MysqlDatabase,
  { random = systemRandom, lanes = 1 }: MysqlLedgerOptions,
): Promise<MigrationStatus> {
  const startedAt = await database.now(database);
  return migrate(database, {
    now: () => startedAt,
    prepare: async (session) => {
      await makeSecrets(session, random);
      await makeLanes(session, lanes);
    },
  });
}
