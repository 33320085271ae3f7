import { existsSync } from "node:fs";
import { systemClock } from "../clock.ts";
import { isDefault } from "../config.ts";
import type { LedgerUrl } from "../config-values.ts";
import { silentEvents } from "../events.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openHoldfast } from "../wire.ts";
import { type Context, exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import type { Text } from "./text.ts";

/** Is there a ledger that can be read without a server? */
export function hasLedgerFile(ledger: LedgerUrl): boolean {
  return ledger.kind === "sqlite" && ledger.file !== ":memory:" && existsSync(ledger.file);
}

/** Lends a connection of its own to the ledger; nothing runs behind it. */
export async function withLedger<T>(
  ledger: LedgerUrl,
  text: Text,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  if (ledger.kind !== "sqlite" || !hasLedgerFile(ledger)) {
    const url = ledger.kind === "sqlite" ? `sqlite:${ledger.file}` : ledger.kind;
    throw new CliError({
      code: "LEDGER_MISSING",
      what: text("ledger.missing.what", { url }),
      why: text("ledger.missing.why"),
      next: text("ledger.missing.next"),
      exitCode: exitCodes.failed,
    });
  }
  const ledgerUrl = `sqlite:${ledger.file}`;
  const beside = await openHoldfast({ ledgerUrl, events: silentEvents, clock: systemClock });
  try {
    return await work(beside.ledger);
  } finally {
    await beside[Symbol.asyncDispose]();
  }
}

/** `--ledger` on a command for operators: read the ledger itself, not a server. */
export function isLedgerNamed({ loaded }: Context): boolean {
  return loaded.origins.some(({ name, origin }) => name === "ledger" && origin === "--ledger");
}

/** Nobody listens and no server was named: the ledger's file answers what it can. */
export function mayReadFile({ loaded }: Context): boolean {
  return isDefault(loaded, "url") && hasLedgerFile(loaded.config.ledger);
}
