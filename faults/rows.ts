import type { FaultRow } from "./row.ts";
import { busRows } from "./rows-bus.ts";
import { ledgerRows } from "./rows-ledger.ts";
import { networkRows } from "./rows-network.ts";
import { operatorRows } from "./rows-operator.ts";
import { processRows } from "./rows-process.ts";
import { redisRows } from "./rows-redis.ts";

/** The fault matrix, in its order. */
export const rows: readonly FaultRow[] = [
  ...redisRows,
  ...ledgerRows,
  ...busRows,
  ...processRows,
  ...networkRows,
  ...operatorRows,
];
