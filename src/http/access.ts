import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { UserRole } from "../domain/user-role.ts";
import { sessionTokenOf } from "./cookies.ts";
import type { Problem } from "./problem.ts";
import { isCsrfToken, type SignedIn, type SignIn } from "./sign-in.ts";

/**
 * Who may ask. With API keys: whoever has one, and the key's name is the actor in the audit log.
 * Without: programs of this machine only, by a name that no foreign page can point here (DNS
 * rebinding), and not a foreign page at all. A page of ours has signed in, and its cookie says
 * who; only in `dev` it is this machine that asks.
 */
export type Access =
  | { readonly who: Who; readonly problem: null }
  | { readonly who: Who | null; readonly problem: Problem };

export type Who = {
  readonly actor: string;
  readonly role: UserRole;
  readonly via: "password" | "key" | "local";
  readonly session: (SignedIn & { readonly token: string }) | null;
};

export type Caller = {
  /** As a trusted proxy tells it. */
  readonly address: string | undefined;
  /** Of the connection itself. */
  readonly peer: string | undefined;
  readonly method: string;
  /** The name that the page has in its address bar: of the request, or as the proxy tells it. */
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
};

export type Gatekeeper = (caller: Caller) => Access | Promise<Access>;

export type Doors = {
  readonly apiKeys: ReadonlyMap<string, string>;
  /** Null: nobody signs in here, and a page of this machine is served like a program. */
  readonly signIn: SignIn | null;
};

export function gatekeeper({ apiKeys, signIn }: Doors): Gatekeeper {
  const isKeyed = apiKeys.size > 0;
  const byKey = keyHolders(apiKeys);
  const unknown: (caller: Caller) => Access = isKeyed
    ? () => refuse("UNAUTHORIZED", "expected Authorization: Bearer, or a session")
    : (caller) => loopbackOnly(caller, signIn);
  return (caller) => {
    if (isKeyed && caller.headers.authorization !== undefined) return byKey(caller);
    const token = signIn === null ? null : sessionTokenOf(caller.headers.cookie);
    if (signIn === null || token === null) return unknown(caller);
    return bySession(caller, { signIn, token, unknown });
  };
}

function keyHolders(apiKeys: ReadonlyMap<string, string>): (caller: Caller) => Access {
  const known = [...apiKeys].map(([actor, secret]) => ({ actor, digest: digestOf(secret) }));
  return ({ headers }) => {
    const secret = /^Bearer +([\x21-\x7e]{1,1024})$/i.exec(headers.authorization ?? "")?.[1];
    if (secret === undefined) return refuse("UNAUTHORIZED", "expected Authorization: Bearer");
    const digest = digestOf(secret);
    // Every key is compared, so that time tells nothing about which came close.
    const found = known.filter((key) => timingSafeEqual(key.digest, digest));
    const actor = found[0]?.actor;
    if (actor === undefined) return refuse("UNAUTHORIZED", "the API key is not known here");
    return { who: { actor, role: "admin", via: "key", session: null }, problem: null };
  };
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

type Cookie = {
  readonly signIn: SignIn;
  readonly token: string;
  readonly unknown: (caller: Caller) => Access;
};

async function bySession(caller: Caller, { signIn, token, unknown }: Cookie): Promise<Access> {
  const signedIn = await signIn.find(token);
  if (signedIn === null) {
    // Cookies know no ports: this one may be of another server on this machine.
    if (signIn.isAutomatic) return unknown(caller);
    return refuse("UNAUTHORIZED", "the session has ended: sign in again");
  }
  const { name: actor, role } = signedIn;
  const who: Who = { actor, role, via: "password", session: { ...signedIn, token } };
  const foreign = foreignPage(caller);
  if (foreign !== null) return { who, problem: foreign };
  const csrfToken = caller.headers["x-csrf-token"];
  const given = typeof csrfToken === "string" ? csrfToken : undefined;
  if (!isSafe(caller.method) && !isCsrfToken(token, given)) {
    const detail = "expected X-CSRF-Token as GET /v1/session tells it";
    return { who, problem: { code: "FORBIDDEN", detail } };
  }
  return { who, problem: null };
}

/** The problem of a call that a page of another site has made; null for all others. */
export function foreignPage({ headers, host, method }: Caller): Problem | null {
  const site = headers["sec-fetch-site"];
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  const isLook = isSafe(method) && site === "same-site";
  const isForeign = !isOwnSite && !isLook;
  const { origin } = headers;
  const isOwnOrigin = origin === undefined || hostOf(origin) === host.toLowerCase();
  if (!isForeign && isOwnOrigin) return null;
  return { code: "FORBIDDEN", detail: "a page of another site may not ask" };
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

const loopback = "localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\]";
const loopbackAddress = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const loopbackHost = new RegExp(`^(${loopback})(:\\d{1,5})?$`, "i");
const loopbackOrigin = new RegExp(`^https?://(${loopback})(:\\d{1,5})?$`, "i");

function loopbackOnly({ address, peer, headers }: Caller, signIn: SignIn | null): Access {
  if (!loopbackAddress.test(address ?? "") || !loopbackAddress.test(peer ?? "")) {
    return refuse("FORBIDDEN", "without API keys only this machine is served");
  }
  if (!loopbackHost.test(headers.host ?? "")) {
    return refuse("FORBIDDEN", "without API keys the Host must be localhost, 127.0.0.1 or [::1]");
  }
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  if (site === "cross-site" || (origin !== undefined && !loopbackOrigin.test(origin))) {
    return refuse("FORBIDDEN", "without API keys a page of another site may not ask");
  }
  const isPassedOn = ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"].some(
    (name) => headers[name] !== undefined,
  );
  if (isPassedOn) {
    return refuse("FORBIDDEN", "through a proxy nobody is of this machine: sign in, or use a key");
  }
  const isPage = origin !== undefined || site !== undefined;
  if (isPage && signIn !== null && !signIn.isAutomatic) {
    return refuse("UNAUTHORIZED", "a page must sign in");
  }
  return { who: { actor: "local", role: "admin", via: "local", session: null }, problem: null };
}

function refuse(code: "UNAUTHORIZED" | "FORBIDDEN", detail: string): Access {
  return { who: null, problem: { code, detail } };
}
