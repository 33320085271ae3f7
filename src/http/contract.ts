import { type Static, Type } from "typebox";
import { rejections } from "../domain/rejection.ts";
import { cartLinesMax, quantityMax } from "../domain/values.ts";
import { deadLetterFilter, deadLetterStates } from "./queries.ts";
import {
  Count,
  Id,
  Instant,
  Level,
  MaybeCount,
  MaybeInstant,
  MaybeText,
  maybe,
  Name,
  OperationName,
  object,
  oneOf,
  PlaceName,
  pageOf,
  Quantity,
  Reason,
  ReservationStateName,
  SaleStateName,
  Seconds,
  Text,
  Time,
} from "./schema.ts";

/**
 * Every request and answer of the HTTP API, once: the routes check with these schemas, OpenAPI
 * shows them, the console and the command line take their types. Nothing here needs Node.
 */

// Reservations -------------------------------------------------------------------------------

export const Line = object({ sku: Id, quantity: Quantity });
export type Line = Static<typeof Line>;
export const Lines = Type.Array(Line, { minItems: 1, maxItems: cartLinesMax });

export const ReservationRequest = object({ saleId: Id, buyerId: Id, items: Lines });
export type ReservationRequest = Static<typeof ReservationRequest>;
export const ConfirmRequest = object({ paymentId: Id, paidAt: Type.Optional(Time) });
export const CancelRequest = object({ reason: Type.Optional(Text) });
export const ExtendRequest = object({ operationId: Id, seconds: Seconds });
export const RefundRequest = object({
  refundId: Id,
  items: Type.Optional(Lines),
  restock: Type.Optional(Type.Boolean()),
  paymentId: Type.Optional(Id),
  reason: Type.Optional(Text),
});
export type RefundRequest = Static<typeof RefundRequest>;

const Payment = object({
  paymentId: Name,
  state: oneOf(["taken", "due", "refunded"]),
  paidAt: MaybeInstant,
  recordedAt: Instant,
  refundId: MaybeText,
});
const Refund = object({
  refundId: Name,
  at: Instant,
  items: Type.Array(Line),
  restock: Type.Boolean(),
  paymentId: MaybeText,
  reason: Name,
});
export const ReservationBody = object({
  reservationId: Name,
  saleId: MaybeText,
  buyerId: MaybeText,
  state: ReservationStateName,
  items: Type.Array(Line),
  createdAt: MaybeInstant,
  decidedAt: MaybeInstant,
  expiresAt: MaybeInstant,
  endedAt: MaybeInstant,
  paymentId: MaybeText,
  revived: Type.Boolean(),
  refunds: Type.Array(Refund),
  refundDue: Type.Array(Payment),
  payments: Type.Array(Payment),
  code: MaybeText,
  reason: MaybeText,
  links: object({ self: Name, events: Name, timeline: Name }),
});
export type ReservationBody = Static<typeof ReservationBody>;

export const TimelineBody = object({
  reservationId: Name,
  items: Type.Array(
    object({
      step: Name,
      store: oneOf(["hot", "bus", "ledger"]),
      at: Instant,
      actor: Name,
      attempt: MaybeCount,
      sku: MaybeText,
      quantity: MaybeCount,
      version: MaybeCount,
      hash: MaybeText,
      detail: Name,
      requestId: MaybeText,
      traceId: MaybeText,
      traceUrl: MaybeText,
    }),
  ),
});
export type TimelineBody = Static<typeof TimelineBody>;

// Stock --------------------------------------------------------------------------------------

export const StockMoveRequest = object({ operationId: Id, quantity: Quantity, reason: Reason });
export const AdjustRequest = object({
  operationId: Id,
  delta: Type.Optional(Type.Integer({ minimum: -quantityMax, maximum: quantityMax })),
  total: Type.Optional(Level),
  reason: Reason,
});
export type AdjustRequest = Static<typeof AdjustRequest>;
export const CountRequest = object({ operationId: Id, found: Level, reason: Reason });
export const StopRequest = object({ operationId: Id, reason: Reason });

const balances = { available: Count, reserved: Count, sold: Count, frozen: Count, lost: Count };
export const LevelBody = object({
  sku: Name,
  status: oneOf(["normal", "stopped"]),
  statusReason: MaybeText,
  saleId: MaybeText,
  version: Count,
  hash: Name,
  total: Count,
  ...balances,
  hot: maybe(object({ version: Count, available: Count, inFlight: Count })),
  drift: Count,
  behind: Count,
  /** 0: nothing is in flight. */
  oldestTicketSeconds: Type.Number(),
});
export type LevelBody = Static<typeof LevelBody>;
export const LevelPage = pageOf(LevelBody);
/** Commands that show a SKU in hot stock as it lies there; none of hot stock in memory. */
export const HotLookBody = object({ lines: Type.Array(Name) });

export const EntryBody = object({
  sku: Name,
  version: Count,
  operation: OperationName,
  operationId: Name,
  reservationId: MaybeText,
  saleId: MaybeText,
  buyerId: MaybeText,
  quantity: Count,
  from: PlaceName,
  to: PlaceName,
  after: object(balances),
  actor: Name,
  reason: Name,
  at: Instant,
  previousHash: Name,
  hash: Name,
  publication: oneOf(["pending", "success"]),
});
export type EntryBody = Static<typeof EntryBody>;
export const EntryPage = pageOf(EntryBody);
export const StockChangedBody = object({
  level: LevelBody,
  entry: maybe(EntryBody),
  entries: Type.Array(EntryBody),
});
export type StockChangedBody = Static<typeof StockChangedBody>;

// Sales --------------------------------------------------------------------------------------

/** As many as fit into a body, with ids of a usual length. */
const saleItemsMax = 2_000;

export const SaleRequest = object({
  saleId: Id,
  title: Type.Optional(Text),
  opensAt: Type.Optional(Time),
  closesAt: Type.Optional(Time),
  holdSeconds: Seconds,
  limitPerBuyer: Type.Optional(Quantity),
  items: Type.Array(
    object({ sku: Id, stock: Type.Integer({ minimum: 0, maximum: quantityMax }) }),
    { minItems: 1, maxItems: saleItemsMax },
  ),
});
export type SaleRequest = Static<typeof SaleRequest>;
export const SaleMoveRequest = object({
  operationId: Type.Optional(Id),
  reason: Type.Optional(Text),
});

export const SaleBody = object({
  saleId: Name,
  title: Name,
  state: SaleStateName,
  /** +1 with every move; what `If-Match` compares. */
  revision: Count,
  opensAt: MaybeInstant,
  closesAt: MaybeInstant,
  holdSeconds: Count,
  limitPerBuyer: MaybeCount,
  createdAt: Instant,
  closedAt: MaybeInstant,
  items: Type.Array(LevelBody),
});
export type SaleBody = Static<typeof SaleBody>;
export const SalePage = pageOf(SaleBody);

// Proof, repair, looking ---------------------------------------------------------------------

export const RepairRequest = object({
  dryRun: Type.Boolean(),
  sku: Type.Optional(Id),
  reason: Type.Optional(Text),
});
export const VerifyRequest = object({ sku: Type.Optional(Id) });
export const DeadLetterRequest = object({ reason: Reason });
const DeadLetterId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const DeadLettersRequest = object({
  /** Either `ids`, settled in this order, or what all open ones are compared with. */
  filter: object({
    ...deadLetterFilter,
    lane: Type.Optional(Level),
    ids: Type.Optional(Type.Array(DeadLetterId, { minItems: 1, maxItems: 1_000 })),
  }),
  dryRun: Type.Boolean(),
  reason: Reason,
});
export type DeadLettersRequest = Static<typeof DeadLettersRequest>;

export const ReconciliationBody = object({
  at: Instant,
  skus: Count,
  drift: Count,
  behind: Count,
  inFlight: Count,
  repairs: Count,
  closed: Count,
  stopped: Count,
  items: Type.Array(
    object({
      sku: Name,
      version: Count,
      hotVersion: Count,
      behind: Count,
      hotAvailable: Count,
      inFlight: Count,
      ledgerAvailable: Count,
      drift: Count,
      oldestTicketSeconds: Type.Number(),
      status: Name,
    }),
  ),
});
export const RepairBody = object({
  dryRun: Type.Boolean(),
  actions: Type.Array(
    object({
      action: oneOf(["rebuild", "stop", "none"]),
      subject: Name,
      reason: Name,
      done: Type.Boolean(),
      look: Name,
    }),
  ),
});
export const VerificationBody = object({
  ok: Type.Boolean(),
  skus: Count,
  entries: Count,
  firstBroken: maybe(
    object({ sku: Name, version: Count, what: Name, expected: Name, found: Name }),
  ),
});
export const DeadLetterBody = object({
  id: Count,
  lane: Count,
  state: oneOf(deadLetterStates),
  reason: Name,
  kind: MaybeText,
  itemId: MaybeText,
  sku: MaybeText,
  tries: Count,
  createdAt: Instant,
  settledAt: MaybeInstant,
  settledBy: MaybeText,
  settledReason: MaybeText,
  bytes: Count,
  bodyBase64: Type.Optional(Name),
});
export type DeadLetterBody = Static<typeof DeadLetterBody>;
export const DeadLetterPage = pageOf(DeadLetterBody);
/** Null while the broker cannot be asked. */
export const GivenUpBody = object({ givenUp: MaybeCount });
export const DeadLetterOutcomeBody = object({ id: Count, outcome: Name, detail: Name });
export const DeadLetterOutcomesBody = object({
  dryRun: Type.Boolean(),
  /** True: the call's bound was reached and more match the filter. */
  more: Type.Boolean(),
  items: Type.Array(DeadLetterOutcomeBody),
});
export const AuditRecordBody = object({
  id: Count,
  at: Instant,
  actor: Name,
  action: Name,
  subject: Name,
  reason: Name,
  before: Type.Unknown(),
  after: Type.Unknown(),
});
export type AuditRecordBody = Static<typeof AuditRecordBody>;
export const AuditPage = pageOf(AuditRecordBody);
export const SearchBody = object({
  q: Name,
  hits: Type.Array(
    object({ type: Name, id: Name, matched: Name, state: Name, at: Instant, link: MaybeText }),
  ),
  looked: Type.Array(Name),
});
export const CheckBody = object({
  id: Name,
  state: oneOf(["ok", "warn", "fail"]),
  found: Name,
  cause: Name,
  fix: Name,
  look: Name,
});
export type CheckBody = Static<typeof CheckBody>;
export const DoctorBody = object({ ok: Type.Boolean(), checks: Type.Array(CheckBody) });
export const ProbeBody = object({
  status: Name,
  parts: Type.Optional(Type.Array(object({ name: Name, ok: Type.Boolean(), ms: Type.Number() }))),
});

// The console --------------------------------------------------------------------------------

export type { SaleFrameBody, SessionBody } from "./console-contract.ts";

// Problems -----------------------------------------------------------------------------------

export const problemCodes = [
  "INVALID",
  "KEY_MISSING",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "REQUEST_TIMEOUT",
  "TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "TOO_MANY",
  "HEADERS_TOO_LARGE",
  "INTERNAL",
  ...rejections,
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export const FieldError = object({
  in: oneOf(["body", "query", "path", "header"]),
  pointer: Name,
  message: Name,
});
export type FieldError = Static<typeof FieldError>;
/** RFC 9457; a refusal may add what it wants to show: `state`, `reservation`, `level`. */
export const ProblemBody = Type.Object({
  type: Name,
  code: oneOf(problemCodes),
  status: Count,
  title: Name,
  detail: Name,
  instance: Name,
  retryable: Type.Boolean(),
  errors: Type.Optional(Type.Array(FieldError)),
});
export type ProblemBody = Static<typeof ProblemBody>;
