import { sleep, struck } from "./injections.ts";
import { withQueues } from "./lane-queues.ts";
import { goBack } from "./ledger-injections.ts";
import { editByHand, editSale, jumpAndReturn } from "./operator-injections.ts";
import { type FaultRow, row } from "./row.ts";
import { ledgerWentBack } from "./rows-ledger.ts";

const hourSeconds = 3_600;

/** Clocks, backups and the hands of operators. */
export const operatorRows: readonly FaultRow[] = [
  row("T1", "the clocks of the processes jump by an hour, there and back", {
    ...{ apart: { front: "all", behind: "all" }, stage: { clock: "processes" } },
    may: "nothing",
    normalWithin: 1,
    inject: async ({ clocks, faultMs }) => {
      for (const seconds of [hourSeconds, -hourSeconds, 0]) {
        await Promise.all(clocks.map((clock) => clock.turn(seconds)));
        await sleep(faultMs / 3);
      }
    },
  }),
  row("T2", "the clock of the database jumps by two hours, and an operator puts it right", {
    stage: { clock: "ledger" },
    may: "nothing",
    normalWithin: 10,
    inject: jumpAndReturn,
  }),
  row("T3", "the time of every key of Redis is over", {
    may: "tickets",
    normalWithin: 5,
    inject: async ({ redis }) => {
      const keys = await redis.plain.keys("*");
      let gone = 0;
      for (const key of keys) gone += await redis.plain.pexpireat(key, 1);
      struck(gone);
    },
  }),
  row("T4", "the clocks of two processes are five seconds apart", {
    ...{ apart: { front: "all", behind: "all" }, stage: { clock: "processes" } },
    may: "nothing",
    normalWithin: 1,
    inject: async ({ clocks, faultMs }) => {
      await clocks[0]?.turn(5);
      await sleep(faultMs);
      await clocks[0]?.turn(0);
    },
  }),
  row("B1", "the ledger is restored from a backup, and hot stock is newer", {
    may: "tickets",
    stops: { finds: ledgerWentBack },
    normalWithin: 5,
    inject: (scene) => goBack(scene, 5_000),
  }),
  row("B2", "hot stock and the broker are wiped, the ledger is there", {
    bus: "rabbitmq",
    may: "tickets",
    normalWithin: 15,
    inject: async (scene) => {
      struck(await scene.redis.plain.dbsize());
      await withQueues(scene, (queues) => queues.drop());
      await scene.redis.plain.flushall();
    },
  }),
  // What was on its way to that SKU cannot be decided: sent again in vain, and void in the end.
  row("B3", "somebody edits a row of the ledger by hand", {
    may: "tickets",
    stops: { finds: ["leaked", "audit", "not-at-rest"] },
    normalWithin: 5,
    inject: editByHand,
  }),
  row("B4", "a sale is edited while it runs", {
    may: "nothing",
    normalWithin: 1,
    inject: editSale,
  }),
];
