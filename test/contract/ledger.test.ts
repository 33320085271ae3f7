import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { ledgerContract } from "./ledger-contract.ts";
import { ledgerReadsContract } from "./ledger-reads-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const adapters = {
  "SQLite in memory": () => ":memory:",
  "SQLite in a file": () => join(folder, `${++files}.db`),
};

for (const [name, path] of Object.entries(adapters)) {
  ledgerContract(name, (clock) => openSqliteLedger(path(), { clock }));
  ledgerReadsContract(name, (clock) => openSqliteLedger(path(), { clock }));
}
