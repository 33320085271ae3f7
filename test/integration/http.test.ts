import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../src/clock.ts";
import { prometheusMetrics } from "../../src/http/metrics.ts";
import { buildServer } from "../../src/http/server.ts";
import { type Holdfast, openHoldfast } from "../../src/wire.ts";

/** The whole purchase, over real HTTP and the real embedded engine. */
let holdfast: Holdfast;
let base: string;
let close: () => Promise<void>;
const failures: unknown[] = [];

beforeAll(async () => {
  const metrics = prometheusMetrics({ clock: systemClock, version: "1", processMetrics: false });
  holdfast = await openHoldfast({ ledgerUrl: "sqlite::memory:", events: metrics });
  metrics.observe(holdfast.engine.oversight);
  await holdfast.start();
  const app = await buildServer({
    engine: holdfast.engine,
    clock: systemClock,
    random: systemRandom,
    metrics,
    apiKeys: new Map(),
    phase: () => "ready",
    version: "1",
    log: (error) => failures.push(error),
  });
  base = await app.listen({ port: 0, host: "127.0.0.1" });
  close = () => app.close();
});

afterAll(async () => {
  await close();
  await holdfast[Symbol.asyncDispose]();
  expect(failures).toEqual([]);
});

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** Whatever the server says. */
  readonly body: ReturnType<JSON["parse"]>;
};

async function ask(method: string, path: string, body?: unknown, more = {}): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...more },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

const post = (path: string, body?: unknown, more = {}) => ask("POST", path, body, more);
const get = (path: string) => ask("GET", path);

async function openSale(saleId: string, stock: number, limitPerBuyer?: number): Promise<string> {
  const sku = `${saleId}-sku`;
  const limit = limitPerBuyer === undefined ? {} : { limitPerBuyer };
  const sale = { saleId, holdSeconds: 600, items: [{ sku, stock }], ...limit };
  expect((await post("/v1/sales", sale)).status).toBe(201);
  expect((await post(`/v1/sales/${saleId}/open`)).body).toMatchObject({ state: "open" });
  return sku;
}

it("sells each unit once to a batch that wants more, and answers the batch again", async () => {
  const sku = await openSale("batch", 100);
  const batch = {
    saleId: "batch",
    items: Array.from({ length: 300 }, (_, n) => ({
      idempotencyKey: `batch-${n}`,
      buyerId: `buyer-${n}`,
      items: [{ sku, quantity: 1 }],
    })),
  };
  const first = await post("/v1/reservations:batch", batch, { prefer: "wait=30" });
  const again = await post("/v1/reservations:batch", batch, { prefer: "wait=30" });
  type Item = { readonly status: number; readonly replayed: boolean };
  const statuses = ({ body }: Answer) => body.items.map(({ status }: Item) => status).sort();
  const expected = [...Array(100).fill(201), ...Array(200).fill(409)];
  expect(statuses(first)).toEqual(expected);
  expect(statuses(again)).toEqual(expected);
  expect(again.body.items.filter(({ replayed }: Item) => replayed)).toHaveLength(100);
  expect((await get(`/v1/stock/${sku}`)).body).toMatchObject({ reserved: 100, available: 0 });
});

let keys = 0;

function buy(saleId: string, buyerId: string, quantity: number, key = `key-${keys++}`) {
  const cart = { saleId, buyerId, items: [{ sku: `${saleId}-sku`, quantity }] };
  return post("/v1/reservations", cart, { "idempotency-key": `"${key}"` });
}

async function levelAtRest(sku: string) {
  expect(await holdfast.drain(10_000)).toBe(true);
  return (await get(`/v1/stock/${sku}`)).body;
}

describe("a purchase", () => {
  it("goes from the sale to the proven ledger, and every repeat changes nothing", async () => {
    const sku = await openSale("whole", 10, 4);
    const reserved = await buy("whole", "ann", 2, "ann-1");
    expect(reserved.status).toBe(201);
    expect(reserved.body).toMatchObject({ state: "reserved", buyerId: "ann", saleId: "whole" });
    const path = reserved.headers.get("location") ?? "";
    expect(path).toBe(reserved.body.links.self);

    const again = await buy("whole", "ann", 2, "ann-1");
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    expect(again.body).toEqual(reserved.body);
    const reused = await buy("whole", "ann", 1, "ann-1");
    expect(reused.body).toMatchObject({ status: 422, code: "KEY_REUSED" });
    const over = await buy("whole", "ann", 3);
    expect(over.body).toMatchObject({ status: 409, code: "LIMIT_EXCEEDED" });
    const other = await buy("whole", "bob", 2, "ann-1");
    expect(other.body.reservationId).not.toBe(reserved.body.reservationId);

    const paid = await post(`${path}/confirm`, { paymentId: "pay-1" });
    expect(paid.body).toMatchObject({ state: "confirmed", paymentId: "pay-1" });
    expect((await post(`${path}/confirm`, { paymentId: "pay-1" })).body).toEqual(paid.body);
    const twice = await post(`${path}/confirm`, { paymentId: "pay-2" });
    expect(twice.body).toMatchObject({ status: 409, code: "ALREADY_PAID" });
    expect((await get(path)).body.refundDue).toMatchObject([{ paymentId: "pay-2" }]);
    expect((await post(`${path}/cancel`)).body).toMatchObject({ code: "WRONG_STATE" });

    const part = { refundId: "r-1", restock: true, items: [{ sku, quantity: 1 }], reason: "torn" };
    expect((await post(`${path}/refund`, part)).body).toMatchObject({ state: "confirmed" });
    expect((await post(`${path}/refund`, part)).body.refunds).toHaveLength(1);
    const rest = await post(`${path}/refund`, { refundId: "r-2", restock: false });
    expect(rest.body).toMatchObject({ state: "refunded", refunds: [{}, {}] });
    const back = await post(`${path}/refund`, { refundId: "r-3", paymentId: "pay-2" });
    expect(back.body.refundDue).toEqual([]);
    expect((await post(`${other.body.links.self}/cancel`)).body.state).toBe("cancelled");

    const buckets = { total: 10, available: 9, reserved: 0, sold: 0, lost: 1, frozen: 0 };
    const level = await levelAtRest(sku);
    expect(level).toMatchObject({ ...buckets, drift: 0, behind: 0, hot: { available: 9 } });
    await expectProven(sku, level);
  });

  async function expectProven(sku: string, level: { version: number; hash: string }) {
    const { body } = await get(`/v1/stock/${sku}/entries`);
    expect(body.items.map(({ operation }: { operation: string }) => operation)).toEqual([
      ...["restock", "reserve", "reserve", "confirm", "refund", "refund_lost", "cancel"],
    ]);
    const hashes = body.items.map(({ hash }: { hash: string }) => hash);
    const previous = body.items.map(({ previousHash }: { previousHash: string }) => previousHash);
    expect(previous.slice(1)).toEqual(hashes.slice(0, -1));
    expect(hashes.at(-1)).toBe(level.hash);
    const asOf = await get(`/v1/stock/${sku}?asOfVersion=3`);
    expect(asOf.body).toMatchObject({ version: 3, available: 6, reserved: 4, hot: null });
    const verdict = await post("/v1/audit/verify", { sku });
    expect(verdict.body).toMatchObject({ ok: true, entries: 7, firstBroken: null });
    const csv = await fetch(`${base}/v1/stock/${sku}/entries?format=csv`);
    expect((await csv.text()).trimEnd().split("\r\n")).toHaveLength(8);
  }

  it("tells its timeline and its events", async () => {
    await openSale("told", 1);
    const { body } = await buy("told", "ann", 1);
    const events = await fetch(`${base}${body.links.events}`);
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readUntil = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { value, done } = (await reader?.read()) ?? { done: true, value: "" };
        if (done) throw new Error(`the stream ended without ${part}`);
        text += value;
      }
    };
    await readUntil('"state":"reserved"');
    await post(`${body.links.self}/cancel`);
    await readUntil("event: end");
    expect(text).toContain('"state":"cancelled"');
    expect((await reader?.read())?.done).toBe(true);
    const { items } = (await get(body.links.timeline)).body;
    expect(items.map(({ store }: { store: string }) => store)).toContain("ledger");
  });

  it("is refused without a trace when it cannot be had", async () => {
    const sku = await openSale("few", 1);
    expect((await buy("few", "ann", 1)).status).toBe(201);
    const refusals = await Promise.all([
      buy("few", "bob", 1),
      buy("nosale", "bob", 1),
      post(
        "/v1/reservations",
        { saleId: "few", buyerId: "bob", items: [{ sku: "other", quantity: 1 }] },
        { "idempotency-key": "x1" },
      ),
    ]);
    expect(refusals.map(({ body }) => body.code)).toEqual([
      ...["SOLD_OUT", "SALE_NOT_FOUND", "SKU_NOT_FOUND"],
    ]);
    expect((await post("/v1/sales/few/pause")).body.state).toBe("paused");
    expect((await buy("few", "cal", 1)).body.code).toBe("SALE_PAUSED");
    expect((await post("/v1/sales/few/close")).body.state).toBe("closed");
    expect((await buy("few", "cal", 1)).body.code).toBe("SALE_ENDED");
    expect(await levelAtRest(sku)).toMatchObject({ available: 0, reserved: 1, version: 2 });
  });

  it("of a crowd sells every unit once", async () => {
    const sku = await openSale("rush", 50);
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, n) => buy("rush", `buyer-${n}`, 1)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 409)).toHaveLength(350);
    expect(await levelAtRest(sku)).toMatchObject({ available: 0, reserved: 50, drift: 0 });
    const report = (await get("/v1/reconciliation")).body;
    expect(report).toMatchObject({ drift: 0, behind: 0, inFlight: 0, repairs: 0, closed: 0 });
  });
});

describe("stock", () => {
  it("moves by operations that are each done once, and on the version that was seen", async () => {
    const sku = await openSale("moves", 10);
    const path = `/v1/stock/${sku}`;
    const move = (verb: string, operationId: string, quantity: number) =>
      post(`${path}/${verb}`, { operationId, quantity, reason: "test" });
    expect((await move("restock", "o1", 5)).body.level).toMatchObject({ total: 15 });
    const again = await move("restock", "o1", 5);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await move("restock", "o1", 6)).body.code).toBe("KEY_REUSED");
    expect((await move("freeze", "o2", 4)).body.level).toMatchObject({ frozen: 4 });
    expect((await move("withdraw", "o3", 12)).body).toMatchObject({ code: "NOT_ENOUGH" });
    const count = { operationId: "o4", found: 3, reason: "counted" };
    expect((await post(`${path}/count`, count)).body.level).toMatchObject({ frozen: 0, lost: 1 });
    const { version } = await levelAtRest(sku);
    const total = { operationId: "o5", total: 20, reason: "inventory" };
    const old = await post(`${path}/adjust`, total, { "if-match": `"${version - 1}"` });
    expect(old.body).toMatchObject({ status: 412, level: { version, total: 15 } });
    const now = await post(`${path}/adjust`, total, { "if-match": `"${version}"` });
    expect(now.body.level).toMatchObject({ total: 20, available: 19, lost: 1 });
    const less = { operationId: "o6", delta: -9, reason: "inventory" };
    expect((await post(`${path}/adjust`, less)).body.level).toMatchObject({ total: 11 });
    const { body } = await get(`/v1/audit-log?subject=sku:${sku}&limit=1`);
    expect(body.items).toHaveLength(1);
  });

  it("that is stopped sells nothing until it is resumed", async () => {
    const sku = await openSale("stopped", 1);
    const act = (verb: string, operationId: string) =>
      post(`/v1/stock/${sku}/${verb}`, { operationId, reason: "test" });
    expect((await act("stop", "o1")).body).toMatchObject({ status: "stopped" });
    expect((await buy("stopped", "ann", 1)).body.code).toBe("SALE_PAUSED");
    expect((await act("resume", "o2")).body).toMatchObject({ status: "normal" });
    expect((await buy("stopped", "ann", 1)).status).toBe(201);
  });

  it("is looked at in lists, by search, by the doctor and by Prometheus", async () => {
    await openSale("listed", 3);
    const sales = (await get("/v1/sales?limit=200")).body.items;
    expect(sales.map(({ saleId }: { saleId: string }) => saleId)).toContain("listed");
    const found = (await get("/v1/search?q=listed-sku")).body;
    expect(found.hits[0]).toMatchObject({ type: "sku", link: "/v1/stock/listed-sku" });
    expect((await get("/v1/doctor")).body).toMatchObject({ ok: true });
    expect((await get("/readyz")).body).toEqual({ status: "ok" });
    const metrics = await (await fetch(`${base}/metrics`)).text();
    expect(metrics).toMatch(/holdfast_decisions_total\{result="reserved",code=""\} \d+\n/);
    expect((await get("/v1/dead-letters")).body).toEqual({ items: [], next: null });
    const repair = await post("/v1/reconciliation/repair", { dryRun: true });
    expect(repair.body).toEqual({ dryRun: true, actions: [] });
  });
});
