/**
 * Every "no" of the business. The order IS the precedence in which a refusal is chosen, here and
 * in every adapter of hot stock.
 */
export const rejections = [
  "KEY_REUSED",
  "SALE_NOT_FOUND",
  "SKU_NOT_FOUND",
  "SALE_NOT_OPEN",
  "SALE_PAUSED",
  "SALE_ENDED",
  "SOLD_OUT",
  "LIMIT_EXCEEDED",
  "RESERVATION_NOT_FOUND",
  "VOID",
  "SKU_IN_SALE",
  "WRONG_STATE",
  "REFUND_DUE",
  "ALREADY_PAID",
  "NOT_ENOUGH",
  "VERSION_MOVED",
  "STOCK_CLOSED",
  "BUSY",
] as const;

export type Rejection = (typeof rejections)[number];

export function isRejection(value: unknown): value is Rejection {
  return rejections.some((rejection) => rejection === value);
}
