import type { Clock } from "../clock.ts";
import {
  connectTo,
  loadDriver,
  type MysqlConnection,
  parseMysqlUrl,
} from "../ledger/mysql-connection.ts";
import { MysqlStatements } from "../ledger/mysql-statements.ts";
import { integer } from "../ledger/rows.ts";
import type { Row, SqlReader } from "../ledger/sql-database.ts";
import { type Finding, judgeAll } from "./check.ts";
import { examineClock } from "./clock-checks.ts";
import { keysNotIn, ledgerFacts } from "./ledger.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { type MysqlFacts, mysqlChecks } from "./mysql-checks.ts";
import { probed } from "./probe.ts";

const statementMsMax = 6_000;

/** A ledger on MySQL or MariaDB. Its own connection: the adapter refuses a bad server. */
export function examineMysql(url: string, clock: Clock): Promise<readonly Finding[]> {
  const at = placeOf(url);
  return probed("mysql.reachable", {
    clock,
    look: `${at} -e "select 1"`,
    work: async (over) => {
      const driver = await loadDriver();
      const { options } = parseMysqlUrl(url);
      const connection = await connectTo(driver, options, { clock, statementMsMax });
      over.addEventListener("abort", () => connection.destroy());
      const statements = new MysqlStatements(driver.escape, "");
      const reader: SqlReader = {
        all: (sql, params) => connection.rows(statements.spell(sql, params)),
      };
      const facts = await mysqlFacts(connection);
      const { aheadMs, nowMs } = await timeOf(connection, clock);
      const missingKeys = () => missingUniqueKeys(reader);
      const rows = await ledgerFacts({ reader, dialect: "mysql", nowMs, missingKeys });
      await connection.end();
      return {
        said: `${facts.server} ${facts.version}`,
        findings: [
          ...judgeAll(mysqlChecks, facts, at),
          ...judgeAll(ledgerChecks, rows, at),
          ...examineClock({ store: facts.server, aheadMs }, `${at} -e "select now(3)"`),
        ],
      };
    },
  });
}

/** As the client is told; never the password. */
function placeOf(url: string): string {
  const { hostname, port, username, pathname } = new URL(url);
  const place = `-h ${hostname} -P ${port === "" ? "3306" : port} -u ${username} -p`;
  return `mysql ${place} ${pathname.slice(1)}`;
}

const readSettings = `
  select version() as version, @@version_comment as comment,
    cast(@@innodb_flush_log_at_trx_commit as char) as flush,
    cast(@@log_bin as char) as log_bin, cast(@@sync_binlog as char) as sync_binlog,
    @@global.binlog_format as binlog_format, cast(@@innodb_doublewrite as char) as doublewrite,
    cast(@@global.read_only as char) as read_only,
    cast(timestampdiff(minute, utc_timestamp(), now()) as signed) as zone_minutes,
    @@max_connections as connections_max`;

const readIsolation = {
  MySQL: "select @@transaction_isolation as level",
  MariaDB: "select @@tx_isolation as level",
} as const;

const readColumns = `
  select concat(c.table_name, '.', c.column_name) as name
  from information_schema.columns c
  join information_schema.tables t
    on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema = database() and t.table_type = 'BASE TABLE'
    and c.table_name <> 'migrations'
    and c.collation_name not in ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin')
  order by name`;

const readEngines = `
  select concat(table_name, ' ', engine) as name from information_schema.tables
  where table_schema = database() and table_type = 'BASE TABLE' and engine <> 'InnoDB'
  order by name`;

const readWaits = `
  select count(*) as waits,
    coalesce(max(timestampdiff(second, trx_wait_started, now())), 0) as seconds
  from information_schema.innodb_trx where trx_state = 'LOCK WAIT'`;

async function mysqlFacts(connection: MysqlConnection): Promise<MysqlFacts> {
  const settings = await one(connection, readSettings);
  const say = (column: string): string => words(settings, column);
  const server = /mariadb/i.test(`${say("version")} ${say("comment")}`) ? "MariaDB" : "MySQL";
  // From here on as a session of the ledger has it.
  await connection.write("set session sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00'");
  await connection.write("set session transaction isolation level read committed");
  const isolation = await one(connection, readIsolation[server]);
  const threads = await one(connection, "show global status like 'Threads_connected'");
  const waits = await waitsOf(connection);
  return {
    server,
    version: say("version"),
    flush: say("flush"),
    isLogging: /^(1|on)$/i.test(say("log_bin")),
    syncBinlog: say("sync_binlog"),
    binlogFormat: say("binlog_format").toUpperCase(),
    doublewrite: say("doublewrite"),
    isolation: String(isolation["level"]),
    isReadOnly: !/^(0|off)$/i.test(say("read_only")),
    zoneSeconds: integer(settings, "zone_minutes") * 60,
    columns: await names(connection, readColumns),
    engines: await names(connection, readEngines),
    connections: {
      used: Number(threads["Value"]),
      max: integer(settings, "connections_max"),
    },
    lockWaits: waits,
  };
}

/** Who may not see the others' transactions sees none that waits. */
async function waitsOf(connection: MysqlConnection): Promise<MysqlFacts["lockWaits"]> {
  try {
    const row = await one(connection, readWaits);
    return { count: integer(row, "waits"), seconds: integer(row, "seconds") };
  } catch (error) {
    if (connection.isBroken) throw error;
    return { count: 0, seconds: 0 };
  }
}

async function timeOf(
  connection: MysqlConnection,
  clock: Clock,
): Promise<{ readonly aheadMs: number; readonly nowMs: number }> {
  const before = clock.now();
  const row = await one(
    connection,
    "select cast(floor(unix_timestamp(now(3)) * 1000) as signed) as now_ms",
  );
  const nowMs = integer(row, "now_ms");
  return { nowMs, aheadMs: Math.round(nowMs - (before + clock.now()) / 2) };
}

const uniqueIndexes = `
  select table_name as t, index_name as i,
    group_concat(column_name order by seq_in_index) as names
  from information_schema.statistics
  where table_schema = database() and non_unique = 0
  group by table_name, index_name`;

/** How the rows are found that are locked. Plain reads: a server that takes no writes explains. */
const hot = [
  { name: "inventory", sql: "select sku from inventory where sku_id = 'x'" },
  { name: "orders", sql: "select order_no from orders where order_id = 'x'" },
] as const;

async function missingUniqueKeys(reader: SqlReader): Promise<readonly string[]> {
  const rows = await reader.all(uniqueIndexes, []);
  const found = new Set(rows.map((row) => `${String(row["t"])} (${String(row["names"])})`));
  const missing = keysNotIn(found);
  for (const { name, sql } of hot) {
    for (const step of await reader.all(`explain ${sql}`, [])) {
      if (String(step["type"]) === "ALL" || String(step["type"]) === "index") {
        return [...missing, `EXPLAIN ${name}: ${String(step["type"])}`];
      }
    }
  }
  return missing;
}

/** A setting is a word on one server and a number on the other. */
function words(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

async function one(connection: MysqlConnection, sql: string): Promise<Row> {
  const [row = {}] = await connection.rows(sql);
  return row;
}

async function names(connection: MysqlConnection, sql: string): Promise<readonly string[]> {
  return (await connection.rows(sql)).map((row) => String(row["name"]));
}
