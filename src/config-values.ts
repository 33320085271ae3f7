import { isIP } from "node:net";
import type { MessageKey } from "./domain/message.ts";
import { isUserRole, type UserRole } from "./domain/user-role.ts";
import { isId } from "./domain/values.ts";

/** What a parser wanted to see; the loader adds where the value came from. */
export class Expected extends Error {}

export const roleNames = ["api", "relay", "writer", "expirer", "reconciler"] as const;
export type Role = (typeof roleNames)[number];
/** Where the events of the ledger's entries go. */
export const eventsModes = ["bus", "none", "transactions"] as const;
export type EventsMode = (typeof eventsModes)[number];
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LedgerUrl =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "mysql" | "mariadb"; readonly url: string };
export type StoreUrl<Kind extends string> =
  | { readonly kind: "memory" }
  | { readonly kind: Kind; readonly url: string };

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Expected(`an integer from ${min} to ${max}`);
  };
}

export function host(text: string): string {
  if (/^[A-Za-z0-9.:_[\]-]+$/.test(text)) return text.replace(/^\[(.*)\]$/, "$1");
  throw new Expected("a host name or an address");
}

/** A path that a proxy serves us under: `/ops`; nothing and `/` mean none. */
export function basePath(text: string): string {
  const path = text.replace(/\/$/, "");
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(path) && !/\/\.+(\/|$)/.test(path)) return path;
  throw new Expected("a path such as /ops");
}

export function ledgerUrl(text: string): LedgerUrl {
  const sqlite = /^sqlite:(?!\/\/(?!\/))(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (sqlite !== undefined) return { kind: "sqlite", file: sqlite };
  const kind = /^(mysql|mariadb):\/\/[^/]+\/[^/?]+(\?.*)?$/.exec(text)?.[1];
  if (kind === "mysql" || kind === "mariadb") return { kind, url: text };
  throw new Expected("sqlite:FILE, mysql://…/DATABASE or mariadb://…/DATABASE");
}

/** `redis-cluster://[user:password@]host:port,…`: some nodes, from which the rest is learned. */
export type ClusterUrl = {
  /** With its `@`, as it was written; one for all nodes. */
  readonly login: string;
  readonly nodes: readonly string[];
};

const clusterPattern = /^redis-cluster:\/\/([^@/]*@)?([^@/?#]+)\/?$/;
const clusterNode = /^([A-Za-z0-9_.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/;

/** Null for any other kind of URL. */
export function clusterUrl(text: string): ClusterUrl | null {
  if (!text.startsWith("redis-cluster:")) return null;
  const [, login = "", list = ""] = clusterPattern.exec(text) ?? [];
  const nodes = list.split(",");
  if (nodes.every((each) => clusterNode.test(each))) return { login, nodes };
  throw new Expected("redis-cluster://[USER:PASSWORD@]HOST:PORT,HOST:PORT,…");
}

export function storeUrl<const Kind extends string>(kinds: readonly Kind[]) {
  return (text: string): StoreUrl<Kind> => {
    if (text === "memory:") return { kind: "memory" };
    const kind = kinds.find((one) => text.startsWith(`${one}://`) && text.length > one.length + 3);
    if (kind === "redis-cluster") clusterUrl(text);
    if (kind !== undefined) return { kind, url: text };
    throw new Expected(`memory: or ${kinds.map((one) => `${one}://…`).join(", ")}`);
  };
}

export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "http:" || url?.protocol === "https:") return text.replace(/\/+$/, "");
  throw new Expected("http://HOST:PORT or https://HOST");
}

/** Where traces are kept, with `{traceId}` where a trace's id stands; null: nowhere. */
export function traceUrl(text: string): string | null {
  if (text === "") return null;
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isWeb && text.includes("{traceId}")) return text;
  throw new Expected("http(s)://… with {traceId} where the trace's id stands");
}

export function roles(text: string): readonly Role[] {
  if (text === "all") return roleNames;
  const wanted = text.split(",").map((part) => part.trim());
  const known = roleNames.filter((role) => wanted.includes(role));
  if (known.length === new Set(wanted).size) return known;
  throw new Expected(`all, or some of ${roleNames.join(",")}`);
}

export function logLevel(text: string): LogLevel {
  const found = logLevels.find((level) => level === text);
  if (found !== undefined) return found;
  throw new Expected(logLevels.join(", "));
}

export function eventsMode(text: string): EventsMode {
  const found = eventsModes.find((mode) => mode === text);
  if (found !== undefined) return found;
  throw new Expected(eventsModes.join(", "));
}

export type ApiKey = { readonly name: string; readonly secret: string };

export function apiKeys(text: string): readonly ApiKey[] {
  return pairs(text, "name:secret,…").map(([name, secret]) => ({ name, secret }));
}

export type ConfiguredUser = {
  readonly name: string;
  readonly role: UserRole;
  /** As it is, or its hash: `scrypt$…`. */
  readonly password: string;
};

const passwordLengthMin = 12;

export function users(text: string): readonly ConfiguredUser[] {
  const expected = "name:role:password,… with the roles viewer, operator and admin";
  return pairs(text, expected).map(([name, rest]) => {
    const at = rest.indexOf(":");
    const [role, password] = [rest.slice(0, at), rest.slice(at + 1)];
    if (at < 1 || !isUserRole(role)) throw new Expected(expected);
    if (password.length < passwordLengthMin) {
      throw new Expected(`${expected}, and passwords of ${passwordLengthMin} characters or more`);
    }
    return { name, role, password };
  });
}

/** What samples and factories are shipped with, and everybody tries first. */
const knownSecrets: ReadonlySet<string> = new Set([
  ...["admin", "root", "guest", "test", "demo", "secret", "password", "changeme", "change-me"],
  ...["123456", "12345678", "root123", "admin123", "password123", "holdfast", "letmein"],
  ...["foobared", "root@123", "toor", "mysql", "mariadb", "redis", "rabbitmq", "rocketmq"],
  ...["1234", "default", "passwd", "passw0rd", "p@ssw0rd", "qwerty"],
  ...["changeme1234", "change-me-please", "password1234", "administrator", "123456789012"],
]);

export function isKnownSecret(secret: string): boolean {
  return knownSecrets.has(secret.toLowerCase());
}

export function messageKeys(text: string): readonly MessageKey[] {
  return pairs(text, "kid:base64,…").map(([kid, encoded]) => {
    const secret = Buffer.from(encoded, "base64");
    if (secret.length >= 32 && /^[A-Za-z0-9+/_-]+=*$/.test(encoded)) return { kid, secret };
    throw new Expected("kid:base64,… with keys of 32 bytes or more (openssl rand -base64 32)");
  });
}

function pairs(text: string, expected: string): [string, string][] {
  if (text === "") return [];
  const found = text.split(",").map((part): [string, string] => {
    const at = part.indexOf(":");
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at < 1 || value === "" || !isId(name)) throw new Expected(expected);
    return [name, value];
  });
  if (new Set(found.map(([name]) => name)).size === found.length) return found;
  throw new Expected(`${expected} with different names`);
}

export function isLoopback(name: string): boolean {
  if (isIP(name) === 4) return name.startsWith("127.");
  return name === "localhost" || name === "::1" || name === "[::1]";
}

/** A password that everybody knows, or the user's own name. None at all is another matter. */
export function hasKnownPassword(url: string): boolean {
  // A cluster is named by several nodes with one login: the first will do.
  const [, scheme = "", login = ""] = /^([a-z-]+):\/\/([^@/]*)@/.exec(url) ?? [];
  if (scheme === "" || !URL.canParse(`http://${login}@host`)) return false;
  const { username, password } = new URL(`http://${login}@host`);
  if (password === "") return false;
  return isKnownSecret(decodeURIComponent(password)) || password === username;
}

/** The candidate that was probably meant; undefined when nothing is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const within = Math.max(2, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(word, candidate) }))
    .filter(({ far }) => far <= within)
    .sort((a, b) => a.far - b.far);
  return best?.candidate;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
