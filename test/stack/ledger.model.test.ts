import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { skuId } from "../../src/domain/values.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { leaseOf, moveSale, nextEpoch } from "../support/ledger-fixtures.ts";
import { firstSale, namesOf, type Step, steps } from "../support/ledger-random-commands.ts";
import { type LedgerServer, ledgerServers, openServerLedger } from "../support/ledger-servers.ts";

/** More of them: LEDGER_RUNS=10000. A failure prints its seed; LEDGER_SEED tells it again. */
const seed = process.env["LEDGER_SEED"];
const runMsMax = 2_000;
/** Stories of one pair of ledgers: what is compared is all that they hold, so they stay small. */
const runsTogether = 50;
/** A seed is that of one pair. */
const runs = seed === undefined ? Number(process.env["LEDGER_RUNS"] ?? 200) : runsTogether;

describe.each(ledgerServers())("a ledger on $name beside one on SQLite", (server) => {
  it(
    `answers ${runs} random stories alike, and is left with the same content`,
    async () => {
      for (let told = 0; told < runs; told += runsTogether) {
        await tellStories(server, Math.min(runsTogether, runs - told));
      }
    },
    runs * runMsMax,
  );
});

async function tellStories(server: LedgerServer, count: number): Promise<void> {
  const clock = new ManualClock();
  const now = () => clock.now();
  await using model = closing(await openSqliteLedger(":memory:", { clock }));
  await using real = closing(await openServerLedger(server, { now }));
  for (const { ledger } of [model, real]) {
    const [row] = await ledger.lanes();
    if (row !== undefined) await nextEpoch(ledger, row, "first");
  }
  let story = 0;
  // The names are new in each story, so both ledgers go on where the last one ended.
  const property = fc.asyncProperty(steps("Z."), async (all) => {
    story += 1;
    const prefix = `p${story}.`;
    const said = JSON.parse(JSON.stringify(all).replaceAll("Z.", prefix)) as Step[];
    const begun: Step = {
      kind: "commit",
      commands: [firstSale(prefix), moveSale(`${prefix}s1`, "open")],
    };
    for (const step of [begun, ...said]) {
      if (step.kind === "pass") clock.advance(step.ms);
      const [expected, found] = [await tell(model.ledger, step), await tell(real.ledger, step)];
      expect(found).toEqual(expected);
    }
    expect(await dumpOf(real.ledger, prefix)).toEqual(await dumpOf(model.ledger, prefix));
  });
  await fc.assert(property, {
    numRuns: count,
    // Stories build on one another: a shorter one would begin elsewhere.
    endOnFailure: true,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  });
  expect(await real.ledger.counts()).toEqual(await model.ledger.counts());
  expect(await real.ledger.lanes()).toEqual(await model.ledger.lanes());
  expect(await real.ledger.verify(null)).toEqual(await model.ledger.verify(null));
}

function closing(ledger: Ledger): AsyncDisposable & { readonly ledger: Ledger } {
  return { ledger, [Symbol.asyncDispose]: () => ledger.close() };
}

/** What it answers, or in which way it refuses to. */
async function tell(ledger: Ledger, step: Step): Promise<unknown> {
  if (step.kind === "pass") return null;
  try {
    if (step.kind === "commit") return await ledger.commit(step.commands);
    const lease = await leaseOf(ledger, "publisher");
    await ledger.published([{ sku: skuId(step.sku), version: step.version }], lease);
    return null;
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

/** Everything that can be read about the names of a story. */
async function dumpOf(ledger: Ledger, prefix: string): Promise<unknown> {
  const { skus, orders, sales, acts } = namesOf(prefix);
  const query = { after: 0, limit: 1000, from: null, to: null };
  const of = <Id, T>(ids: readonly Id[], read: (id: Id) => Promise<T>): Promise<T[]> =>
    Promise.all(ids.map(read));
  const scopes = [
    ...skus.map((id) => `sku:${id}`),
    ...orders.flatMap((id) => [`order:${id}`, `payment:${id}`]),
    ...sales.map((id) => `sale:${id}`),
  ];
  const snapshot = await ledger.snapshot(0, orders);
  const isOurs = (id: string | null): boolean => id?.startsWith(prefix) ?? false;
  return {
    levels: await ledger.levels(skus),
    entries: await of(skus, (id) => ledger.entries(id, query)),
    projected: await of(skus, (id) => ledger.entriesAfter(id, 0, 1000)),
    damage: await ledger.bucketDamage(skus),
    views: await of(orders, (id) => ledger.order(id)),
    movements: await of(orders, (id) => ledger.orderEntries(id)),
    sales: await of(sales, (id) => ledger.sale(id)),
    ended: await ledger.endedSales(sales),
    operations: await of(scopes, (scope) => of(acts, (id) => ledger.operation(scope, id))),
    settled: inOrder(await ledger.settled(0, orders)),
    snapshot: {
      levels: inOrder(snapshot.levels.filter(({ sku }) => isOurs(sku))),
      policies: inOrder(snapshot.policies.filter(({ saleId }) => isOurs(saleId))),
      buyers: inOrder(snapshot.buyers.filter(({ buyerId }) => isOurs(buyerId))),
      answers: inOrder(snapshot.answers.filter(({ id }) => isOurs(id))),
      decided: [...snapshot.decided].sort(),
    },
    due: await ledger.dueHolds(null, 100),
    told: (await ledger.unpublished(100)).length,
    found: await of([...orders, ...skus, ...sales, ...acts], async (id) => {
      return inOrder(await ledger.search(id, 20));
    }),
    audits: await ledger.auditLog({
      ...{ actor: null, action: null, subject: null, from: null, to: null, before: null },
      limit: 50,
    }),
  };
}

/** For answers that promise no order. */
function inOrder<T>(list: readonly T[]): readonly T[] {
  const words = (each: T): string => JSON.stringify(each);
  return list.toSorted((a, b) => (words(a) < words(b) ? -1 : 1));
}
