import { describe, expect, it } from "vitest";
import { someReservation } from "../../../test/support/fake-engine.ts";
import { ownCall, serverOver, serverOverNothing } from "../../../test/support/http-server.ts";
import { Fault } from "../../domain/fault.ts";
import { accepted, refused, replayed } from "../../domain/outcome.ts";
import type { ReserveRequest, Wait } from "../../engine/engine.ts";
import { batchBytesMax, batchItemsMax } from "../contract-batch.ts";

const headers = { "content-type": "application/json" };
const url = "/v1/reservations:batch";
const item = (idempotencyKey: string, quantity = 1) => ({
  idempotencyKey,
  buyerId: `buyer-of-${idempotencyKey}`,
  items: [{ sku: "sku-1", quantity }],
});
const post = (...items: readonly object[]) =>
  ({ method: "POST", url, headers, payload: { saleId: "sale-1", items } }) as const;

describe("reserving many at once", () => {
  it("answers each with the status and body that a single call would get", async () => {
    const asked: [ReserveRequest, Wait][] = [];
    const outcomes = {
      "k-new": accepted(someReservation("reserved")),
      "k-slow": accepted(someReservation("pending")),
      "k-again": replayed(someReservation("confirmed")),
      "k-gone": refused("SOLD_OUT", "sold out"),
      "k-closed": refused("STOCK_CLOSED", "being rebuilt"),
    };
    const { app } = await serverOver({
      buyers: {
        reserve: async (request, wait) => {
          asked.push([request, wait]);
          const found = Object.entries(outcomes).find(([key]) => key === request.idempotencyKey);
          return found?.[1] ?? refused("SALE_NOT_FOUND", "no such key");
        },
      },
    });
    const keys = Object.keys(outcomes);
    const batch = post(...keys.map((key) => item(key)));
    const answer = await app.inject({ ...batch, headers: { ...headers, prefer: "wait=7" } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.json()).toMatchObject({
      items: [
        { idempotencyKey: "k-new", status: 201, replayed: false, body: { state: "reserved" } },
        { idempotencyKey: "k-slow", status: 202, replayed: false, body: { state: "pending" } },
        { idempotencyKey: "k-again", status: 201, replayed: true, body: { state: "confirmed" } },
        { idempotencyKey: "k-gone", status: 409, replayed: false, body: { code: "SOLD_OUT" } },
        {
          idempotencyKey: "k-closed",
          status: 503,
          body: { code: "STOCK_CLOSED", retryable: true },
        },
      ],
    });
    expect(asked.map(([request]) => request.idempotencyKey)).toEqual(keys);
    expect(asked[0]?.[0]).toEqual({
      saleId: "sale-1",
      buyerId: "buyer-of-k-new",
      idempotencyKey: "k-new",
      lines: [{ sku: "sku-1", quantity: 1 }],
      origin: ownCall,
    });
    expect(asked.every(([, { waitMs }]) => waitMs === 7_000)).toBe(true);
  });

  it("says of a store that is away, or a cart that cannot be, only where it was", async () => {
    const { app } = await serverOver({
      buyers: {
        reserve: async ({ idempotencyKey }) => {
          if (idempotencyKey === "k-away") throw new Fault("HOT_UNKNOWN", "no answer in time");
          return accepted(someReservation("reserved"));
        },
      },
    });
    const line = { sku: "sku-1", quantity: 1_000_000_000 };
    const tooMany = { ...item("k-much"), items: [line, line] };
    const answer = await app.inject(post(item("k-ok"), item("k-away"), tooMany));
    expect(answer.statusCode).toBe(200);
    expect(answer.json().items).toMatchObject([
      { idempotencyKey: "k-ok", status: 201 },
      { idempotencyKey: "k-away", status: 503, body: { code: "BUSY", fault: "HOT_UNKNOWN" } },
      { idempotencyKey: "k-much", status: 400, body: { code: "INVALID" } },
    ]);
  });

  it("fails as a whole on a mistake of ours, and says nothing of it", async () => {
    const { app } = await serverOver({
      buyers: { reserve: () => Promise.reject(new Error("secret")) },
    });
    const answer = await app.inject(post(item("k1")));
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain("secret");
  });

  it.each([
    ["no items", post()],
    ["an item without a key", post({ buyerId: "b", items: [{ sku: "s", quantity: 1 }] })],
    ["a key of another alphabet", post(item("a b"))],
    ["a quantity of 0", post(item("k", 0))],
    ["an unknown field", post({ ...item("k"), price: 1 })],
    ["one too many", post(...Array.from({ length: batchItemsMax + 1 }, (_, n) => item(`k${n}`)))],
  ])("refuses %s, and asks for nothing", async (_, request) => {
    const { app } = await serverOverNothing();
    const answer = await app.inject(request);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: "INVALID" });
  });

  it("takes as many as it says, and no body beyond its bound", async () => {
    const { app } = await serverOver({
      buyers: { reserve: async () => accepted(someReservation("reserved")) },
    });
    const most = Array.from({ length: batchItemsMax }, (_, n) => item(`key-${n}`));
    const full = await app.inject(post(...most));
    expect(full.statusCode).toBe(200);
    expect(full.json().items).toHaveLength(batchItemsMax);
    const payload = JSON.stringify({ saleId: "s".repeat(batchBytesMax), items: most });
    const large = await app.inject({ method: "POST", url, headers, payload });
    expect(large.statusCode).toBe(413);
  });
});
