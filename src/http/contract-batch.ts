import { type Static, Type } from "typebox";
import { Lines, ProblemBody, ReservationBody } from "./contract.ts";
import { Count, Id, Name, object } from "./schema.ts";

/** Many reservations in one call, for a backend that has queued its buyers itself. */

export const batchItemsMax = 1_000;
/** A thousand carts of a few lines each. */
export const batchBytesMax = 512 * 1024;

export const BatchItem = object({ idempotencyKey: Id, buyerId: Id, items: Lines });
export type BatchItem = Static<typeof BatchItem>;
export const BatchRequest = object({
  saleId: Id,
  items: Type.Array(BatchItem, { minItems: 1, maxItems: batchItemsMax }),
});
export type BatchRequest = Static<typeof BatchRequest>;

/** What a single call would have been answered: status, body, and whether it is a repeat. */
export const BatchOutcome = object({
  idempotencyKey: Name,
  status: Count,
  replayed: Type.Boolean(),
  body: Type.Union([ReservationBody, ProblemBody]),
});
export type BatchOutcome = Static<typeof BatchOutcome>;
export const BatchBody = object({ items: Type.Array(BatchOutcome) });
