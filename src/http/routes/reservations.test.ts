import { describe, expect, it } from "vitest";
import { someReservation, someTime } from "../../../test/support/fake-engine.ts";
import {
  ownCall,
  serverOfItsOwn,
  serverOver,
  serverOverNothing,
} from "../../../test/support/http-server.ts";
import { accepted, refused, replayed } from "../../domain/outcome.ts";
import { operationId } from "../../domain/values.ts";
import type { ReserveRequest, Wait } from "../../engine/engine.ts";

const cart = { saleId: "sale-1", buyerId: "ann", items: [{ sku: "sku-1", quantity: 2 }] };
const headers = { "content-type": "application/json", "idempotency-key": "k1" };
const post = { method: "POST", url: "/v1/reservations", headers, payload: cart } as const;
const self = "/v1/reservations/0.abc.def";
const shop = { actor: "local", origin: ownCall };
const act = { method: "POST", headers: { "content-type": "application/json" } } as const;

describe("reserving", () => {
  it("answers 201 with the reservation and where it is", async () => {
    const asked: [ReserveRequest, Wait][] = [];
    const { app } = await serverOver({
      buyers: {
        reserve: async (...call) => {
          asked.push(call);
          return accepted(someReservation("reserved"));
        },
      },
    });
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(201);
    expect(answer.headers["location"]).toBe(self);
    expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    expect(answer.json()).toEqual({
      reservationId: "0.abc.def",
      saleId: "sale-1",
      buyerId: "ann",
      state: "reserved",
      items: [{ sku: "sku-1", quantity: 2 }],
      createdAt: "2026-11-11T00:00:00.000Z",
      decidedAt: "2026-11-11T00:00:00.005Z",
      expiresAt: "2026-11-11T00:01:00.005Z",
      endedAt: null,
      paymentId: null,
      revived: false,
      refunds: [],
      refundDue: [],
      payments: [],
      code: null,
      reason: null,
      links: { self, events: `${self}/events`, timeline: `${self}/timeline` },
    });
    const lines = [{ sku: "sku-1", quantity: 2 }];
    const cartOfAnn = { saleId: "sale-1", buyerId: "ann", idempotencyKey: "k1", lines };
    const request = { ...cartOfAnn, origin: ownCall };
    expect(asked).toEqual([[request, { waitMs: 2_000 }]]);
  });

  it("answers 202 with where to ask while the ledger has not decided", async () => {
    const { app } = await serverOver({
      buyers: { reserve: async () => accepted(someReservation("pending")) },
    });
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(202);
    expect(answer.headers).toMatchObject({ location: self, "retry-after": "1" });
    expect(answer.json()).toMatchObject({ state: "pending", decidedAt: null, expiresAt: null });
  });

  it.each([
    ["SOLD_OUT", 409],
    ["LIMIT_EXCEEDED", 409],
    ["SALE_NOT_FOUND", 404],
    ["KEY_REUSED", 422],
    ["STOCK_CLOSED", 503],
  ] as const)("answers %s with %d", async (code, status) => {
    const { app } = await serverOver({ buyers: { reserve: async () => refused(code, "why") } });
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ code, detail: "why", retryable: status === 503 });
    expect(answer.headers["retry-after"]).toBe(status === 503 ? "1" : undefined);
  });

  it("asked twice answers the first status with the reservation as it is now", async () => {
    const now = someReservation("confirmed", { paymentId: operationId("pay-1") });
    const { app } = await serverOver({ buyers: { reserve: async () => replayed(now) } });
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(201);
    expect(answer.headers["idempotency-replayed"]).toBe("true");
    expect(answer.json()).toMatchObject({ state: "confirmed", paymentId: "pay-1" });
  });

  it("asked twice for what the ledger has refused answers that refusal", async () => {
    const facts = { reservation: someReservation("rejected", { code: "SOLD_OUT" }) };
    const answerTwice = { ...refused("SOLD_OUT", "why", facts), replayed: true };
    const { app } = await serverOver({ buyers: { reserve: async () => answerTwice } });
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(409);
    expect(answer.headers["idempotency-replayed"]).toBe("true");
    expect(answer.json()).toMatchObject({ code: "SOLD_OUT", reservation: { state: "rejected" } });
  });

  it.each([
    ["wait=0", 0],
    ["wait=30", 30_000],
    ["respond-async, wait=5", 5_000],
  ])("waits as Prefer: %s says", async (prefer, waitMs) => {
    const waits: number[] = [];
    const { app } = await serverOver({
      buyers: {
        reserve: async (_request, wait) => {
          waits.push(wait.waitMs);
          return accepted(someReservation("reserved"));
        },
      },
    });
    await app.inject({ ...post, headers: { ...headers, prefer } });
    expect(waits).toEqual([waitMs]);
  });

  it("sums the lines of one SKU, in order of SKU", async () => {
    let lines: unknown;
    const { app } = await serverOver({
      buyers: {
        reserve: async (request) => {
          lines = request.lines;
          return accepted(someReservation("reserved"));
        },
      },
    });
    const items = [
      { sku: "b", quantity: 1 },
      { sku: "a", quantity: 2 },
      { sku: "b", quantity: 3 },
    ];
    await app.inject({ ...post, payload: { ...cart, items } });
    expect(lines).toEqual([
      { sku: "a", quantity: 2 },
      { sku: "b", quantity: 4 },
    ]);
  });
});

describe("looking at a reservation", () => {
  it("waits as long as it is asked to, and not at all by default", async () => {
    const asked: [string, number][] = [];
    const { app } = await serverOver({
      buyers: {
        reservation: async (id, { waitMs }) => {
          asked.push([id, waitMs]);
          return someReservation("reserved");
        },
      },
    });
    expect((await app.inject(self)).json()).toMatchObject({ state: "reserved" });
    await app.inject(`${self}?wait=30`);
    expect(asked).toEqual([
      ["0.abc.def", 0],
      ["0.abc.def", 30_000],
    ]);
  });

  it.each(["31", "-1", "x", "", "1.5", "007", "1&wait=2"])(
    "is refused for wait=%s",
    async (wait) => {
      const { app } = await serverOverNothing();
      const answer = await app.inject(`${self}?wait=${wait}`);
      expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: "/wait" }] });
    },
  );

  it.each(["", "/timeline", "/events"])("of an id that is not ours is 404: %s", async (part) => {
    const { app } = await serverOver({
      buyers: { reservation: async () => null, timeline: async () => null },
    });
    const forged = `/v1/reservations/${encodeURIComponent("0.forged'--\u0000")}${part}`;
    const answer = await app.inject(forged);
    expect(answer.json()).toMatchObject({ status: 404, code: "RESERVATION_NOT_FOUND" });
  });

  it("tells every step of its timeline", async () => {
    const step = {
      step: "decided",
      store: "ledger",
      at: someTime,
      actor: "writer",
      attempt: 1,
      sku: null,
      quantity: null,
      version: 3,
      hash: "ff",
      detail: "",
    } as const;
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const steps = [
      { ...step, origin: null },
      { ...step, origin: { requestId: "gateway-7", traceId: null } },
      { ...step, origin: { requestId: "gateway-8", traceId } },
    ];
    const engine = { buyers: { timeline: async () => steps } };
    const told = { ...step, at: "2026-11-11T00:00:00.000Z" };
    const noTrace = { traceId: null, traceUrl: null };
    const items = (traceUrl: string | null) => [
      { ...told, requestId: null, ...noTrace },
      { ...told, requestId: "gateway-7", ...noTrace },
      { ...told, requestId: "gateway-8", traceId, traceUrl },
    ];
    const { app } = await serverOver(engine);
    const plain = (await app.inject(`${self}/timeline`)).json();
    expect(plain).toEqual({ reservationId: "0.abc.def", items: items(null) });
    const traceUrl = "https://traces.example/{traceId}?of={traceId}";
    const linked = await serverOfItsOwn(engine, { traceUrl });
    const url = `https://traces.example/${traceId}?of=${traceId}`;
    expect((await linked.app.inject(`${self}/timeline`)).json().items).toEqual(items(url));
  });
});

describe("paying and ending", () => {
  it("passes the payment and the time at which it was paid", async () => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      settlement: {
        confirm: async (...call) => {
          calls.push(call);
          return accepted(someReservation("confirmed", { revived: true }));
        },
      },
    });
    const payload = { paymentId: "pay-1", paidAt: "2026-11-11T00:00:30.000Z" };
    const answer = await app.inject({ ...act, url: `${self}/confirm`, payload });
    expect(answer.json()).toMatchObject({ state: "confirmed", revived: true });
    const payment = { paymentId: "pay-1", paidAt: someTime + 30_000 };
    expect(calls).toEqual([
      ["0.abc.def", payment, { actor: "local", reason: "", origin: ownCall }],
    ]);
  });

  it("tells a payment that is due back, and on what", async () => {
    const facts = { reservation: someReservation("expired") };
    const { app } = await serverOver({
      settlement: { confirm: async () => refused("REFUND_DUE", "no units", facts) },
    });
    const payload = { paymentId: "pay-1" };
    const answer = await app.inject({ ...act, url: `${self}/confirm`, payload });
    expect(answer.json()).toMatchObject({ status: 409, code: "REFUND_DUE", state: "expired" });
  });

  it("answers a payment of a pending one with a retry", async () => {
    const facts = { reservation: someReservation("pending") };
    const { app } = await serverOver({
      settlement: { confirm: async () => refused("WRONG_STATE", "not decided yet", facts) },
    });
    const payload = { paymentId: "pay-1" };
    const answer = await app.inject({ ...act, url: `${self}/confirm`, payload });
    expect(answer.json()).toMatchObject({ status: 409, state: "pending", retryable: true });
    expect(answer.headers["retry-after"]).toBe("1");
  });

  it("cancels with or without a body, and waits as Prefer says", async () => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      settlement: {
        cancel: async (_id, context) => {
          calls.push(context);
          return accepted(someReservation("cancelled"));
        },
      },
    });
    const url = `${self}/cancel`;
    await app.inject({ method: "POST", url, headers: { prefer: "wait=1" } });
    await app.inject({ ...act, url, payload: "" });
    await app.inject({ ...act, url, payload: { reason: "changed my mind" } });
    expect(calls).toEqual([
      { ...shop, reason: "", waitMs: 1_000 },
      { ...shop, reason: "", waitMs: 2_000 },
      { ...shop, reason: "changed my mind", waitMs: 2_000 },
    ]);
  });

  it("answers 202 when a pending one is still not decided", async () => {
    const { app } = await serverOver({
      settlement: { cancel: async () => accepted(someReservation("pending")) },
    });
    const answer = await app.inject({ method: "POST", url: `${self}/cancel` });
    expect(answer.statusCode).toBe(202);
    expect(answer.headers["location"]).toBe(self);
  });

  it.each([
    [
      { refundId: "r1", restock: true },
      { kind: "units", lines: null, restock: true },
    ],
    [
      { refundId: "r1", restock: false, items: [{ sku: "a", quantity: 1 }] },
      { kind: "units", lines: [{ sku: "a", quantity: 1 }], restock: false },
    ],
    [
      { refundId: "r1", paymentId: "p1" },
      { kind: "payment", paymentId: "p1" },
    ],
  ])("refunds %j", async (payload, refund) => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      settlement: {
        refund: async (_id, asked) => {
          calls.push(asked);
          return accepted(someReservation("refunded"));
        },
      },
    });
    const answer = await app.inject({ ...act, url: `${self}/refund`, payload });
    expect(answer.statusCode).toBe(200);
    expect(calls).toEqual([{ ...refund, refundId: "r1" }]);
  });

  it.each([
    [{ refundId: "r1" }, "/restock"],
    [{ refundId: "r1", paymentId: "p1", restock: true }, "/restock"],
    [{ refundId: "r1", paymentId: "p1", items: [{ sku: "a", quantity: 1 }] }, "/items"],
    [{ refundId: "r1", restock: "yes" }, "/restock"],
    [{ refundId: "r1", restock: true, items: [] }, "/items"],
  ])("refuses the refund %j at %s", async (payload, pointer) => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...act, url: `${self}/refund`, payload });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer }] });
  });

  it("extends a hold under an operation id", async () => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      settlement: {
        extend: async (_id, extension) => {
          calls.push(extension);
          return replayed(someReservation("reserved"));
        },
      },
    });
    const payload = { operationId: "op-1", seconds: 60 };
    const answer = await app.inject({ ...act, url: `${self}/extend`, payload });
    expect(answer.headers["idempotency-replayed"]).toBe("true");
    expect(calls).toEqual([payload]);
  });
});
