import { refusedRow, replayedRow } from "./answers.ts";
import { committedRow, limitedRow } from "./committed.ts";
import { consoleRows } from "./console.ts";
import { expiryRows } from "./expiry.ts";
import { growthRows } from "./growth.ts";
import { hotSkuRows } from "./hot-sku.ts";
import { batchOverHttpRow, committedOverHttpRow, refusedOverHttpRow } from "./http.ts";
import { latencyRows } from "./latency.ts";
import { loneRows, stackLoneRow } from "./lone.ts";
import { fullScale, type Scale } from "./pairs.ts";
import { rebuildRows } from "./rebuild.ts";
import type { Row } from "./report.ts";
import { stackAdmissionRows } from "./stack-admission.ts";
import { stackAnswersRow } from "./stack-answers.ts";
import { stackCommittedRow } from "./stack-committed.ts";
import { stackEventsRow } from "./stack-events.ts";
import { stackFlushRow, stackHttpRows } from "./stack-http.ts";
import { stackMemoryRows } from "./stack-memory.ts";
import { stackProcessesRow } from "./stack-processes.ts";
import { stackSnapshotRows } from "./stack-snapshot.ts";
import { bytesRow } from "./storage.ts";

export type Bench = (scale: Scale) => Promise<readonly Row[]>;

/** By the name that the command line takes. */
export const benches: Readonly<Record<string, Bench>> = {
  committed: async (scale) => [await committedRow(scale)],
  limited: async (scale) => [await limitedRow(scale)],
  refused: async (scale) => [await refusedRow(scale)],
  replayed: async (scale) => [await replayedRow(scale)],
  http: async (scale) => [await committedOverHttpRow(scale), await refusedOverHttpRow(scale)],
  batch: async (scale) => [await batchOverHttpRow(scale)],
  "hot-sku": hotSkuRows,
  growth: growthRows,
  latency: latencyRows,
  lone: loneRows,
  expiry: expiryRows,
  rebuild: rebuildRows,
  bytes: async (scale) => [await bytesRow(scale)],
  console: consoleRows,
  "stack-admission": stackAdmissionRows,
  "stack-committed": async (scale) => [await stackCommittedRow(scale)],
  "stack-http": stackHttpRows,
  "stack-processes": async (scale) => [await stackProcessesRow(scale)],
  "stack-snapshot": stackSnapshotRows,
  "stack-answers": async (scale) => [await stackAnswersRow(scale)],
  "stack-lone": async (scale) => [await stackLoneRow(scale)],
  "stack-memory": stackMemoryRows,
  "stack-events-redis": async (scale) => [await stackEventsRow(scale, "redis")],
  "stack-events-rabbitmq": async (scale) => [await stackEventsRow(scale, "rabbitmq")],
  "stack-events-rocketmq": async (scale) => [await stackEventsRow(scale, "rocketmq")],
  "stack-flush": async (scale) => [await stackFlushRow(scale)],
};

/** These need what is not everywhere: private servers, a browser, minutes. */
const isOnRequest = (name: string): boolean =>
  name.startsWith("stack-") || name === "console" || name === "growth";

/** All of these names, in the order of the list above; none: all that need nothing else. */
export async function runBenches(
  names: readonly string[],
  onRow: (row: Row) => void,
  scale: Scale = fullScale,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, bench] of Object.entries(benches)) {
    const isAsked = names.length === 0 ? !isOnRequest(name) : names.includes(name);
    if (!isAsked) continue;
    for (const row of await bench(scale)) {
      rows.push(row);
      onRow(row);
    }
  }
  return rows;
}
