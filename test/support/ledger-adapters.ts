import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ManualClock } from "../../src/clock.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";

/** Every adapter of the ledger's port; each call opens an empty ledger of its own. */
export type LedgerAdapter = {
  readonly name: string;
  readonly open: (clock: ManualClock) => Promise<Ledger>;
};

export const ledgerAdapters: readonly LedgerAdapter[] = [
  { name: "SQLite in memory", open: (clock) => openSqliteLedger(":memory:", { clock }) },
  { name: "SQLite in a file", open: openFile },
];

async function openFile(clock: ManualClock): Promise<Ledger> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-ledger-"));
  const ledger = await openSqliteLedger(join(folder, "ledger.db"), { clock });
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    await close();
    rmSync(folder, { recursive: true });
  };
  return ledger;
}
