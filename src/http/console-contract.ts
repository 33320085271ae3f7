import { type Static, Type } from "typebox";
import { userRoles } from "../domain/user-role.ts";
import { SaleBody } from "./contract.ts";
import {
  Count,
  Flag,
  Id,
  Instant,
  MaybeCount,
  MaybeInstant,
  MaybeText,
  maybe,
  Name,
  object,
  oneOf,
  textLengthMax,
} from "./schema.ts";

/** The part of the contract that only the console uses; `contract.ts` passes its types on. */

export const SignInRequest = object({
  name: Id,
  password: Type.String({ minLength: 1, maxLength: textLengthMax }),
});
export const SignOutQuery = object({ everywhere: Type.Optional(Flag) });
export const SessionBody = object({
  name: Name,
  role: oneOf(userRoles),
  /** `local`: this machine is served without signing in; there is nothing to sign out of. */
  via: oneOf(["password", "key", "local"]),
  /** To be sent as `X-CSRF-Token` with every call that is not a GET; null where none is needed. */
  csrfToken: MaybeText,
  openedAt: MaybeInstant,
  endsAt: MaybeInstant,
  /** Signed out after so long without a call; null: never. */
  idleSeconds: MaybeCount,
  /** `POST /v1/demo/rush` is there. */
  demo: Type.Boolean(),
});
export type SessionBody = Static<typeof SessionBody>;

const TrafficBody = object({
  admitted: Count,
  reserved: Count,
  soldOut: Count,
  refused: Count,
  replayed: Count,
  faults: Count,
  p50Ms: maybe(Type.Number()),
  p99Ms: maybe(Type.Number()),
});
const LaneBody = object({
  lane: Count,
  open: Type.Boolean(),
  tickets: Count,
  outboxLength: Count,
  outboxOldestSeconds: Type.Number(),
  lag: MaybeCount,
});
/**
 * A frame of `GET /v1/sales/{saleId}/events`, once a second. The first is whole (event `level`).
 * Of a sale of more than 100 SKUs the next ones are events `change`: `sale.items` holds only the
 * SKUs that are not as they were told last. Counts are of the answering process since its start,
 * latencies of the last ten seconds; what has been proved holds at each item's `hot.version`, `at`.
 */
export const SaleFrameBody = object({
  at: Instant,
  sale: SaleBody,
  traffic: TrafficBody,
  lane: maybe(LaneBody),
  oldestTicketSeconds: Type.Number(),
});
export type SaleFrameBody = Static<typeof SaleFrameBody>;

export const DemoRushRequest = object({
  stock: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  buyers: Type.Optional(Type.Integer({ minimum: 1, maximum: 20_000 })),
});
export const DemoRushBody = object({ saleId: Name, sku: Name, stock: Count, buyers: Count });
