import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Random } from "../clock.ts";
import type { AuditRecord } from "../domain/command.ts";
import type { UserRole } from "../domain/user-role.ts";
import type { Instant } from "../domain/values.ts";
import type { Accounts, AttemptLimit } from "../ledger/ledger.ts";
import { hashPassword, type PasswordHash, passwordFits, Turnstile } from "./passwords.ts";

/**
 * Signing in to the console. A session is a random token in a cookie; the ledger keeps its hash,
 * so that every process knows it, and a sign-out ends it everywhere. It ends by itself when
 * nobody has used it for `idleMs`, after `lifeMs` in any case, and with its user's password.
 */
export type User = {
  readonly name: string;
  readonly role: UserRole;
  readonly password: PasswordHash;
};

export type SignInOptions = {
  readonly accounts: Accounts;
  readonly audit: (record: Omit<AuditRecord, "at">) => Promise<void>;
  readonly users: readonly User[];
  readonly random: Random;
  /** Whoever asks on this machine is signed in already: `holdfast dev` without API keys. */
  readonly isAutomatic: boolean;
};

export type SignedIn = {
  /** Hash of the token. */
  readonly session: string;
  readonly name: string;
  readonly role: UserRole;
  readonly openedAt: Instant;
  readonly endsAt: Instant;
};

export type Opened =
  | { readonly token: string; readonly signedIn: SignedIn }
  | { readonly refused: "wrong" | "busy" }
  | { readonly refused: "locked"; readonly lockedMs: number };

export const idleMs = 15 * 60_000;
export const lifeMs = 12 * 60 * 60_000;
/** A session that is in use is written down so often. */
const seenEveryMs = 60_000;

const tokenBytes = 32;
const checksAtOnce = 2;
const checksWaitingMax = 16;

const lock = { lockMs: 30_000, lockMsMax: 15 * 60_000, forgetMs: 60 * 60_000 };
/** Of one name from one address; of one address; and of one name, wherever from. */
const failuresMax = { pair: 5, address: 30, name: 50 } as const;

export class SignIn {
  readonly isAutomatic: boolean;
  readonly #options: SignInOptions;
  readonly #users: ReadonlyMap<string, User>;
  readonly #turnstile = new Turnstile(checksAtOnce, checksWaitingMax);
  readonly #nobody: Promise<PasswordHash>;

  constructor(options: SignInOptions) {
    this.isAutomatic = options.isAutomatic;
    this.#options = options;
    this.#users = new Map(options.users.map((user) => [user.name, user]));
    this.#nobody = nobodyLike(options);
  }

  /** One answer, after one time, to a wrong name and to a wrong password. */
  async open(given: Given): Promise<Opened> {
    const { accounts } = this.#options;
    const limits = limitsOf(given);
    const lockedMs = await accounts.countAttempt(limits);
    if (lockedMs !== null) return { refused: "locked", lockedMs };
    const user = this.#users.get(given.name);
    const known = user?.password ?? (await this.#nobody);
    const fits = await this.#turnstile.pass(() => passwordFits(given.password, known));
    if (fits === null) return { refused: "busy" };
    if (!fits || user === undefined) {
      await this.#audit(given, "session.refused", "wrong name or password");
      return { refused: "wrong" };
    }
    await accounts.forgetAttempts(limits.map(({ subject }) => subject));
    const token = this.#options.random.bytes(tokenBytes).toString("base64url");
    const id = sessionId(token);
    const session = { id, name: user.name, credential: credentialOf(user) };
    await accounts.openSession(session, lifeMs);
    await this.#audit(given, "session.open", "");
    const signedIn = await this.find(token);
    return signedIn === null ? { refused: "busy" } : { token, signedIn };
  }

  /** Who has this token; null when it is of no session, or of one that has ended. */
  find(token: string): Promise<SignedIn | null> {
    return this.#look(sessionId(token), () => true);
  }

  /**
   * A stream that goes on keeps a viewer signed in: a wall board needs no hands. Whoever may act
   * is signed out when only the stream is left.
   */
  async isStillIn(session: string): Promise<boolean> {
    return (await this.#look(session, ({ role }) => role === "viewer")) !== null;
  }

  async #look(id: string, isUse: (user: User) => boolean): Promise<SignedIn | null> {
    const { accounts } = this.#options;
    const row = await accounts.session(id);
    const user = row === null ? undefined : this.#users.get(row.name);
    if (row === null || user === undefined) return null;
    const { name, openedAt, seenAt, readAt } = row;
    const isSamePassword = equal(row.credential, credentialOf(user));
    const idleForMs = readAt - seenAt;
    if (!isSamePassword || idleForMs > idleMs || readAt - openedAt > lifeMs) {
      await accounts.endSession(id);
      return null;
    }
    if (idleForMs >= seenEveryMs && isUse(user)) await accounts.sessionSeen(id);
    return { session: id, name, role: user.role, openedAt, endsAt: openedAt + lifeMs };
  }

  async end(signedIn: SignedIn, everywhere: boolean): Promise<void> {
    const { accounts, audit } = this.#options;
    const { session, name } = signedIn;
    if (everywhere) await accounts.endSessionsOf(name);
    else await accounts.endSession(session);
    const reason = everywhere ? "signed out everywhere" : "signed out";
    const record = { actor: name, action: "session.end", subject: `user:${name}`, reason };
    await audit({ ...record, before: null, after: null });
  }

  async #audit({ name, address }: Given, action: string, reason: string): Promise<void> {
    const record = { actor: name, action, subject: `user:${name}`, reason };
    await this.#options.audit({ ...record, before: null, after: { address } });
  }
}

export type Given = {
  readonly name: string;
  readonly password: string;
  readonly address: string;
};

/** What a page must send beside the cookie, which a page of another site cannot know. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update("holdfast csrf").digest("base64url");
}

export function isCsrfToken(sessionToken: string, given: string | undefined): boolean {
  return given !== undefined && equal(given, csrfTokenOf(sessionToken));
}

/** Somebody who does not exist is checked for as long as one who does. */
async function nobodyLike({ users, random }: SignInOptions): Promise<PasswordHash> {
  const [first] = users;
  const [password, salt] = [random.bytes(24).toString("base64url"), random.bytes(16)];
  return hashPassword(password, salt, first?.password);
}

function limitsOf({ name, address }: Given): readonly AttemptLimit[] {
  const network = networkOf(address);
  return [
    { subject: subjectOf("pair", name, network), failuresMax: failuresMax.pair, ...lock },
    { subject: subjectOf("address", network), failuresMax: failuresMax.address, ...lock },
    { subject: subjectOf("name", name), failuresMax: failuresMax.name, ...lock },
  ];
}

/** Whoever has one address of IPv6 has the other 2^64 beside it. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...new Array<string>(Math.max(0, gap)).fill("0"), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

function subjectOf(...parts: readonly string[]): string {
  return digest(JSON.stringify(parts));
}

function sessionId(token: string): string {
  return digest(token);
}

function credentialOf({ password }: User): string {
  return createHash("sha256").update(password.salt).update(password.hash).digest("hex");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(digest(one)), Buffer.from(digest(other))];
  return timingSafeEqual(left, right);
}
