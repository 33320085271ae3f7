import { plenty, reserve } from "./committed.ts";
import { medianOf } from "./latency.ts";
import { guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { startServers } from "./stack-servers.ts";
import { openSale, openWorldOn, prove } from "./world.ts";

const plain: Plain = {
  name: "a lone request that another process decides",
  unit: "ms",
  baselineName: "asking the ledger every 50 ms",
  target: null,
  note: "lower is better",
};

/** Buyers come to a process that decides nothing; one that hears beside one that only asks. */
export async function stackAnswersRow(scale: Scale): Promise<Row> {
  return guarded(plain, async () => {
    await using servers = await startServers();
    const { url } = servers.redis;
    const stores = { ledgerUrl: await servers.freshDatabase(), hotUrl: url, busUrl: url };
    await using deciding = await openWorldOn({
      ...stores,
      roles: ["relay", "writer", "expirer", "reconciler"],
    });
    await using hearing = await openWorldOn({ ...stores, roles: ["api"] });
    await using asking = await openWorldOn({ ...stores, roles: ["api"], hearsDecisions: false });
    const sale = await openSale(deciding, { name: "apart", stock: plenty });
    const turn = Math.max(1, Math.floor(scale.count / 20));
    let buyers = 0;
    const pairs = await inPairs(
      scale.pairs,
      () => medianOf(turn, () => reserve(hearing, sale, buyers++)),
      () => medianOf(turn, () => reserve(asking, sale, buyers++)),
    );
    await prove(deciding, { sale, reserved: buyers });
    return rowOf(plain, pairs);
  });
}
