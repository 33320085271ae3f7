import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import { SqlLedger } from "../../src/ledger/sql-ledger.ts";
import { openSqlite, type SqliteDatabase } from "../../src/ledger/sqlite.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { units } from "../support/at-rest.ts";
import { beforeEachCall, slowWrites } from "../support/bent-ports.ts";
import { isOnStack, test } from "../support/embedded-cases.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { temporaryFile } from "../support/temporary-file.ts";

const pauseMs = 50;
const buyers = Array.from({ length: 200 }, (_, n) => n);

/** Four processes, each with its own connections, slow between any check and its write. */
async function openSlowShop(): Promise<Shop> {
  const file = temporaryFile();
  await (await openSqliteLedger(file, { clock: systemClock })).close();
  const databases: SqliteDatabase[] = [];
  for (let n = 0; n < 4; n += 1) {
    const database = await openSqlite(file, { readOnly: false, pause: () => Promise.resolve() });
    onTestFinished(() => database.close());
    databases.push(database);
  }
  const slow = (stores: Stores, process: number): Stores => {
    const { clock } = stores;
    const database = databases[process];
    if (database === undefined) throw new Error("one database a process");
    const pause = (): Promise<void> => clock.sleep(pauseMs);
    const hot = beforeEachCall(stores.hot, pause);
    // On servers every process has connections of its own already.
    if (isOnStack) return { ...stores, hot };
    return { ...stores, ledger: new SqlLedger(slowWrites(database, clock, pauseMs), clock), hot };
  };
  const shop = await openShop({ stock: { A: 1 }, file, processes: databases.length, stores: slow });
  // A bus gives each lane one consumer at a time.
  for (const process of shop.processes.slice(1)) void process.stop("ledger-writer");
  return shop;
}

/** Every process in turn; what is still pending at first is looked up at rest. */
async function rush(shop: Shop): Promise<readonly string[]> {
  const told = await Promise.all(
    buyers.map(async (n) => {
      const process = shop.processes[n % shop.processes.length] ?? shop.first;
      const request = { key: `k${n}`, buyer: `u${n}`, cart: [["A", 1]] as const };
      return shop.reserveAt(process, { ...request, waitMs: 0 });
    }),
  );
  await shop.settle();
  const final = told.map(async ({ answer, state, id }) => {
    if (state !== "pending") return answer;
    const view = await shop.view(id);
    return view.code ?? view.state;
  });
  return Promise.all(final);
}

test("C01 of 200 buyers through 4 slow processes one gets the last unit", async () => {
  const shop = await openSlowShop();
  const answers = await rush(shop);
  expect(answers.filter((answer) => answer === "reserved")).toHaveLength(1);
  expect(answers.filter((answer) => answer === "SOLD_OUT")).toHaveLength(199);
  expect((await shop.ledger.counts()).orders).toEqual({ reserved: 1 });
  await shop.atRest({ A: units({ R: 1, T: 1 }) });
});

test("C01 a hot stock that admits too many makes late refusals, and no second sale", async () => {
  const shop = await openSlowShop();
  for (const process of shop.processes) void process.stop("reconciler");
  // The one in the middle of its round ends it.
  await shop.passes(2_000);
  await shop.hand.editHot("A", (sku) => {
    sku.available += 9;
  });
  const answers = await rush(shop);
  expect(answers.filter((answer) => answer === "reserved")).toHaveLength(1);
  expect(answers.filter((answer) => answer === "SOLD_OUT")).toHaveLength(199);
  expect((await shop.ledger.counts()).orders).toEqual({ reserved: 1, rejected: 9 });
  expect((await shop.reconcile()).drift).toBe(9);
  for (const process of shop.processes) process.start("reconciler");
  await shop.passes(5_000);
  await shop.atRest({ A: units({ R: 1, T: 1 }) }, { repairs: 1, lateRefusals: 9 });
});
