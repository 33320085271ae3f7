import { createHash } from "node:crypto";
import { type Random, systemRandom } from "../clock.ts";
import type { Config } from "../config.ts";
import type { ConfiguredUser } from "../config-values.ts";
import {
  formatPasswordHash,
  hashPassword,
  type PasswordHash,
  parsePasswordHash,
} from "../http/passwords.ts";
import { SignIn, type User } from "../http/sign-in.ts";
import type { Ledger } from "../ledger/ledger.ts";

const firstName = "admin";
const passwordBytes = 15;

export type SignInPlace = {
  readonly ledger: Ledger;
  readonly purpose: "serve" | "dev";
  /** Told once in the ledger's life: only the hash is kept. */
  readonly firstUser: (name: string, password: string) => void;
  readonly random?: Random;
};

/** The users of the configuration; without any, one administrator whom the ledger keeps. */
export async function openSignIn(config: Config, place: SignInPlace): Promise<SignIn> {
  const { ledger, purpose, random = systemRandom } = place;
  const isAutomatic = purpose === "dev" && config.apiKeys.length === 0;
  const configured = await Promise.all(config.users.map(userOf));
  const isAlone = configured.length === 0 && !isAutomatic;
  const users = isAlone ? [await firstUser(place, random)] : configured;
  const { accounts } = ledger;
  return new SignIn({ accounts, audit: (it) => ledger.audit(it), users, random, isAutomatic });
}

/** The salt is of the name, so that every process, and the next start, has the same hash. */
async function userOf({ name, role, password }: ConfiguredUser): Promise<User> {
  const salt = createHash("sha256").update(`holdfast user ${name}`).digest().subarray(0, 16);
  const known = parsePasswordHash(password) ?? (await hashPassword(password, salt));
  return { name, role, password: known };
}

async function firstUser({ ledger, firstUser: tell }: SignInPlace, random: Random): Promise<User> {
  const kept = await ledger.accounts.adminCredential();
  if (kept !== null) return admin(kept);
  const password = random.bytes(passwordBytes).toString("base64url");
  const made = formatPasswordHash(await hashPassword(password, random.bytes(16)));
  const won = await ledger.accounts.keepAdminCredential(made);
  if (won === made) tell(firstName, password);
  return admin(won);
}

function admin(hash: string): User {
  const password: PasswordHash | null = parsePasswordHash(hash);
  if (password === null) throw new Error("the ledger's first user has no hash of a password");
  return { name: firstName, role: "admin", password };
}
