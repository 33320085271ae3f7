import { describe, expect, it } from "vitest";
import type { Answer } from "../domain/entry.ts";
import type { LaneItem, Ticket } from "../domain/ticket.ts";
import {
  buyerId,
  epoch,
  operationId,
  quantity,
  reservationId,
  saleId,
  skuId,
} from "../domain/values.ts";
import {
  answerOf,
  answerWords,
  itemOf,
  itemWords,
  recordOf,
  ticketWords,
  unword,
  word,
} from "./redis-words.ts";

const lines = [
  { sku: skuId("A"), quantity: quantity(2) },
  { sku: skuId("b.c~d_e-f"), quantity: quantity(1_000_000_000) },
];
const who = { saleId: saleId("s"), buyerId: buyerId("ann") };

const tickets: readonly Ticket[] = [
  {
    kind: "reserve",
    id: reservationId("0.abc.def"),
    fingerprint: "A*2 b*1",
    lines,
    ...who,
    idempotencyKey: operationId("k-1"),
  },
  {
    kind: "revive",
    id: "revive:0.abc:p1",
    fingerprint: "",
    lines,
    ...who,
    reservationId: reservationId("0.abc"),
    paymentId: operationId("p1"),
    paidAt: null,
  },
  {
    kind: "take",
    id: "take:A:o1",
    fingerprint: "% 100% =,",
    lines: lines.slice(0, 1),
    operation: "freeze",
    sku: skuId("A"),
    operationId: operationId("o1"),
    ifVersion: 9_007_199_254_740_991,
    actor: "李雷\n",
    reason: "",
  },
];

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const origins = [
  { requestId: "gateway-7", traceId },
  { requestId: "gateway-8", traceId: null },
];

describe("words", () => {
  it.each([null, "", "%", "%%", "a b", "a,b=c", "库存", "\n\r\t"])("keep %j", (text) => {
    expect(word(text)).not.toMatch(/[\s]/);
    expect(unword(word(text))).toBe(text);
  });

  it.each(tickets)("keep a ticket: $kind", (ticket) => {
    const item: LaneItem = { kind: "ticket", ticket, admittedAt: 1_700_000_000_000 };
    expect(itemOf(itemWords(item))).toEqual(item);
    const record = `7 2 10 1700000000000 ${ticketWords(ticket)}`;
    const kept = { ticket, admittedAt: 1_700_000_000_000, seq: 7, resends: 2 };
    expect(recordOf(ticket.id, record)).toEqual(kept);
  });

  it.each(tickets)("keep by which call a ticket came: $kind", (ticket) => {
    for (const origin of origins) {
      const asked = { ...ticket, origin };
      const item: LaneItem = { kind: "ticket", ticket: asked, admittedAt: 1 };
      expect(itemOf(itemWords(item))).toEqual(item);
      expect(recordOf(ticket.id, `7 2 10 1 ${ticketWords(asked)}`).ticket).toEqual(asked);
    }
  });

  it.each<LaneItem>([
    { kind: "void", id: "0.abc", ticket: null, reason: "it was lost" },
    { kind: "cancel", id: reservationId("0.abc"), actor: "李 雷", reason: "" },
    { kind: "marker", seq: 12 },
    { kind: "barrier", epoch: epoch(3) },
  ])("keep an item: $kind", (item) => {
    expect(itemOf(itemWords(item))).toEqual(item);
  });

  it.each<Answer>([
    { id: "r1", fingerprint: "A*1", state: "reserved", saleId: who.saleId, skus: [skuId("A")] },
    { id: "r2", fingerprint: null, state: "void", saleId: null, skus: [] },
    {
      id: "r3",
      fingerprint: "",
      state: "rejected",
      saleId: who.saleId,
      skus: lines.map((l) => l.sku),
    },
  ])("keep an answer: $id", (answer) => {
    const words = answerWords(answer);
    expect(answerOf(answer.id, words.slice(answer.id.length + 1))).toEqual(answer);
  });

  it("make half of the bytes that JSON makes", () => {
    for (const ticket of tickets) {
      expect(ticketWords(ticket).length).toBeLessThan(JSON.stringify(ticket).length / 2);
    }
  });
});
