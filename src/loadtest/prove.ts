import type { Clock } from "../clock.ts";
import { replay } from "./chain.ts";
import type { CrowdResult } from "./crowd.ts";
import { idsOf } from "./history.ts";
import type { Evidence, SkuEvidence } from "./judge.ts";
import type { Shop } from "./shop.ts";
import type { OrderFact, StoresFact, Witness } from "./witness.ts";

export const restMsMax = 30_000;
const restPollMs = 50;
const readersMax = 16;
const readTriesMax = 5;

export type Proving = {
  readonly crowd: CrowdResult;
  readonly buyers: number;
  readonly saleId: string;
  readonly run: string;
  /** Per SKU: what the one who opened the sale put there, and the version the run began at. */
  readonly skus: readonly SkuStart[];
  readonly before: StoresFact;
  readonly stores: () => Promise<StoresFact>;
  readonly witness: Witness;
  readonly shop: Shop;
  readonly clock: Clock;
  /** One more buyer asks for a unit at rest; not where the crowd was called away. */
  readonly asksAtRest: boolean;
};

export type SkuStart = {
  readonly sku: string;
  readonly stocked: number | null;
  readonly version: number;
};

/** Waits for rest, asks once more at the door, and reads the ledger from its first entry. */
export async function gather(proving: Proving): Promise<Evidence> {
  const first = await rest(proving);
  // Where nothing comes to rest, nobody has to wait for it twice.
  const refused = first.isAtRest ? await askAtRest(proving) : new Map<string, string>();
  const { stores: after, isAtRest } = first.isAtRest ? await rest(proving) : first;
  const skus = [];
  for (const start of proving.skus) skus.push(await skuEvidence(start, proving, refused));
  return {
    crowd: proving.crowd,
    buyers: proving.buyers,
    skus,
    orders: await orders(proving, skus),
    before: proving.before,
    after,
    isAtRest,
    audit: await proving.witness.audit(proving.skus.map(({ sku }) => sku)),
  };
}

/** Nothing in flight and nothing behind; bounded, and then it says that it was not so. */
async function rest({
  stores,
  clock,
}: Proving): Promise<{ stores: StoresFact; isAtRest: boolean }> {
  const untilMs = clock.mono() + restMsMax;
  for (;;) {
    const found = await stores();
    const isAtRest = found.behind === 0 && found.inFlight === 0 && found.closed === 0;
    if (isAtRest || clock.mono() >= untilMs) return { stores: found, isAtRest };
    await clock.sleep(restPollMs);
  }
}

/** The code of the refusal per SKU that still has units on sale. What is got is given back. */
async function askAtRest(proving: Proving): Promise<ReadonlyMap<string, string>> {
  const { shop, witness, saleId, run } = proving;
  const refused = new Map<string, string>();
  if (!proving.asksAtRest) return refused;
  for (const [index, { sku }] of proving.skus.entries()) {
    const level = await witness.level(sku);
    if (level === null || level.buckets.available <= 0) continue;
    const buyerId = `${run}-last`;
    const told = await shop.reserve(`${run}-last${index}`, {
      saleId,
      buyerId,
      sku,
      quantity: 1,
    });
    if (told.kind === "refused") refused.set(sku, told.what);
    if (told.id !== null && told.kind !== "refused") await shop.cancel(told.id);
  }
  return refused;
}

/** Others may buy meanwhile: read again until row and entries are of one moment. */
async function skuEvidence(
  { sku, stocked, version }: SkuStart,
  { witness }: Proving,
  refused: ReadonlyMap<string, string>,
): Promise<SkuEvidence> {
  for (let tries = 1; ; tries++) {
    const played = await replay(witness.entries(sku), { version });
    const level = await witness.level(sku);
    if (level === null) throw new Error(`the ledger has no SKU ${sku}`);
    if (level.version === played.version || tries >= readTriesMax) {
      return { sku, stocked, level, replay: played, refusedAtRest: refused.get(sku) ?? null };
    }
  }
}

/** Every order that a buyer was told of or that has an entry, as the ledger knows it. */
async function orders(
  { crowd, witness }: Proving,
  skus: readonly SkuEvidence[],
): Promise<Map<string, OrderFact | null>> {
  const told = crowd.records.flatMap(idsOf);
  const entered = skus.flatMap((one) => [...one.replay.orders.keys()]);
  const ids = new Set([...told, ...entered]).values();
  const found = new Map<string, OrderFact | null>();
  const reader = async (): Promise<void> => {
    for (const id of ids) found.set(id, await witness.order(id));
  };
  await Promise.all(Array.from({ length: readersMax }, reader));
  return found;
}
