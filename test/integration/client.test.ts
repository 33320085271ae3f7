import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Cart, type Client, openClient, Refusal } from "../../src/client/client.ts";
import { systemClock } from "../../src/clock.ts";
import { saleId, skuId } from "../../src/domain/values.ts";
import { silentEvents } from "../../src/events.ts";
import { type Holdfast, openHoldfast } from "../../src/wire.ts";
import { TcpProxy } from "../../stack/tcp-proxy.ts";
import { realServer } from "../support/real-server.ts";

/** A backend's client against a server as it is shipped, over real sockets. */
let holdfast: Holdfast;
let app: FastifyInstance;
let url: string;
const calls: string[] = [];
/** Called once, when the next request has come. */
let strike = (): void => {};
const failures: unknown[] = [];

beforeAll(async () => {
  holdfast = await openHoldfast({ ledgerUrl: "sqlite::memory:", events: silentEvents });
  await holdfast.start();
  const log = (error: unknown) => failures.push(error);
  app = await realServer({ engine: holdfast.engine, clock: systemClock, log });
  app.addHook("onRequest", async ({ method, url: path }) => {
    calls.push(`${method} ${path}`);
    strike();
    strike = () => {};
  });
  url = await app.listen({ port: 0, host: "127.0.0.1" });
});

afterAll(async () => {
  await app.close();
  await holdfast[Symbol.asyncDispose]();
  expect(failures).toEqual([]);
});

function clientAt(at: string, more: { readonly tries?: number } = {}): Client {
  const client = openClient({ url: at, apiKey: null, ...more });
  onTestFinished(() => client.close());
  return client;
}

async function openSale(name: string, stock: number): Promise<void> {
  const { merchandising } = holdfast.engine;
  const acting = { actor: "test" };
  const times = { opensAt: null, closesAt: null, holdSeconds: 900 };
  const items = [{ sku: skuId(`${name}-sku`), stock }];
  const sale = { saleId: saleId(name), title: name, limitPerBuyer: null, ...times, items };
  await merchandising.createSale(sale, acting);
  await merchandising.moveSale(sale.saleId, { to: "open", operationId: null }, acting);
}

function cartOf(sale: string, n: number): Cart {
  const items = [{ sku: `${sale}-sku`, quantity: 1 }];
  return { saleId: sale, buyerId: `b${n}`, idempotencyKey: `k${n}`, items };
}

describe("a backend's client", () => {
  it("sends what is asked for together in a few calls, and tells each cart its own", async () => {
    await openSale("rush", 300);
    const client = clientAt(url);
    calls.length = 0;
    const asked = Array.from({ length: 1_000 }, (_, n) => client.reserve(cartOf("rush", n)));
    const told = await Promise.all(asked);
    expect(calls.length).toBeLessThanOrEqual(4);
    const held = told.flatMap((each) => (each.ok ? [each.reservation] : []));
    expect(held).toHaveLength(300);
    expect(new Set(held.map(({ reservationId: id }) => id)).size).toBe(300);
    for (const [n, each] of told.entries()) {
      if (each.ok) expect(each.reservation).toMatchObject({ buyerId: `b${n}`, state: "reserved" });
      else expect(each.problem.code).toBe("SOLD_OUT");
    }
    const level = await holdfast.engine.oversight.level(skuId("rush-sku"));
    expect(level?.balances).toMatchObject({ available: 0, reserved: 300 });
  });

  it("is told the same when it asks for the same", async () => {
    await openSale("again", 5);
    const client = clientAt(url);
    const first = await client.reserve(cartOf("again", 1));
    const second = await client.reserve(cartOf("again", 1));
    expect(first).toMatchObject({ ok: true, replayed: false });
    expect(second).toEqual({ ...first, replayed: true });
  });

  it("pays, cancels, pays back and reads", async () => {
    await openSale("whole", 5);
    const client = clientAt(url);
    const [paid, left] = await Promise.all([
      client.reserve(cartOf("whole", 1)),
      client.reserve(cartOf("whole", 2)),
    ]);
    if (!paid.ok || !left.ok) throw new Error("not reserved");
    const { reservationId: id } = paid.reservation;
    expect(await client.confirm(id, { paymentId: "p1" })).toMatchObject({ state: "confirmed" });
    const refund = { refundId: "r1", reason: "sent back", restock: true };
    expect(await client.refund(id, refund)).toMatchObject({ state: "refunded" });
    const other = left.reservation.reservationId;
    expect(await client.cancel(other, "changed my mind")).toMatchObject({ state: "cancelled" });
    expect(await client.reservation(other)).toMatchObject({ state: "cancelled" });
    const wrong = client.confirm(other, { paymentId: "p2" });
    await expect(wrong.catch((error: unknown) => error)).resolves.toBeInstanceOf(Refusal);
  });

  it("refuses a cart alone, not its neighbours; and says why a call is no good", async () => {
    await openSale("mixed", 5);
    const client = clientAt(url);
    const stranger: Cart = { ...cartOf("mixed", 1), items: [{ sku: "nothing", quantity: 1 }] };
    const [no, yes] = await Promise.all([
      client.reserve(stranger),
      client.reserve(cartOf("mixed", 2)),
    ]);
    expect(no).toMatchObject({ ok: false, problem: { code: "SKU_NOT_FOUND" } });
    expect(yes).toMatchObject({ ok: true });
    const bad = client.reserve({ ...cartOf("mixed", 3), buyerId: "not an id!" });
    await expect(bad).rejects.toMatchObject({ name: "Refusal", problem: { code: "INVALID" } });
  });

  it("asks again when an answer is lost on its way, and has one reservation", async () => {
    await openSale("lost", 5);
    const line = await TcpProxy.before(Number(new URL(url).port));
    onTestFinished(() => line.close());
    const client = clientAt(`http://127.0.0.1:${line.port}`);
    strike = () => line.cutAll();
    calls.length = 0;
    expect(await client.reserve(cartOf("lost", 1))).toMatchObject({ ok: true, replayed: true });
    expect(calls).toHaveLength(2);
    const level = await holdfast.engine.oversight.level(skuId("lost-sku"));
    expect(level?.balances).toMatchObject({ available: 4, reserved: 1 });
  });

  it("asks again when it is told later, after pauses that grow, and not for ever", async () => {
    const busy = { type: "about:blank", code: "BUSY", status: 503, title: "t", detail: "d" };
    const body = { ...busy, instance: "i", retryable: true };
    const asked: string[] = [];
    const later = createServer((request, reply) => {
      asked.push(String(request.url));
      request.resume();
      const items = [{ idempotencyKey: "k1", status: 503, replayed: false, body }];
      reply.end(JSON.stringify({ items }));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => later.once("listening", resolve));
    onTestFinished(() => void later.close());
    const pauses: number[] = [];
    const sleep = async (ms: number) => void pauses.push(ms);
    const { port } = later.address() as AddressInfo;
    const clock = { ...systemClock, sleep };
    const client = openClient({ url: `http://127.0.0.1:${port}`, apiKey: null, tries: 3, clock });
    onTestFinished(() => client.close());
    const told = await client.reserve(cartOf("x", 1));
    expect(told).toEqual({ ok: false, problem: body, replayed: false });
    expect(asked).toEqual(Array(3).fill("/v1/reservations:batch"));
    expect(pauses).toEqual([50, 100]);
  });

  it("says that nobody is there, and that somebody else is", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => free.once("listening", resolve));
    const address = free.address() as AddressInfo;
    free.on("request", (_, reply) => reply.end('{"hello":"world"}'));
    const at = `http://127.0.0.1:${address.port}`;
    const stranger = clientAt(at).reserve(cartOf("x", 1));
    await expect(stranger).rejects.toMatchObject({ name: "NoAnswer", kind: "foreign" });
    free.closeAllConnections();
    await new Promise((resolve) => free.close(resolve));
    const nobody = clientAt(at, { tries: 2 }).reserve(cartOf("x", 1));
    await expect(nobody).rejects.toMatchObject({ name: "NoAnswer", kind: "away" });
  });
});
