import { describe, expect, it } from "vitest";
import { serverOfItsOwn } from "../../test/support/http-server.ts";
import { ManualClock } from "../clock.ts";
import { RateLimiter } from "./rate-limit.ts";

function passed(limiter: RateLimiter, caller: string, calls: number): number {
  const answers = Array.from({ length: calls }, () => limiter.take(caller));
  return answers.filter(({ problem }) => problem === null).length;
}

describe("a limit of calls a second", () => {
  it.each([1, 3, 7, 100])("of %i lets so many through at once, and then evenly", (perSecond) => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock, perSecond);
    expect(passed(limiter, "a", perSecond * 3)).toBe(perSecond);
    clock.advance(500);
    expect(passed(limiter, "a", perSecond * 3)).toBe(Math.floor(perSecond / 2));
    clock.advance(10_000);
    expect(passed(limiter, "a", perSecond * 3)).toBe(perSecond);
  });

  it("never lets through more than it says over a longer time", () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock, 10);
    let through = 0;
    for (let ms = 0; ms < 10_000; ms += 7) {
      through += passed(limiter, "a", 1);
      clock.advance(7);
    }
    expect(through).toBeGreaterThanOrEqual(100);
    expect(through).toBeLessThanOrEqual(110);
  });

  it("is each caller's own", () => {
    const limiter = new RateLimiter(new ManualClock(), 2);
    expect(passed(limiter, "a", 5)).toBe(2);
    expect(passed(limiter, "b", 5)).toBe(2);
  });

  it("says what is left and when to come again", () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter(clock, 2);
    const told = [1, 2, 3].map(() => limiter.take("a"));
    expect(told.map(({ headers }) => headers["ratelimit"])).toEqual([
      '"caller";r=1;t=1',
      '"caller";r=0;t=1',
      '"caller";r=0;t=1',
    ]);
    expect(told[2]?.problem).toMatchObject({ code: "TOO_MANY", retryAfterSeconds: 1 });
    expect(told[0]?.headers["ratelimit-policy"]).toBe('"caller";q=2;w=1');
  });
});

describe("a server with a limit", () => {
  const keys = new Map([
    ["one", "key-of-one"],
    ["two", "key-of-two"],
  ]);
  const by = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const url = "/v1/nothing-here";

  it("S22 counts a caller under its key, whatever it says of its address", async () => {
    const { app, clock } = await serverOfItsOwn({}, { apiKeys: keys, rateLimit: 2 });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) {
      const headers = { ...by("key-of-one"), "x-forwarded-for": `10.0.0.${n}` };
      statuses.push((await app.inject({ url, headers })).statusCode);
    }
    expect(statuses).toEqual([404, 404, 429, 429]);
    const answer = await app.inject({ url, headers: by("key-of-one") });
    expect(answer.json()).toMatchObject({ code: "TOO_MANY", retryable: true });
    expect(answer.headers).toMatchObject({ "retry-after": "1", ratelimit: '"caller";r=0;t=1' });
    expect((await app.inject({ url, headers: by("key-of-two") })).statusCode).toBe(404);
    clock.advance(1_000);
    expect((await app.inject({ url, headers: by("key-of-one") })).statusCode).toBe(404);
  });

  it("S22 counts who has no key under the network of the connection", async () => {
    const { app } = await serverOfItsOwn({}, { apiKeys: keys, rateLimit: 2 });
    const from = async (remoteAddress: string) => {
      const headers = { "x-forwarded-for": remoteAddress.slice(-1) };
      return (await app.inject({ url, remoteAddress, headers })).statusCode;
    };
    expect(await from("2001:db8::1")).toBe(401);
    expect(await from("2001:db8::2")).toBe(401);
    expect(await from("2001:db8::3")).toBe(429);
    expect(await from("2001:db8:0:1::3")).toBe(401);
  });

  it("S22 believes an address only as far as proxies are trusted", async () => {
    const options = { apiKeys: keys, rateLimit: 1, trustedProxies: 1 };
    const { app } = await serverOfItsOwn({}, options);
    const from = async (forwarded: string) => {
      const headers = { "x-forwarded-for": forwarded };
      return (await app.inject({ url, headers })).statusCode;
    };
    expect(await from("1.1.1.1")).toBe(401);
    expect(await from("2.2.2.2")).toBe(401);
    // What stands before the last address was written by the caller.
    expect(await from("3.3.3.3, 2.2.2.2")).toBe(429);
  });

  it("does not stand before the probes", async () => {
    const { app } = await serverOfItsOwn({}, { rateLimit: 1 });
    for (let n = 0; n < 5; n++) expect((await app.inject("/livez")).statusCode).toBe(200);
  });

  it("is none by default", async () => {
    const { app } = await serverOfItsOwn({}, {});
    for (let n = 0; n < 50; n++) {
      const answer = await app.inject({ url });
      expect([answer.statusCode, answer.headers["ratelimit"]]).toEqual([404, undefined]);
    }
  });
});
