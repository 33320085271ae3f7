import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { ManualClock } from "../../src/clock.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { openServerLedger } from "./ledger-servers.ts";

/** Every adapter of the ledger's port; each call opens an empty ledger of its own. */
export type LedgerAdapter = {
  readonly name: string;
  readonly open: (clock: ManualClock) => Promise<Ledger>;
};

const embedded: readonly LedgerAdapter[] = [
  { name: "SQLite in memory", open: (clock) => openSqliteLedger(":memory:", { clock }) },
  { name: "SQLite in a file", open: openFile },
];

/** The project that has started servers runs the suites on them, the others on SQLite. */
export const ledgerAdapters: readonly LedgerAdapter[] =
  inject("ledgerServers")?.map((server) => ({
    name: server.name,
    open: (clock) => openServerLedger(server, { now: () => clock.now() }),
  })) ?? embedded;

async function openFile(clock: ManualClock): Promise<Ledger> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-ledger-"));
  const ledger = await openSqliteLedger(join(folder, "ledger.db"), { clock });
  return closedWith(ledger, async () => rmSync(folder, { recursive: true }));
}

/** What is done when the ledger has been closed. */
function closedWith(ledger: Ledger, after: () => Promise<void>): Ledger {
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    await close();
    await after();
  };
  return ledger;
}
