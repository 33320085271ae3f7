import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { type Access, gatekeeper } from "./access.ts";

type Asked = { readonly address: string | undefined; readonly headers: IncomingHttpHeaders };
type Judge = (asked: Asked) => Access;

/** Without a session the answer is there at once. */
function doors(apiKeys: ReadonlyMap<string, string>): Judge {
  const judge = gatekeeper({ apiKeys, signIn: null });
  return (asked) => {
    const { host = "" } = asked.headers;
    const access = judge({ ...asked, peer: asked.address, method: "GET", host });
    if (access instanceof Promise) throw new Error("expected an answer at once");
    return access;
  };
}

const local = doors(new Map());
const keyed = doors(
  new Map([
    ["ops", "hunter2"],
    ["ci", "s3cret"],
  ]),
);

describe("without API keys", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])("%s is served", (address) => {
    const access = local({ address, headers: { host: "localhost:8787" } });
    expect(access.problem).toBeNull();
    expect(access.who).toMatchObject({ actor: "local", role: "admin", via: "local" });
  });

  it.each(["10.0.0.1", "::ffff:10.0.0.1", "128.0.0.1", "1127.0.0.1", "", undefined])(
    "%s is not served",
    (address) => {
      const access = local({ address, headers: { host: "localhost" } });
      expect(access.problem).toMatchObject({ code: "FORBIDDEN" });
    },
  );

  it.each(["localhost", "LOCALHOST:8787", "127.0.0.1:8787", "[::1]:1"])(
    "the name %s is served",
    (host) => {
      expect(local({ address: "127.0.0.1", headers: { host } }).problem).toBeNull();
    },
  );

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example:80",
    "x@localhost",
    "",
  ])("a name that a foreign page points here is not: %j", (host) => {
    const access = local({ address: "127.0.0.1", headers: { host } });
    expect(access.problem).toMatchObject({ code: "FORBIDDEN" });
  });

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
  ])("a page of another site is not served: %j", (headers) => {
    const access = local({ address: "::1", headers: { host: "localhost", ...headers } });
    expect(access.problem).toMatchObject({ code: "FORBIDDEN" });
  });

  it.each(["forwarded", "x-forwarded-for", "x-forwarded-host", "via"])(
    "whoever comes through a proxy is not of this machine: %s",
    (name) => {
      const headers = { host: "localhost", [name]: "127.0.0.1" };
      const access = local({ address: "127.0.0.1", headers });
      expect(access.problem).toMatchObject({ code: "FORBIDDEN" });
    },
  );

  it("a page of this machine is served", () => {
    const headers = { host: "localhost:8787", origin: "http://localhost:5173" };
    expect(local({ address: "::1", headers }).problem).toBeNull();
  });
});

describe("with API keys", () => {
  it("the name of the key is the actor", () => {
    const headers = { authorization: "Bearer s3cret" };
    const access = keyed({ address: "10.0.0.1", headers });
    expect(access.problem).toBeNull();
    expect(access.who).toMatchObject({ actor: "ci", role: "admin", via: "key" });
  });

  it.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer s3cre",
    "Bearer s3cret2",
    "Bearer hunter2,s3cret",
    "Basic czNjcmV0",
    "s3cret",
    `Bearer ${"x".repeat(5_000)}`,
  ])("%j is not served, not even on this machine", (authorization) => {
    const headers = { host: "localhost", ...(authorization && { authorization }) };
    const access = keyed({ address: "127.0.0.1", headers });
    expect(access.problem).toMatchObject({ code: "UNAUTHORIZED" });
  });
});
