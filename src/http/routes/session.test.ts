import { describe, expect, it } from "vitest";
import {
  auditOf,
  consoleServer,
  password,
  signedIn,
  threeUsers,
} from "../../../test/support/console-server.ts";
import { someLevel, someSale } from "../../../test/support/fake-engine.ts";
import { accepted } from "../../domain/outcome.ts";
import { idleMs, lifeMs } from "../sign-in.ts";

const url = "/v1/session";
const wrong = { name: "ada", password: "not the password" };
const right = { name: "ada", password };
const minute = 60_000;

const script = {
  oversight: { levels: async () => [someLevel()] },
  merchandising: {
    sale: async () => someSale(),
    moveSale: async () => accepted(someSale()),
    stopSku: async () => accepted(someLevel()),
    resumeSku: async () => accepted(someLevel()),
  },
};
const open = { method: "POST", url: "/v1/sales/sale-1/open" } as const;
const resume = {
  method: "POST",
  url: "/v1/stock/sku-1/resume",
  payload: { operationId: "op-1", reason: "looked at" },
} as const;

describe("signing in", () => {
  it("sets a cookie that no script reads and no other site sends, and tells who", async () => {
    const { app } = await consoleServer();
    const answer = await app.inject({ method: "POST", url, payload: right });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["set-cookie"]).toMatch(
      /^holdfast_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(answer.json()).toMatchObject({
      name: "ada",
      role: "admin",
      via: "password",
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      idleSeconds: 900,
      demo: false,
    });
    const { ask, csrfToken } = await signedIn(app, "ada");
    expect((await ask({ url })).json()).toMatchObject({ name: "ada", csrfToken });
  });

  it("S30 marks the cookie Secure behind a trusted proxy that speaks TLS only", async () => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "10.0.0.9" };
    const call = { method: "POST", url, payload: right, headers } as const;
    const behind = await consoleServer({}, { trustedProxies: 1 });
    expect((await behind.app.inject(call)).headers["set-cookie"]).toContain("; Secure");
    const alone = await consoleServer();
    expect((await alone.app.inject(call)).headers["set-cookie"]).not.toContain("Secure");
  });

  it("S30 answers a wrong name and a wrong password with the same words", async () => {
    const { app } = await consoleServer();
    const bodies = [];
    for (const payload of [wrong, { ...wrong, name: "nobody" }]) {
      const headers = { "x-request-id": "same" };
      const answer = await app.inject({ method: "POST", url, payload, headers });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers["set-cookie"]).toBeUndefined();
      bodies.push(answer.payload);
    }
    expect(bodies[0]).toBe(bodies[1]);
  });

  it("S30 backs off after five failures, also from the right password, ever longer", async () => {
    const { app, clock } = await consoleServer();
    const sign = async (payload: object) => app.inject({ method: "POST", url, payload });
    for (let n = 0; n < 5; n++) expect((await sign(wrong)).statusCode).toBe(401);
    for (const seconds of [30, 60, 120]) {
      const locked = await sign(right);
      expect(locked.json()).toMatchObject({ status: 429, code: "TOO_MANY", retryable: true });
      expect(locked.headers["retry-after"]).toBe(String(seconds));
      clock.advance(seconds * 1_000);
      expect((await sign(wrong)).statusCode).toBe(401);
    }
    clock.advance(240_000);
    expect((await sign(right)).statusCode).toBe(200);
    for (let n = 0; n < 5; n++) expect((await sign(wrong)).statusCode).toBe(401);
  });

  it("S30 lets no more guesses through when they come at once", async () => {
    const { app } = await consoleServer();
    const guesses = Array.from({ length: 40 }, () =>
      app.inject({ method: "POST", url, payload: wrong }),
    );
    const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  });

  it("S30 one address that tries many names is stopped, another is not", async () => {
    const { app } = await consoleServer({}, { apiKeys: new Map([["ops", "hunter2"]]) });
    const from = async (remoteAddress: string, name: string) =>
      app.inject({ method: "POST", url, payload: { ...wrong, name }, remoteAddress });
    for (let n = 0; n < 30; n++) {
      const { statusCode } = await from(`2001:db8::${n.toString(16)}`, `name-${n}`);
      expect(statusCode).toBe(401);
    }
    expect((await from("2001:db8::ffff", "vera")).statusCode).toBe(429);
    expect((await from("2001:db8:0:1::1", "vera")).statusCode).toBe(401);
  });

  it("S30 keeps the lockout when the process is another", async () => {
    const one = await consoleServer();
    for (let n = 0; n < 5; n++) await one.app.inject({ method: "POST", url, payload: wrong });
    const { ledger, clock } = one;
    const other = await consoleServer({}, { ledger, clock });
    const answer = await other.app.inject({ method: "POST", url, payload: right });
    expect(answer.statusCode).toBe(429);
  });

  it("S30 gives a new session, and ends the one that the page had (fixation)", async () => {
    const { app } = await consoleServer();
    const planted = await signedIn(app, "vera");
    const headers = { cookie: planted.cookie };
    const answer = await app.inject({ method: "POST", url, payload: right, headers });
    const cookie = String(answer.headers["set-cookie"]).split(";", 1)[0];
    expect(cookie).not.toBe(planted.cookie);
    expect((await planted.ask({ url })).statusCode).toBe(401);
  });

  it("S29 is written down, failed or not, with the address and without the password", async () => {
    const { app, ledger } = await consoleServer();
    await app.inject({ method: "POST", url, payload: wrong });
    await app.inject({ method: "POST", url, payload: { ...wrong, name: "nobody" } });
    await signedIn(app, "ada");
    const refused = await auditOf(ledger, "session.refused");
    expect(refused.map(({ actor }) => actor).sort()).toEqual(["ada", "nobody"]);
    expect(refused[0]?.after).toEqual({ address: "127.0.0.1" });
    expect(await auditOf(ledger, "session.open")).toMatchObject([{ subject: "user:ada" }]);
    expect(JSON.stringify(refused)).not.toContain(wrong.password);
  });
});

describe("a session", () => {
  it("S30 ends when nobody has used it for a quarter of an hour", async () => {
    const { app, clock } = await consoleServer(script);
    const { ask } = await signedIn(app, "ada");
    for (let n = 0; n < 4; n++) {
      clock.advance(idleMs - minute);
      expect((await ask({ url: "/v1/stock" })).statusCode).toBe(200);
    }
    clock.advance(idleMs + 1);
    expect((await ask({ url: "/v1/stock" })).json()).toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("S30 ends after half a day in any case", async () => {
    const { app, clock } = await consoleServer(script);
    const { ask } = await signedIn(app, "ada");
    for (let ms = 0; ms < lifeMs; ms += 10 * minute) {
      expect((await ask({ url: "/v1/stock" })).statusCode).toBe(200);
      clock.advance(10 * minute);
    }
    clock.advance(1);
    expect((await ask({ url: "/v1/stock" })).statusCode).toBe(401);
  });

  it("S30 ends at sign-out, in every process, and its cookie with it", async () => {
    const one = await consoleServer(script);
    const { ledger, clock } = one;
    const other = await consoleServer(script, { ledger, clock });
    const { ask, cookie } = await signedIn(one.app, "ada");
    const elsewhere = { url: "/v1/stock", headers: { cookie } };
    expect((await other.app.inject(elsewhere)).statusCode).toBe(200);
    const out = await ask({ method: "DELETE", url });
    expect(out.statusCode).toBe(204);
    expect(out.headers["set-cookie"]).toMatch(/^holdfast_session=; .*Max-Age=0$/);
    expect((await other.app.inject(elsewhere)).statusCode).toBe(401);
    expect(await auditOf(ledger, "session.end")).toMatchObject([{ actor: "ada" }]);
  });

  it("S30 ends everywhere when that is asked for, and nobody else's does", async () => {
    const { app } = await consoleServer();
    const [here, there] = [await signedIn(app, "ada"), await signedIn(app, "ada")];
    const vera = await signedIn(app, "vera");
    await here.ask({ method: "DELETE", url: `${url}?everywhere=true` });
    expect((await there.ask({ url })).statusCode).toBe(401);
    expect((await vera.ask({ url })).statusCode).toBe(200);
  });

  it("S30 ends with its user, and with the user's password", async () => {
    const one = await consoleServer(script);
    const { ledger, clock } = one;
    const { cookie } = await signedIn(one.app, "vera");
    const call = { url: "/v1/stock", headers: { cookie } };
    for (const users of [await threeUsers(Buffer.alloc(16, 2)), []]) {
      const { app } = await consoleServer(script, { ledger, clock, users });
      expect((await app.inject(call)).statusCode).toBe(401);
    }
  });

  it("S30 is known to the ledger by a hash alone", async () => {
    const { app, ledger } = await consoleServer();
    const { cookie } = await signedIn(app, "ada");
    const token = cookie.split("=")[1] ?? "";
    expect(token).toHaveLength(43);
    expect(await ledger.accounts.session(token)).toBeNull();
  });

  it.each(["x".repeat(43), "short", "", "=".repeat(43)])("is not guessed: %j", async (token) => {
    const { app } = await consoleServer(script, { apiKeys: new Map([["ops", "hunter2"]]) });
    const headers = { cookie: `other=1; holdfast_session=${token}` };
    expect((await app.inject({ url: "/v1/stock", headers })).statusCode).toBe(401);
  });

  it("is no use while the ledger is away, and nobody is let in instead", async () => {
    const { app, ledger } = await consoleServer(script);
    const { ask } = await signedIn(app, "ada");
    await ledger.close();
    expect((await ask({ url: "/v1/stock" })).statusCode).toBeGreaterThanOrEqual(500);
  });
});

describe("a change by a page", () => {
  it("S27 needs the token of its own session beside the cookie", async () => {
    const { app, ledger } = await consoleServer(script);
    const { ask, cookie } = await signedIn(app, "otto");
    const other = await signedIn(app, "ada");
    const withToken = (csrfToken?: string) => ({
      cookie,
      ...(csrfToken === undefined ? {} : { "x-csrf-token": csrfToken }),
    });
    for (const csrfToken of [undefined, "", other.csrfToken, "x".repeat(43)]) {
      const answer = await app.inject({ ...open, headers: withToken(csrfToken) });
      expect(answer.json()).toMatchObject({ status: 403, code: "FORBIDDEN" });
    }
    expect((await ask(open)).statusCode).toBe(200);
    expect(await auditOf(ledger, "access.refused")).toHaveLength(4);
  });

  it.each([
    { origin: "https://evil.example" },
    { origin: "http://localhost:9999" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("S27 is not made by a page of another site, even with the token: %j", async (headers) => {
    const { app } = await consoleServer(script);
    const { ask } = await signedIn(app, "otto");
    const host = "localhost:80";
    const answer = await ask({ ...open, headers: { host, ...headers } });
    expect(answer.statusCode).toBe(403);
    const sign = { method: "POST", url, payload: right } as const;
    const login = await app.inject({ ...sign, headers: { host, ...headers } });
    expect(login.statusCode).toBe(403);
  });

  it("S27 is not answered to a form, and no answer lets another origin read it", async () => {
    const { app } = await consoleServer(script);
    const { ask } = await signedIn(app, "otto");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await ask({ ...open, headers: form, payload: "a=b" });
    expect(answer.statusCode).toBe(415);
    const looked = await ask({ url: "/v1/stock", headers: { "sec-fetch-site": "same-origin" } });
    expect(looked.headers).not.toHaveProperty("access-control-allow-origin");
    expect(looked.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });
});

describe("a role", () => {
  it("S29 is enforced by the API: who may do what, and refusals are written down", async () => {
    const { app, ledger } = await consoleServer(script);
    const found: Record<string, number[]> = {};
    for (const name of ["vera", "otto", "ada"]) {
      const { ask } = await signedIn(app, name);
      const calls = [{ url: "/v1/stock" }, open, resume];
      found[name] = [];
      for (const call of calls) found[name].push((await ask(call)).statusCode);
    }
    expect(found).toEqual({ vera: [200, 403, 403], otto: [200, 200, 403], ada: [200, 200, 200] });
    const refused = await auditOf(ledger, "access.refused");
    expect(refused.map(({ actor, subject }) => [actor, subject])).toEqual([
      ["otto", "POST /v1/stock/:sku/resume"],
      ["vera", "POST /v1/stock/:sku/resume"],
      ["vera", "POST /v1/sales/:saleId/open"],
    ]);
    const { ask } = await signedIn(app, "vera");
    expect((await ask(open)).json()).toMatchObject({ role: "viewer", needed: "operator" });
  });

  it("S29 applies a repair only as admin; an operator may see what it would do", async () => {
    const repair = async () => ({ dryRun: true, actions: [] });
    const { app } = await consoleServer({ oversight: { repair } });
    const call = { method: "POST", url: "/v1/reconciliation/repair" } as const;
    const [otto, ada] = [await signedIn(app, "otto"), await signedIn(app, "ada")];
    expect((await otto.ask({ ...call, payload: { dryRun: true } })).statusCode).toBe(200);
    expect((await otto.ask({ ...call, payload: { dryRun: false } })).statusCode).toBe(403);
    expect((await ada.ask({ ...call, payload: { dryRun: false } })).statusCode).toBe(200);
  });

  it("S29 cannot be used to fill the audit log", async () => {
    const { app, ledger, clock } = await consoleServer(script);
    const { ask } = await signedIn(app, "vera");
    for (let n = 0; n < 40; n++) expect((await ask(open)).statusCode).toBe(403);
    expect(await auditOf(ledger, "access.refused")).toHaveLength(30);
    clock.advance(minute);
    await ask(open);
    expect(await auditOf(ledger, "access.refused")).toHaveLength(31);
  });
});

describe("this machine without API keys", () => {
  const page = { host: "localhost:8787", "sec-fetch-site": "same-origin" };

  it("is signed in by itself in dev, and only this machine under its own name", async () => {
    const { app } = await consoleServer(script, { isAutomatic: true });
    const answer = await app.inject({ url, headers: page });
    expect(answer.json()).toMatchObject({ name: "local", role: "admin", via: "local" });
    expect(answer.json().csrfToken).toBeNull();
    const far = await app.inject({ url, headers: page, remoteAddress: "10.0.0.1" });
    expect(far.statusCode).toBe(403);
    for (const headers of [
      { host: "evil.example" },
      { ...page, origin: "https://evil.example" },
      { ...page, "x-forwarded-for": "127.0.0.1" },
    ]) {
      expect((await app.inject({ url, headers })).statusCode).toBe(403);
    }
  });

  it("forged addresses help nobody, however many proxies are trusted", async () => {
    const more = { isAutomatic: true, trustedProxies: 2 };
    const { app } = await consoleServer(script, more);
    const headers = { ...page, "x-forwarded-for": "127.0.0.1" };
    const answer = await app.inject({ url, headers, remoteAddress: "10.0.0.1" });
    expect(answer.statusCode).toBe(403);
  });

  it("in dev is whoever has signed in, when somebody has", async () => {
    const { app } = await consoleServer(script, { isAutomatic: true });
    const { ask } = await signedIn(app, "vera");
    expect((await ask({ url, headers: page })).json()).toMatchObject({ name: "vera" });
    expect((await ask({ ...open, headers: page })).statusCode).toBe(403);
  });

  it("in dev is not kept out by the cookie of another server on this machine", async () => {
    const { app } = await consoleServer(script, { isAutomatic: true });
    const headers = { ...page, cookie: `holdfast_session=${"x".repeat(43)}` };
    expect((await app.inject({ url, headers })).json()).toMatchObject({ name: "local" });
  });

  it("S28 outside dev lets a program in, and a page only after it has signed in", async () => {
    const { app } = await consoleServer(script);
    expect((await app.inject({ url: "/v1/stock" })).statusCode).toBe(200);
    expect((await app.inject({ url: "/v1/stock", headers: page })).statusCode).toBe(401);
    const { ask } = await signedIn(app, "vera");
    expect((await ask({ url: "/v1/stock", headers: page })).statusCode).toBe(200);
  });
});
