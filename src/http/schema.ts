/** The values and bounds that the schemas of `contract.ts` are made of. */
import { type TProperties, type TSchema, Type } from "typebox";
import { isReservationState, transitions } from "../domain/reservation.ts";
import { isSaleState, saleTransitions } from "../domain/sale.ts";
import { isOperation, moves } from "../domain/stock.ts";
import { idPattern, levelMax, quantityMax } from "../domain/values.ts";

export const bodyBytesMax = 128 * 1024;
export const bodyDepthMax = 8;
export const pageLimitMax = 200;
export const pageLimitDefault = 50;
export const waitSecondsMax = 30;
export const waitSecondsDefault = 2;
export const textLengthMax = 200;
/** Holds, extensions: 30 days. */
export const durationSecondsMax = 2_592_000;
/** RFC 3339 in UTC, at most milliseconds. */
export const timePattern =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,3})?Z$";
/** One line without control characters, lone surrogates and changes of reading direction. */
export const textPattern = "^[^\\p{Cc}\\p{Cs}\\u2028-\\u202e\\u2066-\\u2069]*$";

const strict = { additionalProperties: false } as const;
export const object = <P extends TProperties>(properties: P) => Type.Object(properties, strict);
export const Id = Type.String({ pattern: idPattern });
export const Time = Type.String({ pattern: timePattern });
export const Text = Type.String({ pattern: textPattern, maxLength: textLengthMax });
export const Reason = Type.String({ pattern: textPattern, minLength: 1, maxLength: textLengthMax });
export const Quantity = Type.Integer({ minimum: 1, maximum: quantityMax });
export const Level = Type.Integer({ minimum: 0, maximum: levelMax });
export const Seconds = Type.Integer({ minimum: 1, maximum: durationSecondsMax });
export const Instant = Type.String({ format: "date-time" });
export const Name = Type.String();
export const Count = Type.Integer();
export const MaybeText = Type.Unsafe<string | null>({ type: ["string", "null"] });
export const MaybeInstant = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "date-time",
});
export const MaybeCount = Type.Unsafe<number | null>({ type: ["integer", "null"] });
export const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>({ type: "string", enum: [...values] });
export const maybe = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What a list answers: the link to the next page is null on the last. */
export const pageOf = <T extends TSchema>(item: T) =>
  object({ items: Type.Array(item), next: MaybeText });

export const Cursor = Type.String({ pattern: "^[A-Za-z0-9_-]{1,200}$" });
export const Limit = Type.String({ pattern: "^([1-9][0-9]?|1[0-9]{2}|200)$" });
export const Version = Type.String({ pattern: "^(0|[1-9][0-9]{0,14})$" });
export const page = { cursor: Type.Optional(Cursor), limit: Type.Optional(Limit) };
export const period = { from: Type.Optional(Time), to: Type.Optional(Time) };
export const Flag = Type.String({ pattern: "^(true|false|1|0|)$" });

export const ReservationStateName = oneOf(Object.keys(transitions).filter(isReservationState));
export const SaleStateName = oneOf(Object.keys(saleTransitions).filter(isSaleState));
export const OperationName = oneOf(Object.keys(moves).filter(isOperation));
export const PlaceName = Type.Unsafe<string | null>({
  enum: ["supply", "available", "reserved", "sold", "frozen", "lost", null],
});
