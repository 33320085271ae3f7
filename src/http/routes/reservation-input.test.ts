import { describe, expect, it } from "vitest";
import { serverOverNothing } from "../../../test/support/http-server.ts";

const cart = { saleId: "sale-1", buyerId: "ann", items: [{ sku: "sku-1", quantity: 2 }] };
const headers = { "content-type": "application/json", "idempotency-key": "k1" };
const post = { method: "POST", url: "/v1/reservations", headers, payload: cart } as const;

describe("a reservation that cannot be understood", () => {
  const quantities = [
    ...["0", "-0", "-1", "-3", "1.5", "2.5", "1.0", "1e3", "1e309", "1e400", "0x10", "NaN"],
    ...["9007199254740993", "9007199254740992", "2147483648", "1000000001", "01", "+1"],
    ...['"1"', '"2.5"', '"1e3"', '"0x10"', '" 3 "', '""', "null", "true", "[]", "[1]", "{}"],
  ];

  it.each(quantities)("is refused for the quantity %s, and nothing is asked", async (token) => {
    const { app, failures } = await serverOverNothing();
    const item = `{"sku":"sku-1","quantity":${token}}`;
    const payload = `{"saleId":"sale-1","buyerId":"ann","items":[${item}]}`;
    const answer = await app.inject({ ...post, payload });
    expect(answer.json()).toMatchObject({ status: 400, code: "INVALID" });
    expect(answer.json().errors).toEqual([
      { in: "body", pointer: "/items/0/quantity", message: expect.any(String) },
    ]);
    expect(failures).toEqual([]);
  });

  it("is refused for a quantity that is missing", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...post, payload: { ...cart, items: [{ sku: "sku-1" }] } });
    const error = { in: "body", pointer: "/items/0/quantity", message: "is required" };
    expect(answer.json().errors).toEqual([error]);
  });

  it("is refused when the lines of a SKU sum to too much", async () => {
    const { app } = await serverOverNothing();
    const items = Array.from({ length: 2 }, () => ({ sku: "a", quantity: 600_000_000 }));
    const answer = await app.inject({ ...post, payload: { ...cart, items } });
    expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: "/items" }] });
  });

  const ids = [
    ...["", " ", "abc ", " abc", "a b", "café", "a:b", "a/b", "{a}", "}x", "a\r\nb", "a\0b"],
    ...["😀", "../x", "a\u200fb", "-a", ".a", "~a", "a".repeat(65), "x".repeat(10_000)],
  ];

  it.each(["saleId", "buyerId"])("is refused for a bad %s", async (name) => {
    const { app } = await serverOverNothing();
    for (const id of [...ids, 0, null, [], {}]) {
      const answer = await app.inject({ ...post, payload: { ...cart, [name]: id } });
      expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: `/${name}` }] });
    }
  });

  it("is refused for a bad SKU", async () => {
    const { app } = await serverOverNothing();
    for (const sku of ids) {
      const answer = await app.inject({
        ...post,
        payload: { ...cart, items: [{ sku, quantity: 1 }] },
      });
      expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: "/items/0/sku" }] });
    }
  });

  it("is refused for a field that is not of the call, with one line a field", async () => {
    const { app } = await serverOverNothing();
    const payload = { ...cart, items: "x", price: 1, "a/b~c": 1 };
    const answer = await app.inject({ ...post, payload });
    expect(answer.json().errors).toEqual([
      { in: "body", pointer: "/price", message: "is not a field of this request" },
      { in: "body", pointer: "/a~1b~0c", message: "is not a field of this request" },
      { in: "body", pointer: "/items", message: "expected an array" },
    ]);
  });

  it("is refused for no line and for more than a thousand", async () => {
    const { app } = await serverOverNothing();
    const line = (n: number) => ({ sku: `s${n}`, quantity: 1 });
    for (const items of [[], Array.from({ length: 1_001 }, (_, n) => line(n))]) {
      const answer = await app.inject({ ...post, payload: { ...cart, items } });
      expect(answer.json()).toMatchObject({ status: 400, errors: [{ pointer: "/items" }] });
    }
  });

  it("is refused for a query that it does not have", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...post, url: "/v1/reservations?wait=1" });
    expect(answer.json()).toMatchObject({ errors: [{ in: "query", pointer: "/wait" }] });
  });

  it("says that the key is missing only when the rest is valid", async () => {
    const { app } = await serverOverNothing();
    const keyless = { ...post, headers: { "content-type": "application/json" } };
    expect((await app.inject(keyless)).json()).toMatchObject({ status: 400, code: "KEY_MISSING" });
    const both = await app.inject({ ...keyless, payload: { ...cart, buyerId: "" } });
    expect(both.json()).toMatchObject({ code: "INVALID" });
  });

  it("says which header is bad", async () => {
    const { app } = await serverOverNothing();
    const answer = await app.inject({ ...post, headers: { ...headers, "idempotency-key": "a b" } });
    expect(answer.json()).toMatchObject({
      code: "INVALID",
      errors: [{ in: "header", pointer: "/idempotency-key" }],
    });
  });

  it("is refused in a bounded answer, however much is wrong", async () => {
    const { app } = await serverOverNothing();
    const payload = `{"saleId":"s","buyerId":"b","items":[${"1,".repeat(60_000)}1]}`;
    const answer = await app.inject({ ...post, payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors.length).toBeLessThanOrEqual(20);
  });
});
