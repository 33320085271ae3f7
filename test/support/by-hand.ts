import Sqlite from "better-sqlite3";

/** Somebody edits the ledger's file by hand, past every rule of it. */
export function byHand(file: string, sql: string, ...params: readonly (string | number)[]): number {
  const database = new Sqlite(file);
  try {
    database.pragma("foreign_keys = off");
    return database.prepare(sql).run(params).changes;
  } finally {
    database.close();
  }
}
