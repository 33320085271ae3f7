import { describe, expect, it } from "vitest";
import { someReservation } from "../../test/support/fake-engine.ts";
import { serverOfItsOwn, serverOver, serverOverNothing } from "../../test/support/http-server.ts";
import { Fault } from "../domain/fault.ts";
import { InvariantError } from "../domain/invariant.ts";
import { accepted } from "../domain/outcome.ts";
import { bodyBytesMax } from "./schema.ts";

const reserved = { reserve: async () => accepted(someReservation("reserved")) };
const cart = { saleId: "sale-1", buyerId: "ann", items: [{ sku: "sku-1", quantity: 2 }] };
const json = { "content-type": "application/json", "idempotency-key": "k1" };
const post = { method: "POST", url: "/v1/reservations", headers: json } as const;

describe("who may ask", () => {
  it("is whoever has an API key, and its name is the actor", async () => {
    const actors: string[] = [];
    const { app } = await serverOfItsOwn(
      {
        settlement: {
          cancel: async (_id, { actor }) => {
            actors.push(actor);
            return accepted(someReservation("cancelled"));
          },
        },
      },
      { apiKeys: new Map([["ops", "hunter2"]]) },
    );
    const url = "/v1/reservations/0.abc.def/cancel";
    const refused = await app.inject({ method: "POST", url });
    const headers = { authorization: "Bearer hunter2" };
    const served = await app.inject({ method: "POST", url, headers });
    expect(refused.statusCode).toBe(401);
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
    expect(served.statusCode).toBe(200);
    expect(actors).toEqual(["ops"]);
  });

  it.each(["/metrics", "/v1/stock", "/nowhere", "/v1/sales/x/events"])(
    "without a key is told nothing of %s when there are keys",
    async (url) => {
      const { app } = await serverOfItsOwn({}, { apiKeys: new Map([["ops", "hunter2"]]) });
      expect((await app.inject({ url })).statusCode).toBe(401);
    },
  );

  it.each(["/livez", "/startupz", "/openapi.json", "/docs/", "/docs/problems"])(
    "does not matter for %s",
    async (url) => {
      const { app } = await serverOfItsOwn({}, { apiKeys: new Map([["ops", "hunter2"]]) });
      expect((await app.inject({ url })).statusCode).toBe(200);
    },
  );

  it("without any key is only this machine, by a name of this machine", async () => {
    const { app } = await serverOver({ buyers: reserved });
    const call = { ...post, payload: cart };
    expect((await app.inject(call)).statusCode).toBe(201);
    const far = await app.inject({ ...call, remoteAddress: "10.0.0.1" });
    expect(far.json()).toMatchObject({ status: 403, code: "FORBIDDEN" });
    const rebound = await app.inject({ ...call, headers: { ...json, host: "evil.example" } });
    expect(rebound.statusCode).toBe(403);
  });
});

describe("every answer", () => {
  it("has the security headers and a request id, refusals too", async () => {
    const { app } = await serverOverNothing();
    for (const url of ["/livez", "/nowhere"]) {
      const { headers } = await app.inject({ url });
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cache-control": "no-store",
        "x-request-id": expect.stringMatching(/^[0-9a-z-]+$/),
      });
    }
  });

  it("carries the client's request id only if it is a plain one", async () => {
    const { app } = await serverOverNothing();
    const of = async (id: string) =>
      (await app.inject({ url: "/livez", headers: { "x-request-id": id } })).headers[
        "x-request-id"
      ];
    expect(await of("trace-1")).toBe("trace-1");
    expect(await of('a"\u001b[31m')).toMatch(/^070707070707-/);
    expect(await of("x".repeat(300))).toMatch(/^070707070707-/);
  });

  it("names the request id as the instance of a problem", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ url: "/nowhere", headers: { "x-request-id": "trace-1" } });
    expect(answer.json()).toMatchObject({ code: "NOT_FOUND", instance: "trace-1" });
    expect(answer.headers["content-type"]).toContain("application/problem+json");
  });

  it("is in the caller's language", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ url: "/nowhere", headers: { "accept-language": "zh-CN" } });
    expect(answer.headers["content-language"]).toBe("zh-CN");
    expect(answer.json().title).toBe("此处没有内容");
  });
});

describe("a failure", () => {
  it("that nobody expected is noted here and told nowhere", async () => {
    const secret = "password=hunter2 at /srv/holdfast/engine.ts:12";
    const reserve = async () => {
      throw new InvariantError(secret);
    };
    const { app, failures } = await serverOver({ buyers: { reserve } });
    const answer = await app.inject({ ...post, payload: cart });
    expect(answer.json()).toMatchObject({ status: 500, code: "INTERNAL", retryable: false });
    expect(answer.payload).not.toMatch(/hunter2|srv|\bat /);
    expect(failures).toEqual([expect.objectContaining({ message: secret })]);
  });

  it("of a store is 503 with Retry-After, to be asked again", async () => {
    const reserve = async () => {
      throw new Fault("LEDGER_UNKNOWN", "mysql://root:hunter2@db timed out");
    };
    const { app, failures } = await serverOver({ buyers: { reserve } });
    const answer = await app.inject({ ...post, payload: cart });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers["retry-after"]).toBe("1");
    expect(answer.json()).toMatchObject({ code: "BUSY", retryable: true, fault: "LEDGER_UNKNOWN" });
    expect(answer.payload).not.toContain("hunter2");
    expect(failures).toEqual([]);
  });
});

describe("a path or a method", () => {
  it.each([
    ["DELETE", "/v1/sales", "GET, HEAD, POST"],
    ["GET", "/v1/dead-letters:replay", "POST"],
    ["OPTIONS", "/v1/reservations", "POST"],
    ["PUT", "/v1/stock/sku-1", "GET, HEAD"],
    ["HEAD", "/v1/sales/sale-1/events", "GET"],
  ] as const)("%s %s is 405 and says what is allowed", async (method, url, allow) => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ method, url });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers["allow"]).toBe(allow);
  });

  it.each(["/", "/v1", "/v1/nothing", "/V1/sales", "/docs/..%2f..%2fpackage.json"])(
    "that does not exist is 404: %s",
    async (url) => {
      const { app } = await serverOverNothing();
      expect((await app.inject({ url })).statusCode).toBe(404);
    },
  );

  it.each(["/v1/stock/%", "/v1/stock/%ff", "/v1/stock/%E0%A4%A"])(
    "that cannot be decoded is 400: %s",
    async (url) => {
      const { app } = await serverOverNothing();
      expect((await app.inject({ url })).json()).toMatchObject({ code: "INVALID" });
    },
  );

  it("answers HEAD like GET, without the body", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ method: "HEAD", url: "/livez" });
    expect([answer.statusCode, answer.payload]).toEqual([200, ""]);
  });
});

describe("a body", () => {
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/problem+json",
    "text/json",
    "application",
    "application/json, text/plain",
  ])("of type %s is 415", async (type) => {
    const { app } = await serverOverNothing();
    const headers = { ...json, "content-type": type };
    const answer = await app.inject({ ...post, headers, payload: JSON.stringify(cart) });
    expect(answer.json()).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("without a type, or compressed, is 415", async () => {
    const { app } = await serverOverNothing();
    const untyped = { ...post, headers: { "idempotency-key": "k1" }, payload: "{}" };
    expect((await app.inject(untyped)).statusCode).toBe(415);
    const headers = { ...json, "content-encoding": "gzip" };
    expect((await app.inject({ ...post, headers, payload: "{}" })).statusCode).toBe(415);
  });

  it("may name its charset", async () => {
    const { app } = await serverOver({ buyers: reserved });
    const headers = { ...json, "content-type": "application/json; charset=utf-8" };
    const answer = await app.inject({ ...post, headers, payload: JSON.stringify(cart) });
    expect(answer.statusCode).toBe(201);
  });

  it("of 128 KB is read, and one byte more is 413", async () => {
    const { app } = await serverOver({ buyers: reserved });
    const text = JSON.stringify(cart);
    const full = text + " ".repeat(bodyBytesMax - text.length);
    expect((await app.inject({ ...post, payload: full })).statusCode).toBe(201);
    const over = await app.inject({ ...post, payload: `${full} ` });
    expect(over.json()).toMatchObject({ status: 413, code: "TOO_LARGE" });
  });

  it("that is missing is refused where fields are needed", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject(post);
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ in: "body", pointer: "" }] });
  });

  it("with a key twice or a key that reaches for a prototype is refused", async () => {
    const { app } = await serverOverNothing();
    for (const [payload, pointer] of [
      ['{"saleId":"a","saleId":"b"}', "/saleId"],
      ['{"items":[{"__proto__":{"x":1}}]}', "/items/0/__proto__"],
      ['{"constructor":{"prototype":{"x":1}}}', "/constructor"],
    ] as const) {
      const answer = await app.inject({ ...post, payload });
      expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer }] });
    }
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
