import type { Check } from "./check.ts";
import { clockChecks } from "./clock-checks.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { liveChecks, partLooks } from "./live-checks.ts";
import { mysqlChecks } from "./mysql-checks.ts";
import { rabbitmqChecks } from "./rabbitmq-checks.ts";
import { redisChecks } from "./redis-checks.ts";
import { rocketmqBrokerChecks, rocketmqLaneChecks } from "./rocketmq-checks.ts";
import { damageChecks, folderChecks, sqliteChecks } from "./sqlite-checks.ts";
import { transportChecks } from "./transport.ts";

type Named = readonly (readonly [id: string, check: Pick<Check<never>, "isRefused">])[];

const judged: Named = [
  ...Object.entries(liveChecks),
  ...Object.entries(transportChecks),
  ...Object.entries(clockChecks),
  ...Object.entries(ledgerChecks),
  ...Object.entries(folderChecks),
  ...Object.entries(sqliteChecks),
  ...Object.entries(damageChecks),
  ...Object.entries(mysqlChecks),
  ...Object.entries(redisChecks),
  ...Object.entries(rabbitmqChecks),
  ...Object.entries(rocketmqLaneChecks),
  ...Object.entries(rocketmqBrokerChecks),
];
const stores = ["mysql.reachable", "redis.reachable"];
const brokers = ["rabbitmq.reachable", "rocketmq.reachable", "rocketmq.broker"];
const reached = ["sqlite.file", ...stores, ...brokers];

/** Every id that the doctor can name. */
export const toldIds: readonly string[] = [
  ...new Set([...Object.keys(partLooks), ...judged.map(([id]) => id), ...reached]),
];

/** Those that `serve` does not start on. */
export const refusedIds: readonly string[] = judged
  .filter(([, { isRefused }]) => isRefused === true)
  .map(([id]) => id);
