/**
 * The values that must not be mixed. A brand is given only by a parser of this file, so inside
 * the boundary nobody checks again.
 */

declare const brand: unique symbol;
type Brand<T, Name> = T & { readonly [brand]: Name };

export type SkuId = Brand<string, "SkuId">;
export type SaleId = Brand<string, "SaleId">;
export type BuyerId = Brand<string, "BuyerId">;
export type ReservationId = Brand<string, "ReservationId">;
/** Payment, refund, operation ids and idempotency keys: named by the caller. */
export type OperationId = Brand<string, "OperationId">;
export type Quantity = Brand<number, "Quantity">;
/** +1 for every rebuild of a lane's hot stock. */
export type Epoch = Brand<number, "Epoch">;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;
/** One ordered queue of the bus; small integers from 0. */
export type Lane = number;

export const quantityMax = 1_000_000_000;
export const levelMax = Number.MAX_SAFE_INTEGER;
export const cartLinesMax = 1_000;

/** The one alphabet of every id, compared byte by byte in every store. */
export const idPattern = "^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$";
const idExpression = new RegExp(idPattern);

export function isId(text: unknown): text is string {
  return typeof text === "string" && idExpression.test(text);
}

export class ValueError extends Error {
  override readonly name = "ValueError";
}

function id(text: unknown, what: string): string {
  if (isId(text)) return text;
  throw new ValueError(`${what}: expected 1–64 characters of A–Z a–z 0–9 . _ ~ -`);
}

export const skuId = (text: unknown): SkuId => id(text, "SKU") as SkuId;
export const saleId = (text: unknown): SaleId => id(text, "sale id") as SaleId;
export const buyerId = (text: unknown): BuyerId => id(text, "buyer id") as BuyerId;
export const reservationId = (text: unknown): ReservationId =>
  id(text, "reservation id") as ReservationId;
export const operationId = (text: unknown): OperationId => id(text, "id") as OperationId;

export function quantity(value: unknown): Quantity {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= quantityMax) {
    return value as Quantity;
  }
  throw new ValueError(`quantity: expected an integer from 1 to ${quantityMax}`);
}

export function level(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ValueError("level: expected an integer from 0 to 2^53−1");
}

export function epoch(value: unknown): Epoch {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value as Epoch;
  throw new ValueError("epoch: expected an integer from 0");
}
