import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { onTestFinished } from "vitest";
import { ManualClock, systemRandom } from "../../src/clock.ts";
import type { UserRole } from "../../src/domain/user-role.ts";
import { hashPassword } from "../../src/http/passwords.ts";
import type { ServerDeps } from "../../src/http/server.ts";
import { SignIn, type User } from "../../src/http/sign-in.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import type { EngineScript } from "./fake-engine.ts";
import { serverOfItsOwn } from "./http-server.ts";

export const password = "correct horse battery";

/** One user of each role, all with one password; hashed cheaply, or a test would take seconds. */
export async function threeUsers(salt = Buffer.alloc(16, 1)): Promise<User[]> {
  const hash = await hashPassword(password, salt, { log2N: 4, blockSize: 8, parallel: 1 });
  const roles: readonly [string, UserRole][] = [
    ["vera", "viewer"],
    ["otto", "operator"],
    ["ada", "admin"],
  ];
  return roles.map(([name, role]) => ({ name, role, password: hash }));
}

export type ConsoleServer = {
  readonly app: FastifyInstance;
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly failures: readonly unknown[];
};

export type ConsoleOptions = Partial<ServerDeps> & {
  readonly isAutomatic?: boolean;
  readonly users?: readonly User[];
  /** Another process on the same ledger. */
  readonly ledger?: Ledger;
};

/** A server with users, over a ledger of its own; the engine is scripted. */
export async function consoleServer(
  script: EngineScript = {},
  options: ConsoleOptions = {},
): Promise<ConsoleServer> {
  const { isAutomatic = false, users, ledger: given, ...more } = options;
  const clock = more.clock instanceof ManualClock ? more.clock : new ManualClock();
  const ledger = given ?? (await openSqliteLedger(":memory:", { clock }));
  if (given === undefined) onTestFinished(() => ledger.close());
  const signIn = new SignIn({
    accounts: ledger.accounts,
    audit: (record) => ledger.audit(record),
    users: users ?? (await threeUsers()),
    random: systemRandom,
    isAutomatic,
  });
  const audit: ServerDeps["audit"] = (record) => ledger.audit(record);
  const server = await serverOfItsOwn(script, { signIn, audit, ...more, clock });
  return { ...server, clock, ledger };
}

export type Hand = {
  readonly cookie: string;
  readonly csrfToken: string;
  /** A call as a page of ours makes it. */
  readonly ask: (options: InjectOptions) => Promise<LightMyRequestResponse>;
};

/** Signs in, and asks with the cookie and the token from then on. */
export async function signedIn(app: FastifyInstance, name: string): Promise<Hand> {
  const answer = await app.inject({
    method: "POST",
    url: "/v1/session",
    payload: { name, password },
  });
  if (answer.statusCode !== 200) throw new Error(`not signed in: ${answer.payload}`);
  const cookie = String(answer.headers["set-cookie"]).split(";", 1)[0] ?? "";
  const csrfToken: string = answer.json().csrfToken;
  const headers = { cookie, "x-csrf-token": csrfToken };
  const ask: Hand["ask"] = (options) =>
    app.inject({ ...options, headers: { ...headers, ...options.headers } });
  return { cookie, csrfToken, ask };
}

export async function auditOf(ledger: Ledger, action: string) {
  const filter = { actor: null, action, subject: null, from: null, to: null };
  return ledger.auditLog({ ...filter, before: null, limit: 200 });
}
