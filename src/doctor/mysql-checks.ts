import { type Checks, failWhen, some, warnWhen } from "./check.ts";
import { judgeVersion, leastMariadb, leastMysql } from "./versions.ts";

/** A MySQL or MariaDB as it says of itself. */
export type MysqlFacts = {
  readonly server: "MySQL" | "MariaDB";
  readonly version: string;
  /** `innodb_flush_log_at_trx_commit` */
  readonly flush: string;
  readonly isLogging: boolean;
  readonly syncBinlog: string;
  readonly binlogFormat: string;
  readonly doublewrite: string;
  /** Of a session that has asked for READ COMMITTED. */
  readonly isolation: string;
  readonly isReadOnly: boolean;
  /** Local time of a session that asks for nothing, minus UTC. */
  readonly zoneSeconds: number;
  /** Columns of ours that are not compared byte by byte. */
  readonly columns: readonly string[];
  /** Tables of ours that know no transaction. */
  readonly engines: readonly string[];
  readonly connections: { readonly used: number; readonly max: number };
  readonly lockWaits: { readonly count: number; readonly seconds: number };
};

const connectionShareMax = 0.8;
const lockSecondsMax = 1;

export const mysqlChecks: Checks<MysqlFacts> = {
  "mysql.version": {
    look: '{at} -e "select version()"',
    judge: ({ server, version }) => {
      const { state, least } = judgeVersion(
        version,
        server === "MySQL" ? leastMysql : leastMariadb,
      );
      return { state, said: { server, version, least } };
    },
  },
  "mysql.flush": {
    look: `{at} -e "show variables like 'innodb_flush_log_at_trx_commit'"`,
    isRefused: true,
    judge: ({ flush }) => failWhen(flush !== "1", { flush }),
  },
  "mysql.binlog-sync": {
    look: `{at} -e "show variables like '%log_bin'; show variables like 'sync_binlog'"`,
    isRefused: true,
    judge: ({ isLogging, syncBinlog }) =>
      failWhen(isLogging && syncBinlog !== "1", {
        sync: syncBinlog,
        log: isLogging ? "on" : "off",
      }),
  },
  "mysql.doublewrite": {
    look: `{at} -e "show variables like 'innodb_doublewrite'"`,
    isRefused: true,
    judge: ({ doublewrite }) =>
      failWhen(/^(off|0|detect_only)$/i.test(doublewrite), { doublewrite }),
  },
  "mysql.isolation": {
    look: `{at} -e "show variables like '%isolation'; show variables like 'binlog_format'"`,
    isRefused: true,
    judge: ({ isolation, isLogging, binlogFormat }) => {
      const isBad = isolation !== "READ-COMMITTED" || (isLogging && binlogFormat === "STATEMENT");
      return failWhen(isBad, { isolation, format: isLogging ? binlogFormat : "-" });
    },
  },
  "mysql.read-only": {
    look: `{at} -e "show variables like '%read_only'"`,
    judge: ({ isReadOnly }) => failWhen(isReadOnly, { mode: isReadOnly ? "read-only" : "rw" }),
  },
  "mysql.time-zone": {
    look: '{at} -e "select @@global.time_zone, @@system_time_zone, utc_timestamp(), now()"',
    judge: ({ zoneSeconds }) =>
      warnWhen(zoneSeconds !== 0, { hours: Math.round(zoneSeconds / 360) / 10 }),
  },
  "mysql.collation": {
    look: '{at} -e "show full columns from orders"',
    judge: ({ columns }) =>
      failWhen(columns.length > 0, { count: columns.length, columns: some(columns) }),
  },
  "mysql.engine": {
    look: '{at} -e "show table status"',
    isRefused: true,
    judge: ({ engines }) =>
      failWhen(engines.length > 0, { count: engines.length, tables: some(engines) }),
  },
  "mysql.connections": {
    look: '{at} -e "show processlist"',
    judge: ({ connections: { used, max } }) =>
      warnWhen(used > max * connectionShareMax, { used, max }),
  },
  "mysql.lock-waits": {
    look: '{at} -e "select * from information_schema.innodb_trx; show processlist"',
    judge: ({ lockWaits: { count, seconds } }) =>
      warnWhen(count > 0 && seconds >= lockSecondsMax, { count, seconds }),
  },
};
