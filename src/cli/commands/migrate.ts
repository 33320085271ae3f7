import { existsSync } from "node:fs";
import { silentEvents } from "../../events.ts";
import { openHoldfast } from "../../wire.ts";
import { type Command, exitCodes, isOn } from "../context.ts";
import { claimLedger } from "../ledger-claim.ts";
import { ledgerUrlOf } from "../run-server.ts";

/** Brings the ledger's schema up to date, or says what is missing. */
export const migrate: Command = async (context, options) => {
  const { text, loaded } = context;
  const { ledger } = loaded.config;
  const dryRun = isOn(options, "dryRun");
  const url = ledgerUrlOf(loaded.config);
  const isThere = ledger.kind === "sqlite" && existsSync(ledger.file);
  if (!dryRun) {
    const claim = await claimLedger(ledger, text);
    const opened = await openHoldfast({ ledgerUrl: url, events: silentEvents });
    await opened[Symbol.asyncDispose]();
    await claim.release();
  }
  const says = dryRun && !isThere ? "migrate.pending" : "migrate.current";
  context.say(text(says, { ledger: url }));
  context.result({ ledger: url, dryRun, created: !dryRun && !isThere });
  return exitCodes.done;
};
