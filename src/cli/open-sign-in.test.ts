import { describe, expect, it, onTestFinished } from "vitest";
import { ManualClock, systemRandom } from "../clock.ts";
import { type Config, type Environment, loadConfig } from "../config.ts";
import { formatPasswordHash, hashPassword } from "../http/passwords.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openSqliteLedger } from "../ledger/sqlite-ledger.ts";
import { openSignIn } from "./open-sign-in.ts";

const address = "127.0.0.1";

function configOf(env: Environment): Config {
  return loadConfig({ env, folder: "/nowhere-at-all" }).config;
}

async function someLedger(): Promise<Ledger> {
  const ledger = await openSqliteLedger(":memory:", { clock: new ManualClock() });
  onTestFinished(() => ledger.close());
  return ledger;
}

async function opened(ledger: Ledger, env: Environment, purpose: "serve" | "dev" = "serve") {
  const told: string[] = [];
  const firstUser = (name: string, password: string) => told.push(name, password);
  const signIn = await openSignIn(configOf(env), { ledger, purpose, firstUser });
  return { signIn, told };
}

describe("the first user", () => {
  it("S28 has a generated password, told once in the ledger's life and never kept", async () => {
    const ledger = await someLedger();
    const first = await opened(ledger, {});
    const [name = "", password = ""] = first.told;
    expect(name).toBe("admin");
    expect(password).toMatch(/^[\w-]{20}$/);
    const kept = await ledger.accounts.adminCredential();
    expect(kept).toMatch(/^scrypt\$15\$8\$1\$/);
    expect(kept).not.toContain(password);
    const later = await opened(ledger, {});
    expect(later.told).toEqual([]);
    const answer = await later.signIn.open({ name, password, address });
    expect(answer).toMatchObject({ signedIn: { name: "admin", role: "admin" } });
  });

  it("is made by one of two processes that start at once", async () => {
    const ledger = await someLedger();
    const both = await Promise.all([opened(ledger, {}), opened(ledger, {})]);
    const told = both.flatMap((each) => each.told);
    expect(told).toHaveLength(2);
    const [name = "", password = ""] = told;
    for (const { signIn } of both) {
      expect(await signIn.open({ name, password, address })).toHaveProperty("token");
    }
  });

  it.each([
    ["dev", {}],
    ["serve", { HOLDFAST_USERS: "vera:viewer:a long password" }],
  ] as const)("is not needed in %s with %j", async (purpose, env) => {
    const ledger = await someLedger();
    const { told, signIn } = await opened(ledger, env, purpose);
    expect(told).toEqual([]);
    expect(await ledger.accounts.adminCredential()).toBeNull();
    expect(signIn.isAutomatic).toBe(purpose === "dev");
  });

  it("is needed in dev with API keys, where nobody is signed in already", async () => {
    const env = { HOLDFAST_API_KEYS: "ops:hunter2" };
    const { told, signIn } = await opened(await someLedger(), env, "dev");
    expect([told[0], signIn.isAutomatic]).toEqual(["admin", false]);
  });
});

describe("the users of the configuration", () => {
  it("sign in with what was told, or hashed, and are the same in every process", async () => {
    const ledger = await someLedger();
    const salt = systemRandom.bytes(16);
    const hash = await hashPassword("another long one", salt, {
      ...{ log2N: 10, blockSize: 8, parallel: 1 },
    });
    const env = {
      HOLDFAST_USERS: `vera:viewer:a long: password,ada:admin:${formatPasswordHash(hash)}`,
    };
    const [one, other] = [await opened(ledger, env), await opened(ledger, env)];
    const vera = await one.signIn.open({ name: "vera", password: "a long: password", address });
    const token = "token" in vera ? vera.token : "";
    expect(await other.signIn.find(token)).toMatchObject({ name: "vera", role: "viewer" });
    const ada = await one.signIn.open({ name: "ada", password: "another long one", address });
    expect(ada).toMatchObject({ signedIn: { role: "admin" } });
    const guess = formatPasswordHash(hash);
    const byHash = await one.signIn.open({ name: "ada", password: guess, address });
    expect(byHash).toEqual({ refused: "wrong" });
  });

  it.each([
    "vera",
    "vera:viewer",
    "vera:boss:a long password",
    "vera:viewer:short",
    "bad name:viewer:a long password",
    "vera:viewer:a long password,vera:admin:a long password",
  ])("are refused when they are no users: %s", (text) => {
    expect(() => configOf({ HOLDFAST_USERS: text })).toThrow(/users/);
  });
});
