import { existsSync } from "node:fs";
import { isDefault } from "../config.ts";
import type { LedgerUrl } from "../config-values.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { MigrationError, openLedgerToRead } from "../wire.ts";
import { type Context, exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import { optionalText, type Text } from "./text.ts";

/** Is there a ledger that can be read without a server? One in memory is in another's. */
export function hasLedger(ledger: LedgerUrl): boolean {
  return ledger.kind !== "sqlite" || (ledger.file !== ":memory:" && existsSync(ledger.file));
}

/** Lends a connection of its own to the ledger, which neither migrates nor writes. */
export async function withLedger<T>(
  ledger: LedgerUrl,
  text: Text,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const url = ledger.kind === "sqlite" ? `sqlite:${ledger.file}` : ledger.url;
  if (!hasLedger(ledger)) throw refusal(text, "missing", url);
  const beside = await openLedgerToRead(url).catch((error: unknown) => {
    throw error instanceof MigrationError ? refusal(text, "schema", error.message) : error;
  });
  try {
    return await work(beside);
  } finally {
    await beside.close();
  }
}

function refusal(text: Text, problem: "missing" | "schema", found: string): CliError {
  const say = (part: string): string =>
    optionalText(text, `ledger.${problem}.${part}`, { found }) ?? "";
  return new CliError({
    code: `LEDGER_${problem.toUpperCase()}`,
    what: say("what"),
    why: say("why"),
    next: say("next"),
    exitCode: exitCodes.failed,
  });
}

/** `--ledger` on a command for operators: read the ledger itself, not a server. */
export function isLedgerNamed({ loaded }: Context): boolean {
  return loaded.origins.some(({ name, origin }) => name === "ledger" && origin === "--ledger");
}

/** Nobody listens and no server was named: the ledger answers what it can. */
export function mayReadLedger({ loaded }: Context): boolean {
  return isDefault(loaded, "url") && hasLedger(loaded.config.ledger);
}
