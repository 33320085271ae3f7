import { describe, expect, it } from "vitest";
import type { AnswerKind } from "./history.ts";
import { readAnswer } from "./shop.ts";

const reservation = (state: string, more: object = {}) =>
  JSON.stringify({ reservationId: "r", state, ...more });
const problem = (code: string, more: object = {}) => JSON.stringify({ code, ...more });

describe("what an answer means to a buyer", () => {
  it.each<[number, string, AnswerKind, string, string | null]>([
    [201, reservation("reserved"), "held", "reserved", "r"],
    [200, reservation("confirmed"), "held", "confirmed", "r"],
    [201, reservation("cancelled"), "over", "cancelled", "r"],
    [200, reservation("expired"), "over", "expired", "r"],
    [202, reservation("pending"), "pending", "pending", "r"],
    [200, reservation("rejected", { code: "SOLD_OUT" }), "refused", "SOLD_OUT", "r"],
    [200, reservation("void"), "refused", "VOID", "r"],
    [409, problem("SOLD_OUT"), "refused", "SOLD_OUT", null],
    [409, problem("SOLD_OUT", { reservation: { reservationId: "r" } }), "refused", "SOLD_OUT", "r"],
    [422, problem("KEY_REUSED"), "refused", "KEY_REUSED", null],
    [404, "not found", "refused", "HTTP 404", null],
    [429, problem("TOO_MANY"), "later", "TOO_MANY", null],
    [503, problem("STOCK_CLOSED"), "later", "STOCK_CLOSED", null],
    [500, problem("INTERNAL"), "unknown", "INTERNAL", null],
    [408, "", "unknown", "HTTP 408", null],
    [200, "<html>", "unknown", "unreadable", null],
    [201, reservation("novel"), "unknown", "novel", "r"],
  ])("%i %s", (status, text, ...[kind, what, id]) => {
    expect(readAnswer(status, text, undefined)).toMatchObject({ kind, what, id });
  });

  it("waits as long as the server asks, within reason", () => {
    expect(readAnswer(503, problem("BUSY"), "2").retryMs).toBe(2_000);
    expect(readAnswer(503, problem("BUSY"), "3600").retryMs).toBe(5_000);
    expect(readAnswer(503, problem("BUSY"), undefined).retryMs).toBe(100);
  });
});
