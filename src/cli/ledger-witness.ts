import { reservationId, skuId } from "../domain/values.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EntryFact, LevelFact, OrderFact, Witness } from "../loadtest/witness.ts";

const pageLimit = 1_000;

/** The ledger itself, over a connection of its own: for a judge beside the file. */
export function ledgerWitness(ledger: Ledger): Witness {
  return {
    level: (sku) => level(ledger, sku),
    entries: (sku) => entries(ledger, sku),
    order: (id) => order(ledger, id),
    audit: async (skus) => {
      const facts = [];
      for (const sku of skus) facts.push(await ledger.verify(skuId(sku)));
      const broken = facts.find(({ ok }) => !ok)?.firstBroken ?? null;
      return {
        ok: facts.every(({ ok }) => ok),
        entries: facts.reduce((total, one) => total + one.entries, 0),
        firstBroken: broken && `${broken.sku} ${broken.version}: ${broken.what}`,
      };
    },
  };
}

async function level(ledger: Ledger, sku: string): Promise<LevelFact | null> {
  const row = await ledger.level(skuId(sku));
  return row && { sku, version: row.version, hash: row.hash, buckets: row.balances };
}

async function* entries(ledger: Ledger, sku: string): AsyncIterable<EntryFact> {
  for (let after = 0; ; ) {
    const query = { after, limit: pageLimit, from: null, to: null };
    const page = await ledger.entries(skuId(sku), query);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageLimit) return;
    after = last.version;
  }
}

async function order(ledger: Ledger, id: string): Promise<OrderFact | null> {
  const found = await ledger.order(reservationId(id));
  if (found === null) return null;
  const { state, lines } = found.order;
  const refunded = lines.map((line) => ({
    sku: line.sku,
    quantity: line.restocked + line.writtenOff,
  }));
  return { id, state, lines, refunded };
}
