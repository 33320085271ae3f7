import type { TestProject } from "vitest/node";
import { type SqlServer, startMariadb } from "../../stack/mariadb.ts";
import { startMysql } from "../../stack/mysql.ts";
import type { LedgerServer } from "../support/ledger-servers.ts";

/** One of each for the whole project; each test has databases of its own in them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starting = { MariaDB: startMariadb(), MySQL: startMysql() };
  const servers: LedgerServer[] = [];
  const started: SqlServer[] = [];
  for (const name of ["MariaDB", "MySQL"] as const) {
    const server = await starting[name].catch((error: unknown) => leftOut(name, error));
    if (server === null) continue;
    started.push(server);
    servers.push({ name, url: server.url });
  }
  project.provide("ledgerServers", servers);
  return async () => {
    for (const server of started) await server.stop();
  };
}

/** Said loudly: what is not tested is not known. */
function leftOut(name: string, error: unknown): null {
  if (process.env["CI"] !== undefined) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nLEFT OUT: the ledger's tests on ${name}: ${reason}\n\n`);
  return null;
}
