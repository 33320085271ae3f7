import { lasting, meanwhile, sleep, struck, under } from "./injections.ts";
import { alterBehindIdle, goBack, lockBackwards, takeAllConnections } from "./ledger-injections.ts";
import { type FaultRow, row } from "./row.ts";

const longLockMs = 20_000;
const readOnlyMs = 10_000;

/** A copy that is older than what was told: some of it is not there, and that is found. */
export const ledgerWentBack = [
  ...["no-entry", "payment-lost", "leaked", "not-at-rest", "pending", "refused-oddly"],
  ...["odd-answer", "two-answers", "taken-back", "told-no", "drift"],
] as const;

/** What befalls the ledger. */
export const ledgerRows: readonly FaultRow[] = [
  row("D1", "the database is killed and starts again", {
    isGate: true,
    may: "nothing",
    normalWithin: 10,
    inject: ({ shared }) => shared.crashSql(),
  }),
  row("D2", "every 20th answer to COMMIT is cut off", {
    isGate: true,
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => {
      const cut = { weather: "cut-reply", everyNth: 20, trigger: "commit" } as const;
      return under(scene, scene.network.ledger, cut);
    },
  }),
  row("D3", "somebody else locks the rows in the opposite order, again and again", {
    may: "nothing",
    normalWithin: 1,
    inject: async (scene) => struck(await lockBackwards(scene)),
  }),
  row("D4", "the hot row is locked by somebody else for 20 s", {
    isGate: true,
    may: "nothing",
    normalWithin: 5,
    inject: (scene) =>
      scene.sql(async (query) => {
        await query("begin; select sku from inventory for update");
        await sleep(longLockMs);
        await query("rollback");
      }),
  }),
  row("D5", "the database stands still for ten seconds", {
    may: "nothing",
    normalWithin: 15,
    inject: async ({ shared }) => {
      const { kill } = await shared.sql();
      await kill("SIGSTOP");
      await sleep(10_000);
      await kill("SIGCONT");
    },
  }),
  row("D6", "the disk of the database is full", {
    stage: { disk: { of: "ledger", megabytes: 384 } },
    may: "nothing",
    normalWithin: 5,
    inject: async ({ disk, serve, faultMs }) => {
      await disk.fill();
      await lasting(faultMs, () => serve.hasSaid("is full"));
      await disk.ease();
    },
  }),
  row("D7", "the database has no connection left", {
    may: "nothing",
    normalWithin: 5,
    inject: takeAllConnections,
  }),
  row("D8", "the database is read-only for ten seconds", {
    may: "nothing",
    normalWithin: 5,
    inject: (scene) =>
      scene.sql(async (query) => {
        await query("set global read_only = 1");
        await sleep(readOnlyMs);
        await query("set global read_only = 0");
      }),
  }),
  row("D9", "failover to a database that lacks the last seconds", {
    may: "tickets",
    stops: { finds: ledgerWentBack },
    normalWithin: 5,
    inject: (scene) => goBack(scene, 2_000),
  }),
  row("D10", "a definition waits behind an idle transaction", {
    may: "nothing",
    normalWithin: 3,
    inject: async (scene) => struck(await alterBehindIdle(scene)),
  }),
  row("D12", "every message comes three times", {
    isGate: true,
    apart: { front: "api,writer,expirer,reconciler", behind: "relay" },
    may: "nothing",
    normalWithin: 1,
    inject: (scene) => meanwhile(scene, "publishes-thrice"),
  }),
];
