import { describe, expect, it } from "vitest";
import { type Checks, judgeAll, worstOfEach } from "./check.ts";
import { examineClock } from "./clock-checks.ts";
import { type LedgerFacts, ledgerChecks } from "./ledger-checks.ts";
import { type LiveFacts, liveChecks } from "./live-checks.ts";
import { type MysqlFacts, mysqlChecks } from "./mysql-checks.ts";
import { type RedisFacts, redisChecks } from "./redis-checks.ts";
import { networkOf } from "./sqlite.ts";
import {
  type DamageFacts,
  damageChecks,
  type FolderFacts,
  folderChecks,
  type SqliteFacts,
  sqliteChecks,
} from "./sqlite-checks.ts";
import { examineTransport } from "./transport.ts";

/** One fact at a time is ill, and exactly one check says so. */
function names<Facts extends object>(
  what: string,
  checks: Checks<Facts>,
  { well, ill }: { well: Facts; ill: readonly (readonly [string, string, Partial<Facts>])[] },
): void {
  const bad = (facts: Facts) =>
    judgeAll(checks, facts)
      .filter(({ state }) => state !== "ok")
      .map(({ id, state }) => `${state} ${id}`);
  describe(`the checks of ${what}`, () => {
    it("find a healthy one well", () => expect(bad(well)).toEqual([]));
    it.each(ill)("%s %s: %j", (state, id, facts) => {
      expect(bad({ ...well, ...facts })).toEqual([`${state} ${id}`]);
    });
    it("can each fail", () => {
      expect([...new Set(ill.map(([, id]) => id))].sort()).toEqual(Object.keys(checks).sort());
    });
  });
}

const redis: RedisFacts = {
  server: "redis",
  version: "7.2.12",
  role: "master",
  policy: "noeviction",
  usedBytes: 1_000,
  maxBytes: 0,
  isAppendOnly: true,
  isLastWriteGood: true,
  fsync: "always",
  replicas: [],
  cluster: null,
  keys: 3,
  expiring: [],
  aheadMs: 0,
};
names("Redis", redisChecks, {
  well: redis,
  ill: [
    ["fail", "redis.version", { version: "7.2.10" }],
    ["fail", "redis.version", { version: "6.2.20" }],
    ["fail", "redis.version", { server: "valkey", version: "8.0.3" }],
    ["warn", "redis.version", { version: "7.3.0" }],
    ["fail", "redis.role", { role: "slave" }],
    ["fail", "redis.eviction", { policy: "allkeys-lru" }],
    ["fail", "redis.ttl", { expiring: ["holdfast:{0}:stock:a"] }],
    ["fail", "redis.aof", { isAppendOnly: false }],
    ["fail", "redis.aof", { isLastWriteGood: false }],
    ["fail", "redis.fsync", { fsync: "no" }],
    ["warn", "redis.fsync", { fsync: null }],
    ["warn", "redis.memory", { usedBytes: 91, maxBytes: 100 }],
    ["warn", "redis.replica-lag", { replicas: [{ state: "online", behindBytes: 2_000_000 }] }],
    ["warn", "redis.replica-lag", { replicas: [{ state: "wait_bgsave", behindBytes: 0 }] }],
    ["fail", "redis.cluster", { cluster: { state: "fail", slots: 0, fullCoverage: "no" } }],
    ["fail", "redis.cluster", { cluster: { state: "ok", slots: 16_000, fullCoverage: "no" } }],
    ["warn", "redis.coverage", { cluster: { state: "ok", slots: 16_384, fullCoverage: "yes" } }],
  ],
});

const mysql: MysqlFacts = {
  server: "MySQL",
  version: "8.4.6",
  flush: "1",
  isLogging: true,
  syncBinlog: "1",
  binlogFormat: "ROW",
  doublewrite: "ON",
  isolation: "READ-COMMITTED",
  isReadOnly: false,
  zoneSeconds: 0,
  columns: [],
  engines: [],
  connections: { used: 10, max: 100 },
  lockWaits: { count: 1, seconds: 0 },
};
names("MySQL", mysqlChecks, {
  well: mysql,
  ill: [
    ["fail", "mysql.version", { version: "8.0.44" }],
    ["warn", "mysql.version", { server: "MariaDB", version: "11.5.2-MariaDB" }],
    ["fail", "mysql.flush", { flush: "2" }],
    ["fail", "mysql.flush", { flush: "0" }],
    ["fail", "mysql.binlog-sync", { syncBinlog: "0" }],
    ["fail", "mysql.doublewrite", { doublewrite: "OFF" }],
    ["fail", "mysql.doublewrite", { doublewrite: "0" }],
    ["fail", "mysql.isolation", { isolation: "REPEATABLE-READ" }],
    ["fail", "mysql.isolation", { binlogFormat: "STATEMENT" }],
    ["fail", "mysql.read-only", { isReadOnly: true }],
    ["warn", "mysql.time-zone", { zoneSeconds: 28_800 }],
    ["fail", "mysql.collation", { columns: ["orders.order_id"] }],
    ["fail", "mysql.engine", { engines: ["payments MyISAM"] }],
    ["warn", "mysql.connections", { connections: { used: 81, max: 100 } }],
    ["warn", "mysql.lock-waits", { lockWaits: { count: 1, seconds: 5 } }],
  ],
});

const ledger: LedgerFacts = {
  pending: [],
  schemaError: "",
  missingKeys: [],
  unbalanced: [],
  uncounted: [],
  duplicated: [],
  overdue: { count: 3, oldestSeconds: 2 },
  unpublished: { count: 3, oldestSeconds: 2 },
  deadLetters: 0,
};
names("a ledger", ledgerChecks, {
  well: ledger,
  ill: [
    ["warn", "ledger.schema", { pending: ["0002_next.sql"] }],
    ["fail", "ledger.schema", { schemaError: "newer" }],
    ["fail", "ledger.unique-keys", { missingKeys: ["orders (order_id)"] }],
    ["fail", "ledger.balances", { unbalanced: ["a"] }],
    ["fail", "ledger.orders", { uncounted: ["a"] }],
    ["fail", "ledger.duplicate-orders", { duplicated: ["a"] }],
    ["fail", "ledger.overdue-holds", { overdue: { count: 1, oldestSeconds: 61 } }],
    ["warn", "ledger.unpublished", { unpublished: { count: 1, oldestSeconds: 301 } }],
    ["warn", "dead-letters", { deadLetters: 1 }],
  ],
});

const folder: FolderFacts = { folder: "/x", isWritable: true, freeBytes: 2e9, network: null };
names("a ledger's folder", folderChecks, {
  well: folder,
  ill: [
    ["fail", "sqlite.folder", { isWritable: false }],
    ["warn", "sqlite.disk", { freeBytes: 9e8 }],
    ["fail", "sqlite.filesystem", { network: networkOf(0x6969) }],
    // The system tells a number with its sign.
    ["fail", "sqlite.filesystem", { network: networkOf(0xff534d42 | 0) }],
  ],
});

const sqlite: SqliteFacts = { file: "x.db", journal: "wal", isOthersReadable: false };
names("a ledger's file", sqliteChecks, {
  well: sqlite,
  ill: [
    ["warn", "sqlite.journal", { journal: "delete" }],
    ["warn", "sqlite.permissions", { isOthersReadable: true }],
  ],
});
const pages: DamageFacts = { file: "x.db", damage: [] };
names("a ledger's pages", damageChecks, {
  well: pages,
  ill: [["fail", "sqlite.integrity", { damage: ["page 7"] }]],
});

const report: LiveFacts["report"] = {
  at: 0,
  skus: 1,
  drift: 0,
  behind: 0,
  inFlight: 0,
  repairs: 0,
  closed: 0,
  stopped: 0,
  items: [],
};
const lane = { lane: 0, open: true, tickets: 1, outboxLength: 1, outboxOldestSeconds: 1, lag: 5 };
names("a running engine", liveChecks, {
  well: { report, counts: { deadLetters: 0 }, lanes: [lane] },
  ill: [
    ["fail", "drift", { report: { ...report, drift: 3 } }],
    ["warn", "behind", { report: { ...report, behind: 3 } }],
    ["fail", "lanes", { report: { ...report, closed: 1 } }],
    ["warn", "stopped-skus", { report: { ...report, stopped: 1 } }],
    ["warn", "dead-letters", { counts: { deadLetters: 1 } }],
    ["warn", "oldest-ticket", { lanes: [{ ...lane, outboxOldestSeconds: 31 }] }],
    ["warn", "bus-lag", { lanes: [lane, { ...lane, lag: 10_000 }] }],
    ["warn", "repairs", { report: { ...report, repairs: 1 } }],
  ],
});

describe("the clocks", () => {
  it.each([
    [0, "ok"],
    [-999, "ok"],
    [1_500, "warn"],
    [-40_000, "fail"],
  ])("%d ms apart are %s", (aheadMs, state) => {
    expect(examineClock({ store: "redis", aheadMs }, "")).toMatchObject([{ state }]);
  });
});

describe("the transport", () => {
  const ledgerFile = { kind: "sqlite", file: "x.db" } as const;
  it.each([
    ["redis://127.0.0.1:6379", "ok"],
    ["redis://user:secret@stock.example:6379", "warn"],
  ] as const)("of %s is %s", (url, state) => {
    const urls = {
      ledger: ledgerFile,
      hot: { kind: "redis", url },
      bus: { kind: "memory" },
    } as const;
    const [found] = examineTransport(urls);
    expect(found?.state).toBe(state);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it("is looked at node by node in a cluster", () => {
    const [found] = examineTransport({
      ledger: ledgerFile,
      hot: { kind: "redis-cluster", url: "redis-cluster://u:p@127.0.0.1:1,b.example:2,c.example" },
      bus: { kind: "memory" },
    });
    expect(found).toMatchObject({ state: "warn", said: { hosts: "b.example, c.example" } });
  });

  it("is encrypted by rediss:// and by what the ledger's URL asks for", () => {
    const [found] = examineTransport({
      ledger: { kind: "mysql", url: "mysql://root@db.example/shop?tls=on" },
      hot: { kind: "rediss", url: "rediss://stock.example:6379" },
      bus: { kind: "amqps", url: "amqps://bus.example" },
    });
    expect(found?.state).toBe("ok");
  });
});

describe("two servers that play the same part", () => {
  it("are as well as the one that is worse", () => {
    const bad = judgeAll(redisChecks, { ...redis, role: "slave" });
    const merged = worstOfEach([...judgeAll(redisChecks, redis), ...bad]);
    expect(merged.filter(({ state }) => state === "fail").map(({ id }) => id)).toEqual([
      "redis.role",
    ]);
    expect(merged).toHaveLength(Object.keys(redisChecks).length);
  });
});
