import type { AuditRecordBody, DeadLetterBody, EntryBody } from "./contract.ts";
import type { Column } from "./list-export.ts";

/** The columns of each list as CSV, in the order of the fields of the answer. */

export const entryColumns: readonly Column<EntryBody>[] = [
  ["sku", ({ sku }) => sku],
  ["version", ({ version }) => version],
  ["operation", ({ operation }) => operation],
  ["operationId", ({ operationId }) => operationId],
  ["reservationId", ({ reservationId }) => reservationId],
  ["saleId", ({ saleId }) => saleId],
  ["buyerId", ({ buyerId }) => buyerId],
  ["quantity", ({ quantity }) => quantity],
  ["from", ({ from }) => from],
  ["to", ({ to }) => to],
  ["available", ({ after }) => after.available],
  ["reserved", ({ after }) => after.reserved],
  ["sold", ({ after }) => after.sold],
  ["frozen", ({ after }) => after.frozen],
  ["lost", ({ after }) => after.lost],
  ["actor", ({ actor }) => actor],
  ["reason", ({ reason }) => reason],
  ["at", ({ at }) => at],
  ["previousHash", ({ previousHash }) => previousHash],
  ["hash", ({ hash }) => hash],
  ["publication", ({ publication }) => publication],
];

export const auditColumns: readonly Column<AuditRecordBody>[] = [
  ["id", ({ id }) => id],
  ["at", ({ at }) => at],
  ["actor", ({ actor }) => actor],
  ["action", ({ action }) => action],
  ["subject", ({ subject }) => subject],
  ["reason", ({ reason }) => reason],
  ["before", ({ before }) => jsonOf(before)],
  ["after", ({ after }) => jsonOf(after)],
];

export const letterColumns: readonly Column<DeadLetterBody>[] = [
  ["id", ({ id }) => id],
  ["lane", ({ lane }) => lane],
  ["state", ({ state }) => state],
  ["reason", ({ reason }) => reason],
  ["kind", ({ kind }) => kind],
  ["itemId", ({ itemId }) => itemId],
  ["sku", ({ sku }) => sku],
  ["tries", ({ tries }) => tries],
  ["createdAt", ({ createdAt }) => createdAt],
  ["settledAt", ({ settledAt }) => settledAt],
  ["settledBy", ({ settledBy }) => settledBy],
  ["settledReason", ({ settledReason }) => settledReason],
  ["bytes", ({ bytes }) => bytes],
];

function jsonOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
