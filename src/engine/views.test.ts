import { describe, expect, it } from "vitest";
import type { Order } from "../domain/reservation.ts";
import { quantity, reservationId, skuId } from "../domain/values.ts";
import { viewOf } from "./views.ts";

const held: Order = {
  id: reservationId("0.order"),
  saleId: null,
  buyerId: null,
  idempotencyKey: null,
  fingerprint: null,
  state: "reserved",
  code: null,
  reason: null,
  lines: [
    {
      sku: skuId("shoe"),
      quantity: quantity(1),
      restocked: 0,
      writtenOff: 0,
      decidedVersion: 1,
    },
  ],
  admittedAt: 0,
  sentAt: 0,
  attempt: 1,
  decidedAt: 1_000,
  expiresAt: 5_000,
  endedAt: null,
  paymentId: null,
  revived: false,
};

describe("what a caller is shown of a reservation", () => {
  it.each([
    { readAt: 4_999, state: "reserved" },
    { readAt: 5_000, state: "expired" },
  ])("is $state at $readAt of the ledger's clock, whatever its own says", ({ readAt, state }) => {
    expect(viewOf({ order: held, payments: [], operations: [], readAt }).state).toBe(state);
  });
});
