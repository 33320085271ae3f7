import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterAll, describe, expect, it } from "vitest";
import { accepted } from "../../src/domain/outcome.ts";
import type { HttpLimits } from "../../src/http/limits.ts";
import { type EngineScript, someLevel, someReservation, someSale } from "../support/fake-engine.ts";
import { serverOfItsOwn, serverOverNothing, type TestServer } from "../support/http-server.ts";
import { deafConnection, rawRequest } from "../support/raw-http.ts";

/** What only bytes on a socket can ask: the parser, the time-outs, a reader that does not read. */
async function listening(
  script: EngineScript,
  limits: Partial<HttpLimits> = {},
): Promise<TestServer & { port: number }> {
  const server = await serverOfItsOwn(script, { limits });
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  return { ...server, port: portOf(server.app) };
}

let shared: Promise<{ port: number; server: TestServer }> | null = null;

/** One server for all that must never reach the engine. */
function listeningToNothing(): Promise<{ port: number; server: TestServer }> {
  shared ??= serverOverNothing().then(async (server) => {
    await server.app.listen({ port: 0, host: "127.0.0.1" });
    return { port: portOf(server.app), server };
  });
  return shared;
}

afterAll(async () => {
  await (await shared)?.server.app.close();
});

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}

const cart = '{"saleId":"sale-1","buyerId":"ann","items":[{"sku":"sku-1","quantity":1}]}';
const length = `Content-Length: ${cart.length}`;

function reserve(...headers: string[]): string {
  return ["POST /v1/reservations HTTP/1.1", "Host: localhost", ...headers, "", ""].join("\r\n");
}

const common = ["Content-Type: application/json", "Idempotency-Key: k1"];
const smuggled = "GET /v1/stock HTTP/1.1\r\nHost: localhost\r\n\r\n";

const chunked = reserve(...common, "Transfer-Encoding: chunked");

const corpus: Readonly<Record<string, string>> = {
  "a length beside chunks": reserve(...common, length, "Transfer-Encoding: chunked") + cart,
  "chunks beside a length": reserve(...common, "Transfer-Encoding: chunked", length) + smuggled,
  "two lengths": reserve(...common, length, "Content-Length: 5") + cart,
  "a list of lengths": reserve(...common, `${length}, 5`) + cart,
  "an unknown coding": reserve(...common, "Transfer-Encoding: xchunked") + cart,
  "a coding twice": reserve(...common, "Transfer-Encoding: chunked, identity") + cart,
  "a space before the colon": reserve(...common, `Content-Length : ${cart.length}`) + cart,
  "a length with a sign": reserve(...common, `Content-Length: +${cart.length}`) + cart,
  "a length that is negative": reserve(...common, "Content-Length: -1") + cart,
  "a length in hexadecimal": reserve(...common, "Content-Length: 0x4e") + cart,
  "bare line feeds": reserve(...common, length).replaceAll("\r\n", "\n") + cart,
  "a folded header": reserve(...common, "X-A: b\r\n c", length) + cart,
  "a NUL in a header": reserve(...common, "X-A: b\0c", length) + cart,
  "a bad chunk size": `${chunked}zz\r\n${cart}\r\n0\r\n\r\n`,
  "no Host": reserve(...common, length).replace("Host: localhost\r\n", "") + cart,
  "no HTTP at all": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
  "an unknown method": reserve(...common, length).replace("POST", "FOO") + cart,
};

describe("a request that two parsers could read in two ways", () => {
  it.each(Object.entries(corpus))("is refused and the connection closed: %s", async (_n, bytes) => {
    const { port, server } = await listeningToNothing();
    const answer = await rawRequest(port, [bytes]);
    expect(answer.status).toBe(400);
    expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(server.failures).toEqual([]);
  });

  it("is told apart from a plain one, which is served", async () => {
    const { port } = await listening({
      buyers: { reserve: async () => accepted(someReservation("reserved")) },
    });
    const chunk = `${cart.length.toString(16)}\r\n${cart}\r\n0\r\n\r\n`;
    for (const bytes of [
      reserve(...common, length, "Connection: close") + cart,
      reserve(...common, "Transfer-Encoding: chunked", "Connection: close") + chunk,
    ]) {
      expect((await rawRequest(port, [bytes])).status).toBe(201);
    }
  });

  it("is answered with a problem that says nothing of us", async () => {
    const { port } = await listeningToNothing();
    const { text } = await rawRequest(port, ["GET / HTTP/9.9\r\n\r\n"]);
    expect(text).toContain("content-type: application/problem+json\r\n");
    expect(text).toContain("x-content-type-options: nosniff\r\n");
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "INVALID" });
  });
});

describe("headers and a URL", () => {
  it.each([
    ["a header of 9 KB", reserve(`X-A: ${"a".repeat(9_216)}`)],
    ["many headers", reserve(...Array.from({ length: 900 }, (_, n) => `X-${n}: aaaaaaaa`))],
    ["a URL of 9 KB", `GET /v1/stock/${"a".repeat(9_216)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ])("are bounded: %s is 431", async (_name, bytes) => {
    const { port } = await listeningToNothing();
    const answer = await rawRequest(port, [bytes]);
    expect(answer.status).toBe(431);
    expect(answer.text).toContain('"code":"HEADERS_TOO_LARGE"');
  });
});

describe("a client that is slow on purpose", () => {
  const limits = { headersTimeoutMs: 150, requestTimeoutMs: 250, timeoutCheckMs: 25 };
  const onlyHeaders = { ...limits, requestTimeoutMs: 50_000 };

  it.each([
    ["sends nothing", "", onlyHeaders],
    ["never ends its headers", "POST / HTTP/1.1\r\nHost: localhost\r\nX-A: b", onlyHeaders],
    ["never ends its body", `${reserve(...common, length)}{"saleId"`, limits],
  ])("is cut off when it %s", async (_name, bytes, only) => {
    const { port } = await listening({}, only);
    const answer = await rawRequest(port, bytes === "" ? [] : [bytes]);
    expect(answer.status).toBe(408);
    expect(answer.text).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it("does not keep an honest one waiting", async () => {
    const { port } = await listening({}, limits);
    const slow = Array.from({ length: 200 }, () => rawRequest(port, ["GET /livez HTTP/1.1\r\n"]));
    const honest = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    expect((await rawRequest(port, [honest])).status).toBe(200);
    const statuses = (await Promise.all(slow)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([408]));
  });

  it("is not let in when there are too many connections already", async () => {
    const { port, app } = await listening({}, { connectionsMax: 2 });
    const open = [1, 2].map(() => deafConnection(port, "GET /livez HTTP/1.1\r\n"));
    const connections = (): Promise<number> =>
      new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections).toBe(2);
    const request = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    expect((await rawRequest(port, [request])).status).toBeNull();
    for (const socket of open) socket.destroy();
    await expect.poll(connections).toBe(0);
    expect((await rawRequest(port, [request])).status).toBe(200);
  });
});

describe("an open event stream", () => {
  const subscribe = "GET /v1/sales/sale-1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";

  // A frame of the second kind is larger than the bound: the next heartbeat cuts.
  it.each([300, 1_000])("of %i SKUs is cut when its reader does not read", async (length) => {
    const levels = Array.from({ length }, (_, n) => someLevel(`sku-${n}`));
    let looks = 0;
    const { port, clock } = await listening({
      merchandising: {
        sale: async () => {
          looks++;
          return { ...someSale(), levels: levels.map((level) => ({ ...level, version: looks })) };
        },
      },
      oversight: { lanes: async () => [] },
    });
    const socket = deafConnection(port, subscribe);
    let isCut = false;
    socket.on("close", () => {
      isCut = true;
    });
    await expect.poll(() => looks).toBeGreaterThan(0);
    let before = -1;
    // Until nobody asks for frames any more: what the kernel takes on loopback is not ours.
    await expect
      .poll(
        () => {
          const stood = before === looks;
          before = looks;
          clock.advance(1_000);
          return stood;
        },
        { timeout: 20_000, interval: 30 },
      )
      .toBe(true);
    // It is given half a minute, in which it costs no more than the frame that it has not read.
    const told = looks;
    for (let second = 0; second < 31; second++) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(looks).toBe(told);
    socket.resume();
    await expect.poll(() => isCut).toBe(true);
  });

  it("does not keep the server from closing", async () => {
    const { port, app } = await listening({
      merchandising: { sale: async () => someSale() },
      oversight: { lanes: async () => [] },
    });
    const answer = rawRequest(port, [subscribe]);
    const connections = (): Promise<number> =>
      new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections).toBe(1);
    await app.close();
    expect([200, null]).toContain((await answer).status);
  });

  it("is forgotten when its reader goes away", async () => {
    let looks = 0;
    const { port, clock } = await listening({
      merchandising: {
        sale: async () => {
          looks++;
          return someSale();
        },
      },
      oversight: { lanes: async () => [] },
    });
    const socket = deafConnection(port, subscribe);
    // To know the sale and to tell its first frame it is read once.
    await expect.poll(() => looks).toBe(1);
    socket.destroy();
    let before = -1;
    await expect
      .poll(() => {
        const stood = before === looks;
        before = looks;
        clock.advance(1_000);
        return stood;
      })
      .toBe(true);
  });
});
