import type { Line, ReservationBody } from "../../../src/http/contract.ts";

/** What of an order is still sold: its lines without what went back. */
export function soldLines({
  items,
  refunds,
}: Pick<ReservationBody, "items" | "refunds">): readonly Line[] {
  const back = new Map<string, number>();
  for (const refund of refunds) {
    for (const { sku, quantity } of refund.items) {
      back.set(sku, (back.get(sku) ?? 0) + quantity);
    }
  }
  return items.flatMap(({ sku, quantity }) => {
    const left = quantity - (back.get(sku) ?? 0);
    return left > 0 ? [{ sku, quantity: left }] : [];
  });
}
