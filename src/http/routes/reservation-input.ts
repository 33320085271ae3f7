import { type Line, sumLines } from "../../domain/reservation.ts";
import { operationId, quantity, quantityMax, skuId } from "../../domain/values.ts";
import type { RefundRequest as EngineRefund } from "../../engine/engine.ts";
import type { Line as LineBody, RefundRequest } from "../contract.ts";
import { InputError } from "../input.ts";

/** The same SKU on two lines is one line with the sum. */
export function linesOf(items: readonly LineBody[]): readonly Line[] {
  const [first] = items;
  if (items.length === 1 && first !== undefined) return [lineOf(first)];
  return sumLines(items.map(lineOf), (sum) => {
    if (sum <= quantityMax) return quantity(sum);
    throw new InputError("body", "/items", `a SKU's lines sum to more than ${quantityMax}`);
  });
}

function lineOf(line: LineBody): Line {
  return { sku: skuId(line.sku), quantity: quantity(line.quantity) };
}

/** Either units of the order, or a payment that was due back. */
export function refundOf(body: RefundRequest): EngineRefund {
  const { items, restock, paymentId } = body;
  const refundId = operationId(body.refundId);
  if (paymentId !== undefined) {
    if (items !== undefined) throw new InputError("body", "/items", "not beside a paymentId");
    if (restock !== undefined) throw new InputError("body", "/restock", "not beside a paymentId");
    return { kind: "payment", refundId, paymentId: operationId(paymentId) };
  }
  if (restock === undefined) throw new InputError("body", "/restock", "is required");
  const lines = items === undefined ? null : linesOf(items);
  return { kind: "units", refundId, lines, restock };
}
