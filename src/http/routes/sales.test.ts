import { describe, expect, it } from "vitest";
import { someSale, someTime } from "../../../test/support/fake-engine.ts";
import { ownCall, serverOver, serverOverNothing } from "../../../test/support/http-server.ts";
import { accepted, refused, replayed } from "../../domain/outcome.ts";
import { saleId } from "../../domain/values.ts";
import type { Page } from "../../ledger/ledger.ts";

const shop = { actor: "local", origin: ownCall };

const sale = { saleId: "sale-1", holdSeconds: 60, items: [{ sku: "sku-1", stock: 10 }] };
const post = {
  method: "POST",
  url: "/v1/sales",
  headers: { "content-type": "application/json" },
} as const;

describe("making a sale", () => {
  it("answers 201 with the sale, its levels and where it is", async () => {
    const calls: unknown[] = [];
    const { app } = await serverOver({
      merchandising: {
        createSale: async (...call) => {
          calls.push(call);
          return accepted(someSale({ state: "draft" }));
        },
      },
    });
    const payload = {
      ...sale,
      title: "Cafe\u0301",
      opensAt: "2026-11-11T00:00:00Z",
      closesAt: "2026-11-11T01:00:00.000Z",
      limitPerBuyer: 2,
    };
    const answer = await app.inject({ ...post, payload });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers["location"]).toBe("/v1/sales/sale-1");
    expect(answer.json()).toMatchObject({
      saleId: "sale-1",
      title: "双十一",
      state: "draft",
      holdSeconds: 60,
      items: [{ sku: "sku-1", total: 10, available: 8, hot: { available: 8, inFlight: 0 } }],
    });
    const asked = {
      saleId: "sale-1",
      title: "Caf\u00e9",
      opensAt: someTime,
      closesAt: someTime + 3_600_000,
      holdSeconds: 60,
      limitPerBuyer: 2,
      items: [{ sku: "sku-1", stock: 10 }],
    };
    expect(calls).toEqual([[asked, shop]]);
  });

  it("told again with the same content answers 200", async () => {
    const { app } = await serverOver({
      merchandising: { createSale: async () => replayed(someSale()) },
    });
    const answer = await app.inject({ ...post, payload: sale });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["idempotency-replayed"]).toBe("true");
  });

  it.each([
    ["KEY_REUSED", 422],
    ["SKU_IN_SALE", 409],
  ] as const)("answers %s with %d", async (code, status) => {
    const { app } = await serverOver({
      merchandising: { createSale: async () => refused(code, "why") },
    });
    expect((await app.inject({ ...post, payload: sale })).statusCode).toBe(status);
  });

  it.each([
    [{ holdSeconds: 0 }, "/holdSeconds"],
    [{ holdSeconds: "60" }, "/holdSeconds"],
    [{ holdSeconds: undefined }, "/holdSeconds"],
    [{ limitPerBuyer: 0 }, "/limitPerBuyer"],
    [{ title: "a\nb" }, "/title"],
    [{ title: "a\u202eb" }, "/title"],
    [{ title: "x".repeat(201) }, "/title"],
    [{ opensAt: "2026-11-11" }, "/opensAt"],
    [{ opensAt: "2026-11-11T00:00:00+08:00" }, "/opensAt"],
    [{ opensAt: "2026-02-30T00:00:00Z" }, "/opensAt"],
    [{ opensAt: 1 }, "/opensAt"],
    [{ opensAt: "2026-11-11T01:00:00Z", closesAt: "2026-11-11T01:00:00Z" }, "/closesAt"],
    [{ items: [] }, "/items"],
    [{ items: [{ sku: "a", stock: -1 }] }, "/items/0/stock"],
    [{ items: [{ sku: "a", stock: 1_000_000_001 }] }, "/items/0/stock"],
    [{ items: [1, 2].map((stock) => ({ sku: "a", stock })) }, "/items/1/sku"],
    [{ state: "open" }, "/state"],
  ])("is refused for %j at %s", async (wrong, pointer) => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...post, payload: { ...sale, ...wrong } });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer }] });
  });
});

describe("looking at sales", () => {
  it("shows one, and 404 for one that is not there", async () => {
    const { app } = await serverOver({
      merchandising: { sale: async (id) => (id === "sale-1" ? someSale() : null) },
    });
    expect((await app.inject("/v1/sales/sale-1")).json()).toMatchObject({ state: "open" });
    const missing = await app.inject("/v1/sales/sale-2");
    expect(missing.json()).toMatchObject({ status: 404, code: "SALE_NOT_FOUND" });
    expect((await app.inject("/v1/sales/sale-2/events")).statusCode).toBe(404);
  });

  it("pages through all of them by the link of each page", async () => {
    const ids = ["s5", "s4", "s3", "s2", "s1"];
    const pages: Page[] = [];
    const { app } = await serverOver({
      merchandising: {
        sales: async (page) => {
          pages.push(page);
          const from = page.after === null ? 0 : ids.indexOf(page.after) + 1;
          return ids.slice(from, from + page.limit).map((id) => someSale({ saleId: saleId(id) }));
        },
      },
    });
    const seen: string[] = [];
    let url: string | null = "/v1/sales?limit=2";
    while (url !== null) {
      const body: { items: { saleId: string }[]; next: string | null } = (
        await app.inject(url)
      ).json();
      seen.push(...body.items.map((item) => item.saleId));
      url = body.next;
    }
    expect(seen).toEqual(ids);
    expect(pages.map(({ limit }) => limit)).toEqual([3, 3, 3]);
  });

  it.each(["limit=0", "limit=201", "limit=-1", "limit=1e2", "limit=", "limit=1&limit=2"])(
    "is refused for %s",
    async (query) => {
      const { app } = await serverOverNothing();
      const answer = await app.inject(`/v1/sales?${query}`);
      expect(answer.json()).toMatchObject({ errors: [{ in: "query", pointer: "/limit" }] });
    },
  );

  it.each(["cursor=x", "cursor=%27%3B--", `cursor=${"A".repeat(300)}`, "order=title"])(
    "is refused for %s",
    async (query) => {
      const { app } = await serverOverNothing();
      expect((await app.inject(`/v1/sales?${query}`)).statusCode).toBe(400);
    },
  );
});

describe("moving a sale", () => {
  it.each([
    ["open", "open"],
    ["pause", "paused"],
    ["close", "closed"],
  ] as const)("%s makes it %s, with or without an operation id and a reason", async (verb, to) => {
    const moves: unknown[] = [];
    const { app } = await serverOver({
      merchandising: {
        moveSale: async (...call) => {
          moves.push(call);
          return accepted(someSale({ state: to }));
        },
      },
    });
    const url = `/v1/sales/sale-1/${verb}`;
    expect((await app.inject({ method: "POST", url })).json()).toMatchObject({ state: to });
    await app.inject({ ...post, url, payload: { operationId: "op-1", reason: "as planned" } });
    const move = { to, operationId: null, ifRevision: null };
    expect(moves).toEqual([
      ["sale-1", { ...move, reason: "" }, shop],
      ["sale-1", { ...move, operationId: "op-1", reason: "as planned" }, shop],
    ]);
  });

  it("decided on a revision that has moved is 412 with the sale as it is now", async () => {
    const moves: unknown[] = [];
    const facts = { state: "paused", sale: someSale({ revision: 4, state: "paused" }) };
    const { app } = await serverOver({
      merchandising: {
        moveSale: async (_id, move) => {
          moves.push(move);
          return refused("VERSION_MOVED", "now at 4", facts);
        },
      },
    });
    const headers = { ...post.headers, "if-match": '"3"' };
    const answer = await app.inject({ ...post, url: "/v1/sales/sale-1/close", headers });
    expect(moves).toMatchObject([{ to: "closed", operationId: null, ifRevision: 3 }]);
    expect(answer.json()).toMatchObject({
      status: 412,
      code: "VERSION_MOVED",
      state: "paused",
      sale: { saleId: "sale-1", revision: 4, items: [{ sku: "sku-1", version: 7 }] },
    });
  });

  it("that hot stock cannot be told of is 503, to be asked again", async () => {
    const { app } = await serverOver({
      merchandising: { moveSale: async () => refused("STOCK_CLOSED", "being rebuilt") },
    });
    const answer = await app.inject({ method: "POST", url: "/v1/sales/sale-1/open" });
    expect(answer.json()).toMatchObject({ status: 503, code: "STOCK_CLOSED", retryable: true });
    expect(answer.headers["retry-after"]).toBe("1");
  });
});
