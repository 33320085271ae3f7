import { describe, expect, it } from "vitest";
import type { ReserveTicket } from "../domain/ticket.ts";
import {
  buyerId,
  epoch,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../domain/values.ts";
import { SoldOutGate } from "./gate.ts";

const sale = saleId("sale");
const sku = skuId("shoe");
const now = epoch(1);

function ticket(id: string): ReserveTicket {
  return {
    kind: "reserve",
    id: reservationId(id),
    fingerprint: "",
    lines: [{ sku, quantity: quantity(1) }],
    saleId: sale,
    buyerId: buyerId("ada"),
    idempotencyKey: operationId(id),
  };
}

function closedGate(): SoldOutGate {
  const gate = new SoldOutGate();
  gate.close(sale, sku, { epoch: now, idsSeen: 3, ids: ["known"] });
  return gate;
}

describe("the sold-out gate", () => {
  it("stops strangers, and lets through an id that hot stock knew on closing", () => {
    const gate = closedGate();
    expect(gate.stopping(ticket("stranger"), now)).toBe(sku);
    expect(gate.stopping(ticket("known"), now)).toBeNull();
  });

  it.each([
    { left: { sku, available: 0, idsSeen: 3 }, holds: true },
    { left: { sku, available: -1, idsSeen: 3 }, holds: true },
    { left: { sku, available: 1, idsSeen: 3 }, holds: false },
    { left: { sku, available: 0, idsSeen: 4 }, holds: false },
  ])("refuses on hot stock's word only: $left → $holds", ({ left, holds }) => {
    const gate = closedGate();
    expect(gate.holds(sale, left)).toBe(holds);
    expect(gate.isClosed(sale, sku)).toBe(holds);
  });

  it("opens on a new epoch, and when units come back", () => {
    expect(closedGate().stopping(ticket("stranger"), epoch(2))).toBeNull();
    const gate = closedGate();
    gate.open(sku);
    expect(gate.stopping(ticket("stranger"), now)).toBeNull();
  });
});
