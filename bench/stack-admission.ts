import type { ReserveTicket } from "../src/domain/ticket.ts";
import { plenty } from "./committed.ts";
import { countedLoop, rateOf } from "./load.ts";
import { best, guarded, inPairs, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { StackRecipe } from "./stack-recipe.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { openUndrained, proveHeld, type Undrained } from "./stack-undrained.ts";
import { BrokenInvariant, ticketOf } from "./world.ts";

/** What one run admits: below what a lane may hold, because nothing drains it. */
const admittedPerRun = 40_000;

const admitted = { name: "admitted on Redis, in process", unit: "tickets/s" } as const;

/** The admission engine in this process, on a Redis of its own; nothing behind it runs. */
export async function stackAdmissionRows(scale: Scale): Promise<Row[]> {
  await using servers = await startServers();
  const count = Math.min(admittedPerRun, scale.count * 20);
  const tried = { servers, count: count / 4 };
  const ours = (callers: number) => admittedRate({ ...tried, callers }, batched);
  const callers = await best(scale.ourCallers, ours);
  const bareCallers = await best(scale.recipeCallers, (at) => bareRate({ ...tried, callers: at }));
  const alone = (at: number) => admittedRate({ ...tried, callers: at }, oneByOne);
  const aloneCallers = await best(scale.recipeCallers, alone);
  const load = { servers, count };
  const row = (versus: Pick<Plain, "baselineName" | "target" | "note">, rate: Rate) => {
    const plain: Plain = { ...admitted, ...versus };
    return guarded(plain, async () => {
      const own = () => admittedRate({ ...load, callers }, batched);
      return rowOf(plain, await inPairs(scale.pairs, own, rate));
    });
  };
  const versusBare = {
    baselineName: "the recipe's bare script, one call each",
    target: { of: "ratio", is: ">=", bound: 1.8 },
    note: `${callers} callers against ${bareCallers}`,
  } as const;
  const versusAlone = {
    baselineName: "our script, one call each",
    target: { of: "ratio", is: ">=", bound: 3 },
    note: `${callers} callers against ${aloneCallers}`,
  } as const;
  return [
    await row(versusBare, () => bareRate({ ...load, callers: bareCallers })),
    await row(versusAlone, () => admittedRate({ ...load, callers: aloneCallers }, oneByOne)),
  ];
}

type Rate = () => Promise<number>;
type Load = { readonly servers: Servers; readonly callers: number; readonly count: number };
type Admit = (place: Undrained, ticket: ReserveTicket) => Promise<string>;

async function admittedRate({ servers, ...load }: Load, admit: Admit): Promise<number> {
  await using place = await openUndrained(servers);
  // Made before the clock starts, as the recipe has none to make.
  const tickets = Array.from({ length: load.count }, (_, n) => ticketOf(place.world, place, n));
  const tally = await countedLoop(load, async (n) => {
    const ticket = tickets[n];
    if (ticket === undefined) return;
    const kind = await admit(place, ticket);
    if (kind !== "admitted") throw new BrokenInvariant(`a ticket was ${kind}`);
  });
  await proveHeld(place.world.holdfast.parts.hot, { ...place, count: tally.answered });
  return rateOf(tally);
}

const batched: Admit = async ({ world, lane }, ticket) => {
  return (await world.holdfast.parts.admissions.admit(lane, ticket)).kind;
};

const oneByOne: Admit = async ({ world, lane }, ticket) => {
  const { fences, hot } = world.holdfast.parts;
  const fence = fences.get(lane);
  if (fence === null) return "closed";
  const reply = await hot.admit(fence, [ticket]);
  return reply.closed ? "closed" : (reply.value[0]?.kind ?? "nothing");
};

async function bareRate({ servers, ...load }: Load): Promise<number> {
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
