import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { examineSqlite } from "../../src/doctor/sqlite.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { foundAt, notOk } from "../support/doctor.ts";
import { breakLedger, ledgerAilments } from "../support/doctor-ailments.ts";
import { confirm, leaseOf, openSale, reserve } from "../support/ledger-fixtures.ts";

let folder: string;
let file: string;
const clock = new ManualClock(Date.UTC(2026, 10, 11));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-doctor-"));
  file = join(folder, "ledger.db");
  const ledger = await openSqliteLedger(file, { clock });
  await openSale(ledger);
  await ledger.commit([reserve("one"), reserve("two"), confirm("one", "paid")]);
  await ledger.publishedAll(await leaseOf(ledger, "publisher"));
  await ledger.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const examine = () => examineSqlite(file, { clock, isDeep: true });

function change(work: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(file);
  try {
    database.pragma("ignore_check_constraints = on");
    database.pragma("foreign_keys = off");
    work(database);
  } finally {
    database.close();
  }
}

describe("the doctor of a SQLite file", () => {
  it("finds nothing wrong with a healthy one, and changes nothing", async () => {
    const found = await examine();
    expect(notOk(found)).toEqual({});
    expect(found.length).toBeGreaterThan(12);
    expect(existsSync(join(folder, "ledger.db"))).toBe(true);
  });

  it("looks at the folder of a file that is not there yet, and does not make it", async () => {
    rmSync(file);
    const found = await examine();
    expect(found.map(({ id }) => id)).toEqual([
      ...["sqlite.folder", "sqlite.disk", "sqlite.filesystem"],
    ]);
    expect(existsSync(file)).toBe(false);
  });

  it.each(ledgerAilments)("names $id when $what", async (ailment) => {
    change((database) => {
      for (const sql of breakLedger(ailment, clock.now())) database.exec(sql);
    });
    expect(notOk(await examine())).toEqual({ [ailment.id]: ailment.state });
  });

  it("names the unique keys when a table was made again without them", async () => {
    change((database) => {
      database.exec("create table copy as select * from payments; drop table payments");
      database.exec("alter table copy rename to payments");
    });
    const found = await examine();
    expect(notOk(found)).toEqual({ "ledger.unique-keys": "fail" });
    expect(foundAt(found, "ledger.unique-keys")).toContain("payments (order_no,payment_id)");
  });

  it("names the journal when another program has changed it", async () => {
    change((database) => void database.pragma("journal_mode = delete"));
    expect(notOk(await examine())).toEqual({ "sqlite.journal": "warn" });
  });

  it("names the permissions when everybody may read the secrets", async () => {
    chmodSync(file, 0o644);
    expect(notOk(await examine())).toEqual({ "sqlite.permissions": "warn" });
  });

  it("names the file when it is no database", async () => {
    writeFileSync(file, "not a database, and long enough to have a header ".repeat(40));
    expect(notOk(await examine())).toEqual({ "sqlite.file": "fail" });
  });

  it("names the damage when a page of the file is overwritten", async () => {
    change((database) => void database.pragma("wal_checkpoint(truncate)"));
    const bytes = readFileSync(file);
    bytes.fill(0xff, bytes.length - 4096);
    writeFileSync(file, bytes);
    expect(notOk(await examine())).toEqual({ "sqlite.integrity": "fail" });
  });

  it("names the folder when it is not there", async () => {
    const found = await examineSqlite(join(folder, "no", "such.db"), { clock, isDeep: true });
    expect(notOk(found)).toEqual({ "sqlite.folder": "fail" });
  });
});
