import type { Command } from "../src/domain/command.ts";
import { epoch, reservationId, saleId, skuId } from "../src/domain/values.ts";
import { openMysqlLedger } from "../src/ledger/mysql-ledger.ts";
import { plenty } from "./committed.ts";
import { closedLoop, rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { StackRecipe } from "./stack-recipe.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { BrokenInvariant, requestOf, type Sale } from "./world.ts";

const plain: Plain = {
  name: "group commit on MariaDB, one SKU",
  unit: "orders/s",
  baselineName: "the recipe's transaction, one an order",
  target: { of: "ratio", is: ">=", bound: 20 },
};
const groups = [200, 500, 1_000] as const;
const recipeConnections = [1, 4, 16, 64] as const;

/** The ledger alone: orders of one SKU, decided and flushed by groups. */
export async function stackCommittedRow(scale: Scale): Promise<Row> {
  return guarded(plain, async () => {
    await using servers = await startServers();
    const short = { ...scale, seconds: scale.seconds / 2 };
    const size = await best(groups, (group) => groupRate(servers, short, group));
    const connections = await best(recipeConnections, (count) =>
      transactionRate(servers, short, count),
    );
    const pairs = await inPairs(
      scale.pairs,
      () => groupRate(servers, scale, size),
      () => transactionRate(servers, scale, connections),
    );
    const note = `groups of ${size} against ${connections} connections`;
    return rowOf({ ...plain, note }, pairs);
  });
}

const sale: Sale = { saleId: saleId("rush"), sku: skuId("rush-sku") };

async function groupRate(servers: Servers, scale: Scale, size: number): Promise<number> {
  const ledger = await openMysqlLedger(await servers.freshDatabase());
  try {
    await ledger.commit([createSale, openSale]);
    let next = 0;
    const { seconds } = await closedLoop({ callers: 1, seconds: scale.seconds }, async () => {
      const commands = Array.from({ length: size }, () => orderOf(next++));
      const { results } = await ledger.commit(commands);
      if (results.some(({ status }) => status !== "accepted")) {
        throw new BrokenInvariant("an order was not accepted");
      }
    });
    const [level, proof] = [await ledger.level(sale.sku), await ledger.verify(sale.sku)];
    if (level?.balances.reserved !== next) throw new BrokenInvariant("orders and units differ");
    if (!proof.ok) throw new BrokenInvariant(`the chain is broken: ${proof.firstBroken?.what}`);
    return rateOf({ answered: next, seconds });
  } finally {
    await ledger.close();
  }
}

const createSale: Command = {
  kind: "create-sale",
  saleId: sale.saleId,
  title: "rush",
  opensAt: null,
  closesAt: null,
  holdMs: 3_600_000,
  limitPerBuyer: null,
  items: [{ sku: sale.sku, stock: plenty }],
  lane: 0,
  fingerprint: "rush",
  actor: "bench",
};
const openSale: Command = {
  ...{ kind: "sale-state", saleId: sale.saleId, to: "open", operationId: null, actor: "bench" },
};

function orderOf(n: number): Command {
  const { saleId: of, buyerId, idempotencyKey, lines } = requestOf(sale, n);
  // Random to look at, as real ids are: they come in no order.
  const id = reservationId(`0.${Math.imul(n + 1, 0x9e3779b1) >>> 0}.${n}.abcdefghijkl`);
  const ticket = { kind: "reserve", id, fingerprint: `${sale.sku}*1`, lines } as const;
  return {
    kind: "ticket",
    stamp: { lane: 0, epoch: epoch(0) },
    ticket: { ...ticket, saleId: of, buyerId, idempotencyKey },
    admittedAt: Date.now(),
    sentAt: Date.now(),
    attempt: 1,
  };
}

async function transactionRate(
  servers: Servers,
  scale: Scale,
  connections: number,
): Promise<number> {
  const recipe = await StackRecipe.open({ servers, stock: plenty, connections });
  try {
    const load = { callers: connections, seconds: scale.seconds };
    const tally = await closedLoop(load, async (n) => {
      if (!(await recipe.transact(n))) throw new BrokenInvariant("the recipe refused an order");
    });
    if ((await recipe.sold()) !== tally.answered) throw new BrokenInvariant("an order is missing");
    return rateOf(tally);
  } finally {
    await recipe.close();
  }
}
