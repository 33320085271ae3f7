import { Type } from "typebox";
import {
  Flag,
  Id,
  object,
  oneOf,
  page,
  period,
  Text,
  Time,
  textLengthMax,
  Version,
} from "./schema.ts";

/** Queries and paths of the calls: the part of the contract that only the routes use. */

export const NoQuery = object({});
export const SkuPath = object({ sku: Id });
export const SalePath = object({ saleId: Id });
export const ReservationPath = object({ reservationId: Type.String() });
export const DeadLetterPath = object({ id: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }) });
export const PageQuery = object(page);
export const WaitQuery = object({
  wait: Type.Optional(Type.String({ pattern: "^([0-9]|[12][0-9]|30)$" })),
});
export const AsOfQuery = object({
  asOfVersion: Type.Optional(Version),
  asOf: Type.Optional(Time),
});
export const EntriesQuery = object({
  ...page,
  ...period,
  /** Only later ones: versions have no gaps, so any place of a long ledger can be asked for. */
  afterVersion: Type.Optional(Version),
  format: Type.Optional(oneOf(["json", "csv", "ndjson"])),
  bom: Type.Optional(Flag),
});
export const deadLetterStates = ["open", "replayed", "discarded"] as const;
export const deadLetterFilter = {
  reason: Type.Optional(Text),
  itemId: Type.Optional(Text),
};
export const DeadLettersQuery = object({
  ...page,
  ...deadLetterFilter,
  lane: Type.Optional(Version),
  state: Type.Optional(oneOf(deadLetterStates)),
  format: Type.Optional(oneOf(["json", "csv", "ndjson"])),
  bom: Type.Optional(Flag),
});
export const AuditQuery = object({
  ...page,
  ...period,
  format: Type.Optional(oneOf(["json", "csv", "ndjson"])),
  bom: Type.Optional(Flag),
  actor: Type.Optional(Text),
  action: Type.Optional(Text),
  subject: Type.Optional(Text),
});
export const SearchQuery = object({ q: Type.String({ minLength: 1, maxLength: textLengthMax }) });
export const ReadyQuery = object({ verbose: Type.Optional(Flag) });
