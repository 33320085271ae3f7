import { migrateLedger, prepareBus } from "../../wire.ts";
import { type Command, exitCodes, isOn } from "../context.ts";
import { claimLedger } from "../ledger-claim.ts";
import { ledgerNameOf, ledgerUrlOf } from "../run-server.ts";

/**
 * Brings the ledger's schema up to date, or says what is missing; and makes the queues of the bus,
 * where its broker has to be told of them. Says where the events of entries are read.
 */
export const migrate: Command = async (context, options) => {
  const { text, loaded } = context;
  const dryRun = isOn(options, "dryRun");
  const ledger = ledgerNameOf(loaded.config);
  const claim = dryRun ? null : await claimLedger(loaded.config.ledger, text);
  const { applied, pending } = await migrateLedger(ledgerUrlOf(loaded.config), { dryRun });
  const { bus, events: mode } = loaded.config;
  let events: string | null = null;
  try {
    if (!dryRun && bus.kind !== "memory") {
      events = await prepareBus(bus.url, ledgerUrlOf(loaded.config), mode);
    }
  } finally {
    await claim?.release();
  }
  const says = pending.length > 0 ? "migrate.pending" : "migrate.current";
  context.say(text(says, { ledger }));
  if (events !== null) context.say(text("events.place", { place: events }));
  context.result({ ledger, dryRun, created: !dryRun && applied.length > 0, events });
  return exitCodes.done;
};
