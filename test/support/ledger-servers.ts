import { randomBytes } from "node:crypto";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { inject } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { type MysqlLedgerOptions, openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";

export type LedgerServer = {
  readonly name: "MariaDB" | "MySQL";
  /** Of its root, without a database. */
  readonly url: string;
};

declare module "vitest" {
  interface ProvidedContext {
    /** Started once for the whole project; undefined in projects without servers. */
    readonly ledgerServers: readonly LedgerServer[] | undefined;
  }
}

/** The servers that this project has started; a suite over none would prove nothing. */
export function ledgerServers(): readonly LedgerServer[] {
  return inject("ledgerServers") ?? [];
}

export type Database = {
  readonly url: string;
  readonly name: string;
  readonly query: (sql: string) => Promise<readonly RowDataPacket[]>;
  readonly drop: () => Promise<void>;
};

/** An empty database with a name of its own. */
export async function createDatabase(server: Pick<LedgerServer, "url">): Promise<Database> {
  const name = `t_${randomBytes(6).toString("hex")}`;
  await ask(server.url, `create database ${name}`);
  const url = `${server.url}/${name}`;
  return {
    url,
    name,
    query: (sql) => ask(url, sql),
    drop: async () => void (await ask(server.url, `drop database ${name}`)),
  };
}

/** So few that the small commits of tests are decided in several parts. */
const decidedAhead = 3;

/** A ledger in a database of its own, which is gone when the ledger is closed. */
export async function openServerLedger(
  server: Pick<LedgerServer, "url">,
  options: MysqlLedgerOptions = {},
): Promise<Ledger> {
  const database = await createDatabase(server);
  const ledger = await openMysqlLedger(database.url, { decidedAhead, ...options });
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    await close();
    await database.drop();
  };
  return ledger;
}

async function ask(url: string, sql: string): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}
