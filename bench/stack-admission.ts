import { makeReservationId } from "../src/domain/reservation-id.ts";
import type { ReserveTicket } from "../src/domain/ticket.ts";
import { plenty } from "./committed.ts";
import { countedLoop, rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { StackRecipe } from "./stack-recipe.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import {
  BrokenInvariant,
  openSale,
  openWorldOn,
  requestOf,
  type Sale,
  type World,
} from "./world.ts";

/** What one run admits: below what a lane may hold, because nothing drains it. */
const admittedPerRun = 40_000;

const admitted = { name: "admitted on Redis", unit: "tickets/s" } as const;

/** The admission engine in this process, on a Redis of its own; nothing behind it runs. */
export async function stackAdmissionRows(scale: Scale): Promise<Row[]> {
  await using servers = await startServers();
  const count = Math.min(admittedPerRun, scale.count * 20);
  const ours = (callers: number) => admittedRate(servers, { callers, count }, batched);
  const callers = await best(scale.ourCallers, ours);
  const bare = (at: number) => bareRate(servers, { callers: at, count });
  const bareCallers = await best(scale.recipeCallers, bare);
  const versusBare: Plain = {
    ...admitted,
    baselineName: "the recipe's bare script, one call each",
    target: { of: "ratio", is: ">=", bound: 1.8 },
    note: `${callers} callers against ${bareCallers}`,
  };
  const alone = (at: number) => admittedRate(servers, { callers: at, count }, oneByOne);
  const aloneCallers = await best(scale.ourCallers, alone);
  const versusAlone: Plain = {
    ...admitted,
    baselineName: "our script, one call each",
    target: { of: "ratio", is: ">=", bound: 3 },
    note: `${callers} callers against ${aloneCallers}`,
  };
  const against = (plain: Plain, baseline: () => Promise<number>): Promise<Row> =>
    guarded(plain, async () => {
      return rowOf(plain, await inPairs(scale.pairs, () => ours(callers), baseline));
    });
  return [
    await against(versusBare, () => bare(bareCallers)),
    await against(versusAlone, () => alone(aloneCallers)),
  ];
}

type Load = { readonly callers: number; readonly count: number };
type Admit = (world: World, ticket: ReserveTicket) => Promise<string>;

async function admittedRate(servers: Servers, load: Load, admit: Admit): Promise<number> {
  await servers.redis.plain.flushall();
  // No relay: tickets stay in the outbox, and only admission is measured.
  await using world = await openWorldOn({
    ledgerUrl: "sqlite::memory:",
    hotUrl: servers.redis.url,
    roles: ["api", "reconciler"],
  });
  const sale = await openSale(world, { name: "rush", stock: plenty });
  const tally = await countedLoop(load, async (n) => {
    const kind = await admit(world, ticketOf(world, sale, n));
    if (kind !== "admitted") throw new BrokenInvariant(`a ticket was ${kind}`);
  });
  await proveHeld(world, sale, tally.answered);
  return rateOf(tally);
}

const batched: Admit = async ({ holdfast }, ticket) => {
  return (await holdfast.parts.admissions.admit(0, ticket)).kind;
};

const oneByOne: Admit = async ({ holdfast }, ticket) => {
  const { fences, hot } = holdfast.parts;
  const fence = fences.get(0);
  if (fence === null) return "closed";
  const reply = await hot.admit(fence, [ticket]);
  return reply.closed ? "closed" : (reply.value[0]?.kind ?? "nothing");
};

function ticketOf({ holdfast }: World, sale: Sale, n: number): ReserveTicket {
  const { saleId, buyerId, idempotencyKey, lines } = requestOf(sale, n);
  const named = { lane: 0, saleId, buyerId, idempotencyKey };
  const id = makeReservationId(holdfast.parts.idSecret, named);
  const fingerprint = `${sale.sku}*1`;
  return { kind: "reserve", id, fingerprint, lines, saleId, buyerId, idempotencyKey };
}

/** Each ticket is held once, and its unit is off the stock. */
async function proveHeld({ holdfast }: World, sale: Sale, count: number): Promise<void> {
  const { tickets, outboxLength, skus } = await holdfast.parts.hot.observe(0, [sale.sku]);
  const [level] = skus;
  const isWhole =
    tickets === count &&
    outboxLength >= count &&
    level?.inFlight === count &&
    level.available === plenty - count;
  if (!isWhole) throw new BrokenInvariant(`${count} were admitted, hot stock holds ${tickets}`);
}

async function bareRate(servers: Servers, load: Load): Promise<number> {
  const recipe = await StackRecipe.open({ servers, stock: plenty, connections: 1 });
  try {
    const tally = await countedLoop(load, async () => {
      if (!(await recipe.decrease())) throw new BrokenInvariant("the bare script refused");
    });
    return rateOf(tally);
  } finally {
    await recipe.close();
  }
}
