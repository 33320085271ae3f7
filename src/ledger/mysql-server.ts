import { Fault } from "../domain/fault.ts";
import type { MysqlConnection } from "./mysql-connection.ts";
import { integer, text } from "./rows.ts";

/** What is different between the servers, and what is asked of either. */
export type MysqlServer = {
  readonly isMariadb: boolean;
  readonly version: string;
  /** Compares byte by byte, trailing spaces too. */
  readonly collation: "utf8mb4_0900_bin" | "utf8mb4_nopad_bin";
  /** How a row of `values` begins. */
  readonly row: "row" | "";
  readonly keyStep: number;
};

const sessionMode = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO";
const lockWaitSeconds = 3;
const definitionWaitSeconds = 5;
/**
 * What has died without a word may hold rows locked: the server ends it when it has not heard of it
 * for so long. MySQL knows this only of a whole connection, which may just have nothing to do.
 */
const idle = {
  mariadb: "idle_transaction_timeout = 10",
  mysql: "wait_timeout = 30",
} as const;

const readServer = `
  select version() as version, @@version_comment as comment,
    @@auto_increment_increment as key_step,
    cast(@@innodb_flush_log_at_trx_commit as char) as flush,
    cast(@@log_bin as char) as log_bin, cast(@@sync_binlog as char) as sync_binlog`;

const isolationOf = {
  mysql: "select @@transaction_isolation as level, @@sql_mode as mode",
  mariadb: "select @@tx_isolation as level, @@sql_mode as mode",
} as const;

/**
 * A session as the statements of the ledger expect it; throws when it cannot be had. `isDeciding`:
 * it locks rows, and never for long.
 */
export async function prepareSession(
  connection: MysqlConnection,
  { isDeciding }: { readonly isDeciding: boolean },
): Promise<MysqlServer> {
  const server = await serverOf(connection);
  // Not a parameter anywhere: this is before the first statement of the ledger.
  await connection.write(`set names utf8mb4 collate ${server.collation}`);
  await connection.write(
    `set session sql_mode = '${sessionMode}', time_zone = '+00:00', autocommit = 1,
      innodb_lock_wait_timeout = ${lockWaitSeconds}, lock_wait_timeout = ${definitionWaitSeconds}`,
  );
  await connection.write(
    `set session ${server.isMariadb ? "max_recursive_iterations" : "cte_max_recursion_depth"} =
      4294967295`,
  );
  await connection.write("set session transaction isolation level read committed");
  const kind = server.isMariadb ? "mariadb" : "mysql";
  if (isDeciding) await connection.write(["set session", idle[kind]].join(" "));
  const isolation = isolationOf[kind];
  const [row] = await connection.rows(isolation);
  const level = row === undefined ? "" : text(row, "level");
  if (level !== "READ-COMMITTED") {
    throw unsafe(`expected isolation READ-COMMITTED, found ${level}`);
  }
  const mode = row === undefined ? "" : text(row, "mode");
  if (!mode.includes("STRICT_ALL_TABLES") || mode.includes("NO_BACKSLASH_ESCAPES")) {
    throw unsafe(`expected sql_mode ${sessionMode}, found ${mode}`);
  }
  return server;
}

async function serverOf(connection: MysqlConnection): Promise<MysqlServer> {
  const [row = {}] = await connection.rows(readServer);
  const version = text(row, "version");
  const isMariadb = /mariadb/i.test(`${version} ${text(row, "comment")}`);
  refuseOld(version, isMariadb);
  const flush = text(row, "flush");
  if (flush !== "1") {
    throw unsafe(
      `innodb_flush_log_at_trx_commit is ${flush}: a crash loses what was promised; set it to 1`,
    );
  }
  const logs = text(row, "log_bin");
  const sync = text(row, "sync_binlog");
  if (logs !== "0" && logs.toUpperCase() !== "OFF" && sync !== "1") {
    throw unsafe(`sync_binlog is ${sync}: a replica could miss what was promised; set it to 1`);
  }
  return {
    isMariadb,
    version,
    collation: isMariadb ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin",
    row: isMariadb ? "" : "row",
    keyStep: integer(row, "key_step"),
  };
}

/** Before these, CHECKs were read and ignored, or rows of `values` were not known. */
function refuseOld(version: string, isMariadb: boolean): void {
  const [, major = "0", minor = "0", patch = "0"] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  const number = Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch);
  if (number >= (isMariadb ? 10_006_000 : 8_000_019)) return;
  throw unsafe(`${version} is too old: MySQL 8.0.19 or MariaDB 10.6 at least`);
}

/** A server that would lose what it has acknowledged. It is mended by whoever runs it. */
function unsafe(message: string): Fault {
  return new Fault("LEDGER_UNAVAILABLE", `the ledger's server is not safe: ${message}`);
}
