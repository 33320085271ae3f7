import { describe, expect, it } from "vitest";
import { someEntry, someLevel, someTime } from "../../../test/support/fake-engine.ts";
import {
  ownCall,
  serverOfItsOwn,
  serverOver,
  serverOverNothing,
} from "../../../test/support/http-server.ts";
import type { StoreUrls } from "../../doctor/transport.ts";
import { accepted, refused } from "../../domain/outcome.ts";
import type { LevelView, StockChange } from "../../engine/engine.ts";
import type { EntryQuery } from "../../ledger/ledger.ts";

const act = { method: "POST", headers: { "content-type": "application/json" } } as const;
const common = { operationId: "op-1", reason: "delivery" };

async function changing() {
  const changes: StockChange[] = [];
  const { app } = await serverOver({
    merchandising: {
      changeStock: async (change) => {
        changes.push(change);
        return accepted({ level: someLevel(), entries: [someEntry(6), someEntry(7)] });
      },
    },
  });
  return { app, changes };
}

describe("changing stock", () => {
  it.each(["restock", "withdraw", "freeze", "unfreeze"])("%s moves a quantity", async (kind) => {
    const { app, changes } = await changing();
    const payload = { ...common, quantity: 3 };
    const answer = await app.inject({ ...act, url: `/v1/stock/sku-1/${kind}`, payload });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      level: { sku: "sku-1", version: 7, available: 8 },
      entry: { version: 7, operation: "restock", from: "supply", to: "available" },
      entries: [{ version: 6 }, { version: 7 }],
    });
    const ids = { sku: "sku-1", operationId: "op-1" };
    expect(changes).toEqual([{ kind, ...ids, quantity: 3, ifVersion: null }]);
    const headers = { ...act.headers, "if-match": '"7"' };
    await app.inject({ ...act, url: `/v1/stock/sku-1/${kind}`, payload, headers });
    expect(changes[1]).toEqual({ kind, ...ids, quantity: 3, ifVersion: 7 });
  });

  it.each([
    [{ ...common, delta: -3 }, {}, { kind: "adjust", delta: -3, ifVersion: null }],
    [{ ...common, delta: 3 }, { "if-match": '"7"' }, { kind: "adjust", delta: 3, ifVersion: 7 }],
    [{ ...common, total: 9 }, { "if-match": '"7"' }, { kind: "set-total", total: 9, ifVersion: 7 }],
    [{ ...common, total: 0 }, { "if-match": "0" }, { kind: "set-total", total: 0, ifVersion: 0 }],
  ])("adjusts by %j with %j", async (payload, headers, change) => {
    const { app, changes } = await changing();
    const url = "/v1/stock/sku-1/adjust";
    const call = { ...act, url, payload, headers: { ...act.headers, ...headers } };
    expect((await app.inject(call)).statusCode).toBe(200);
    expect(changes).toEqual([{ ...change, sku: "sku-1", operationId: "op-1" }]);
  });

  it("counts what was found of the frozen units, also none", async () => {
    const { app, changes } = await changing();
    const payload = { ...common, found: 0 };
    await app.inject({ ...act, url: "/v1/stock/sku-1/count", payload });
    const ids = { sku: "sku-1", operationId: "op-1" };
    expect(changes).toEqual([{ kind: "count", ...ids, found: 0, ifVersion: null }]);
  });

  it.each([
    ["restock", { operationId: "op-1", quantity: 1 }, "/reason"],
    ["restock", { ...common, reason: "", quantity: 1 }, "/reason"],
    ["restock", { ...common, quantity: "1" }, "/quantity"],
    ["restock", { reason: "r", quantity: 1 }, "/operationId"],
    ["adjust", common, "/delta"],
    ["adjust", { ...common, delta: 0 }, "/delta"],
    ["adjust", { ...common, delta: 1, total: 1 }, "/delta"],
    ["adjust", { ...common, total: 1 }, "/if-match"],
    ["adjust", { ...common, total: -1 }, "/total"],
    ["count", { ...common, found: -1 }, "/found"],
    ["count", { ...common, found: 9007199254740992 }, "/found"],
    ["stop", { operationId: "op-1" }, "/reason"],
  ])("%s is refused for %j at %s", async (verb, payload, pointer) => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...act, url: `/v1/stock/sku-1/${verb}`, payload });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer }] });
  });

  it("on a version that has moved answers 412 with the newer level", async () => {
    const facts = { level: someLevel() };
    const { app } = await serverOver({
      merchandising: { changeStock: async () => refused("VERSION_MOVED", "now at 7", facts) },
    });
    const headers = { ...act.headers, "if-match": '"6"' };
    const payload = { ...common, total: 9 };
    const answer = await app.inject({ ...act, url: "/v1/stock/sku-1/adjust", headers, payload });
    expect(answer.json()).toMatchObject({
      status: 412,
      code: "VERSION_MOVED",
      level: { version: 7, total: 10 },
    });
  });

  it.each(["stop", "resume"] as const)("%s goes by its operation id and reason", async (verb) => {
    const calls: unknown[] = [];
    const asked = async (...call: unknown[]) => {
      calls.push(call);
      return accepted(someLevel("sku-1", { status: "stopped" }));
    };
    const method = verb === "stop" ? { stopSku: asked } : { resumeSku: asked };
    const { app } = await serverOver({ merchandising: method });
    const answer = await app.inject({ ...act, url: `/v1/stock/sku-1/${verb}`, payload: common });
    expect(answer.json()).toMatchObject({ status: "stopped" });
    const acting = { actor: "local", reason: "delivery", origin: ownCall };
    expect(calls).toEqual([["sku-1", "op-1", { ...acting, ifVersion: null }]]);
    const headers = { ...act.headers, "if-match": "7" };
    await app.inject({ ...act, url: `/v1/stock/sku-1/${verb}`, payload: common, headers });
    expect(calls[1]).toEqual(["sku-1", "op-1", { ...acting, ifVersion: 7 }]);
  });
});

describe("a SKU in a path", () => {
  it.each([
    ...["abc%20", "%7Ba%7D", "a%3Ab", "a%0d%0ab", "a%00", "%F0%9F%98%80", "..%2fx", "%E2%80%8F"],
    ...["caf%C3%A9", "a".repeat(65), "a".repeat(300), "x".repeat(6_000), "-a", "%27%20or%201"],
  ])("is refused as invalid wherever it stands: %s", async (sku) => {
    const { app } = await serverOverNothing();
    for (const part of ["", "/entries"]) {
      const answer = await app.inject(`/v1/stock/${sku}${part}`);
      expect(answer.json()).toMatchObject({
        status: 400,
        errors: [{ in: "path", pointer: "/sku" }],
      });
    }
    const payload = { ...common, quantity: 1 };
    const answer = await app.inject({ ...act, url: `/v1/stock/${sku}/restock`, payload });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ in: "path", pointer: "/sku" }] });
  });

  it("keeps its case and every character", async () => {
    const seen: string[] = [];
    const { app } = await serverOver({
      oversight: {
        level: async (sku) => {
          seen.push(sku);
          return null;
        },
      },
    });
    for (const sku of ["abc", "ABC", "a.b_c~d-e", "a".repeat(64)])
      await app.inject(`/v1/stock/${sku}`);
    expect(seen).toEqual(["abc", "ABC", "a.b_c~d-e", "a".repeat(64)]);
  });
});

describe("a level", () => {
  it("shows both stores and has its version as ETag", async () => {
    const { app } = await serverOver({ oversight: { level: async () => someLevel() } });
    const answer = await app.inject("/v1/stock/sku-1");
    expect(answer.headers["etag"]).toBe('"7"');
    expect(answer.json()).toEqual({
      sku: "sku-1",
      status: "normal",
      statusReason: null,
      saleId: "sale-1",
      version: 7,
      hash: "f".repeat(64),
      total: 10,
      available: 8,
      reserved: 2,
      sold: 0,
      frozen: 0,
      lost: 0,
      hot: { version: 7, available: 8, inFlight: 0 },
      drift: 0,
      behind: 0,
      oldestTicketSeconds: 0,
    });
  });

  it.each<[string, Partial<LevelView>]>([
    ["closed", { hot: null }],
    ["below zero for a while", { hot: { version: 6, available: -3, inFlight: 3 } }],
  ])("shows hot stock that is %s", async (_name, more) => {
    const { app } = await serverOver({ oversight: { level: async () => someLevel("s", more) } });
    expect((await app.inject("/v1/stock/sku-1")).json().hot).toEqual(more.hot);
  });

  it("is read as of a version or a time, and 404 where there was none", async () => {
    const asked: unknown[] = [];
    const { app } = await serverOver({
      oversight: {
        levelAsOf: async (_sku, asOf) => {
          asked.push(asOf);
          return "version" in asOf && asOf.version === 99 ? null : someLevel("s", { hot: null });
        },
      },
    });
    await app.inject("/v1/stock/sku-1?asOfVersion=0");
    await app.inject("/v1/stock/sku-1?asOf=2026-11-11T00:00:00Z");
    expect((await app.inject("/v1/stock/sku-1?asOfVersion=99")).statusCode).toBe(404);
    expect(asked).toEqual([{ version: 0 }, { at: someTime }, { version: 99 }]);
  });

  it.each([
    "asOfVersion=-1",
    "asOfVersion=1.5",
    "asOfVersion=x",
    "asOf=yesterday",
    "asOf=2026-11-11T00:00:00Z&asOfVersion=1",
  ])("is refused for %s", async (query) => {
    const { app } = await serverOverNothing();
    expect((await app.inject(`/v1/stock/sku-1?${query}`)).statusCode).toBe(400);
  });

  it("is listed page by page in order of SKU", async () => {
    const { app } = await serverOver({
      oversight: {
        levels: async ({ after, limit }) =>
          ["a", "b", "c"]
            .filter((sku) => after === null || sku > after)
            .slice(0, limit)
            .map((sku) => someLevel(sku)),
      },
    });
    const first = (await app.inject("/v1/stock?limit=2")).json();
    const second = (await app.inject(first.next)).json();
    const skus = [first, second].map(({ items }) => items.map(({ sku }: LevelView) => sku));
    expect(skus).toEqual([["a", "b"], ["c"]]);
    expect(second.next).toBeNull();
  });
});

async function withEntries(count: number) {
  const asked: EntryQuery[] = [];
  const { app } = await serverOver({
    oversight: {
      level: async (sku) => (sku === "sku-1" ? someLevel() : null),
      entries: async (sku, query) => {
        asked.push(query);
        const length = Math.max(0, Math.min(query.limit, count - query.after));
        return sku === "sku-1"
          ? Array.from({ length }, (_, n) => someEntry(query.after + n + 1, { reason: "=cmd()" }))
          : [];
      },
    },
  });
  return { app, asked };
}

describe("a look at hot stock", () => {
  it("is a command for each SKU that there is, and none of hot stock in memory", async () => {
    const oversight = { level: async (sku: string) => (sku === "sku-1" ? someLevel() : null) };
    const { app } = await serverOver({ oversight });
    expect((await app.inject("/v1/stock/sku-1/look")).json()).toEqual({ lines: [] });
    expect((await app.inject("/v1/stock/sku-2/look")).statusCode).toBe(404);
    const stores: StoreUrls = {
      ledger: { kind: "sqlite", file: "a.db" },
      hot: { kind: "redis", url: "redis://cache.shop" },
      bus: { kind: "memory" },
      lanes: { prefix: "shop", count: 1 },
    };
    const own = await serverOfItsOwn({ oversight }, { stores });
    const { lines }: { lines: string[] } = (await own.app.inject("/v1/stock/sku-1/look")).json();
    expect(lines[0]).toMatch(/^redis-cli -h cache\.shop -p 6379 hgetall 'shop:.*:stock:sku-1'$/);
  });
});

describe("entries", () => {
  const path = "/v1/stock/sku-1/entries";

  it("are a page with a link to the next, of a period if asked", async () => {
    const { app, asked } = await withEntries(3);
    const first = (await app.inject(`${path}?limit=2&from=2026-11-11T00:00:00Z`)).json();
    expect(first.items[0]).toMatchObject({
      version: 1,
      operation: "restock",
      operationId: "op-1",
      quantity: 1,
      from: "supply",
      to: "available",
      after: { available: 1, reserved: 0, sold: 0, frozen: 0, lost: 0 },
      reason: "=cmd()",
      at: "2026-11-11T00:00:00.001Z",
      publication: "pending",
    });
    const second = (await app.inject(first.next)).json();
    expect(second).toMatchObject({ items: [{ version: 3 }], next: null });
    expect(asked[1]).toEqual({ after: 2, from: someTime, to: null, limit: 3 });
  });

  it("begin at any version, and go on from there by the link", async () => {
    const { app, asked } = await withEntries(1_000);
    const first = (await app.inject(`${path}?afterVersion=700&limit=2`)).json();
    expect(first.items).toMatchObject([{ version: 701 }, { version: 702 }]);
    const second = (await app.inject(first.next)).json();
    expect(second.items).toMatchObject([{ version: 703 }, { version: 704 }]);
    expect(asked.map(({ after }) => after)).toEqual([700, 702]);
  });

  it("of a SKU that is not there are 404, of one without entries none", async () => {
    const { app } = await withEntries(0);
    expect((await app.inject("/v1/stock/sku-2/entries")).statusCode).toBe(404);
    expect((await app.inject(path)).json()).toEqual({ items: [], next: null });
  });

  it("stream as CSV that no spreadsheet runs", async () => {
    const { app } = await withEntries(2);
    const answer = await app.inject(`${path}?format=csv&bom=true`);
    expect(answer.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="sku-1.csv"',
      "x-content-type-options": "nosniff",
    });
    const [header, ...rows] = answer.payload.trimEnd().split("\r\n");
    expect(header).toMatch(/^\ufeffsku,version,/);
    expect(rows).toHaveLength(2);
    expect(rows.every((row) => row.includes(",'=cmd(),"))).toBe(true);
  });

  it("stream as lines of JSON, all of them", async () => {
    const { app } = await withEntries(1_203);
    const answer = await app.inject(`${path}?format=ndjson`);
    expect(answer.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    const lines = answer.payload.trimEnd().split("\n");
    expect(lines).toHaveLength(1_203);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ version: 1_203 });
  });

  it.each(["format=xml", "format=", "bom=yes", "from=1", "to=x", "cursor=%00", "afterVersion=-1"])(
    "are refused for %s",
    async (query) => {
      const { app } = await serverOverNothing();
      expect((await app.inject(`${path}?${query}`)).statusCode).toBe(400);
    },
  );
});
