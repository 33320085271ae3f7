import { migrateLedger, prepareBus } from "../../wire.ts";
import { type Command, exitCodes, isOn } from "../context.ts";
import { claimLedger } from "../ledger-claim.ts";
import { ledgerNameOf, ledgerUrlOf } from "../run-server.ts";

/**
 * Brings the ledger's schema up to date, or says what is missing; and makes the queues of the bus,
 * where its broker has to be told of them.
 */
export const migrate: Command = async (context, options) => {
  const { text, loaded } = context;
  const dryRun = isOn(options, "dryRun");
  const ledger = ledgerNameOf(loaded.config);
  const claim = dryRun ? null : await claimLedger(loaded.config.ledger, text);
  const { applied, pending } = await migrateLedger(ledgerUrlOf(loaded.config), { dryRun });
  const { bus } = loaded.config;
  try {
    if (!dryRun && bus.kind !== "memory") await prepareBus(bus.url, ledgerUrlOf(loaded.config));
  } finally {
    await claim?.release();
  }
  const says = pending.length > 0 ? "migrate.pending" : "migrate.current";
  context.say(text(says, { ledger }));
  context.result({ ledger, dryRun, created: !dryRun && applied.length > 0 });
  return exitCodes.done;
};
