import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { MigrationError } from "../../src/ledger/migrate.ts";
import { migrateSqlite, openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-schema-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const clock = new ManualClock();
const migrations = [
  ...["0001_ledger.sql", "0002_leases.sql", "0003_console.sql"],
  "0004_requests.sql",
];
const migrated = { applied: migrations, pending: [] };

describe("the SQLite schema", () => {
  it("is the golden one after all migrations", async () => {
    const path = newPath();
    expect(await migrateSqlite(path, { clock, dryRun: false })).toEqual(migrated);
    // To accept a difference: node scripts/dump-schema.mjs
    await expect(schemaOf(path)).toMatchFileSnapshot("../golden/schema.sqlite.sql");
  });

  it("is made once by many who open a new file at the same time", async () => {
    const path = newPath();
    const opened = Array.from({ length: 8 }, () => openSqliteLedger(path, { clock }));
    const ledgers = await Promise.all(opened);
    const secrets = await Promise.all(ledgers.map((ledger) => ledger.secret("messages")));
    expect(new Set(secrets.map((secret) => secret.toString("hex"))).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const status = await migrateSqlite(path, { clock, dryRun: true });
    expect(status).toEqual(migrated);
  });

  it("waits for another process that is writing to the file", async () => {
    const path = newPath();
    const worker = new Worker(writerThread, { eval: true, workerData: { path } });
    const ended = once(worker, "exit");
    await once(worker, "message");
    const ledger = await openSqliteLedger(path, { clock });
    expect(await ledger.lanes()).toHaveLength(1);
    await ledger.close();
    await ended;
  });

  it("is only looked at by a dry run", async () => {
    const path = newPath();
    const pending = { applied: [], pending: migrations };
    expect(await migrateSqlite(path, { clock, dryRun: true })).toEqual(pending);
    expect(existsSync(path)).toBe(false);
    new Sqlite(path).exec("create table mine (a)").close();
    expect(await migrateSqlite(path, { clock, dryRun: true })).toEqual(pending);
    expect(schemaOf(path)).toBe("CREATE TABLE mine (a);\n");
  });

  it("is refused when it is newer than the program, or was made from another file", async () => {
    const path = newPath();
    await migrateSqlite(path, { clock, dryRun: false });
    const database = new Sqlite(path);
    database.exec("insert into migrations values (99, '0099_later.sql', 'x', 1)");
    const open = () => openSqliteLedger(path, { clock });
    await expect(open()).rejects.toThrow(new MigrationError(newer));
    database.exec("delete from migrations where number = 99; update migrations set hash = 'other'");
    await expect(open()).rejects.toThrow(/0001_ledger.sql was applied with other content/);
    await expect(migrateSqlite(path, { clock, dryRun: false })).rejects.toThrow(MigrationError);
    database.close();
  });

  it("is refused, not changed, by one who may only read", async () => {
    const path = newPath();
    new Sqlite(path).exec("create table mine (a)").close();
    const opening = openSqliteLedger(path, { clock, readOnly: true });
    await expect(opening).rejects.toThrow(/needs a migration first/);
  });
});

/** The text of a schema, one object after the other in a fixed order. */
function schemaOf(path: string): string {
  const database = new Sqlite(path, { readonly: true });
  const rows = database.prepare<[], { text: string }>(schemaText).all();
  database.close();
  return `${rows.map(({ text }) => text).join("\n\n")}\n`;
}

const schemaText = `
  select sql || ';' as text from sqlite_schema
  where sql is not null order by tbl_name, type desc, name`;

const newer = "the schema has 0099_later.sql, which is newer than this program";

/** Another process as far as SQLite can tell: it writes, tells so, and ends a little later. */
const writerThread = `
  const Sqlite = require("better-sqlite3");
  const { parentPort, workerData } = require("node:worker_threads");
  const database = new Sqlite(workerData.path);
  database.exec("begin immediate; create table other (a)");
  parentPort.postMessage("writing");
  setTimeout(() => { database.exec("commit"); database.close(); }, 200);
`;
