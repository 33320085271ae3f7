import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Problem } from "./problem.ts";

/**
 * Who may ask. With API keys: whoever has one, and the key's name is the actor in the audit log.
 * Without: this machine only, by a name that no foreign page can point here (DNS rebinding), and
 * not by a foreign page at all.
 */
export type Access =
  | { readonly actor: string; readonly problem: null }
  | { readonly actor: null; readonly problem: Problem };

export type Caller = {
  readonly address: string | undefined;
  readonly headers: IncomingHttpHeaders;
};

export type Gatekeeper = (caller: Caller) => Access;

export function gatekeeper(apiKeys: ReadonlyMap<string, string>): Gatekeeper {
  return apiKeys.size === 0 ? loopbackOnly : keyHolders(apiKeys);
}

const localActor = "local";

function keyHolders(apiKeys: ReadonlyMap<string, string>): Gatekeeper {
  const known = [...apiKeys].map(([actor, secret]) => ({ actor, digest: digestOf(secret) }));
  return ({ headers }) => {
    const secret = /^Bearer +([\x21-\x7e]{1,1024})$/i.exec(headers.authorization ?? "")?.[1];
    if (secret === undefined) return refuse("UNAUTHORIZED", "expected Authorization: Bearer");
    const digest = digestOf(secret);
    // Every key is compared, so that time tells nothing about which came close.
    const found = known.filter((key) => timingSafeEqual(key.digest, digest));
    const actor = found[0]?.actor;
    return actor === undefined
      ? refuse("UNAUTHORIZED", "the API key is not known here")
      : { actor, problem: null };
  };
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

const loopback = "localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\]";
const loopbackAddress = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const loopbackHost = new RegExp(`^(${loopback})(:\\d{1,5})?$`, "i");
const loopbackOrigin = new RegExp(`^https?://(${loopback})(:\\d{1,5})?$`, "i");

function loopbackOnly({ address, headers }: Caller): Access {
  if (!loopbackAddress.test(address ?? "")) {
    return refuse("FORBIDDEN", "without API keys only this machine is served");
  }
  if (!loopbackHost.test(headers.host ?? "")) {
    return refuse("FORBIDDEN", "without API keys the Host must be localhost, 127.0.0.1 or [::1]");
  }
  const { origin } = headers;
  const isForeign = headers["sec-fetch-site"] === "cross-site";
  if (isForeign || (origin !== undefined && !loopbackOrigin.test(origin))) {
    return refuse("FORBIDDEN", "without API keys a page of another site may not ask");
  }
  return { actor: localActor, problem: null };
}

function refuse(code: "UNAUTHORIZED" | "FORBIDDEN", detail: string): Access {
  return { actor: null, problem: { code, detail } };
}
