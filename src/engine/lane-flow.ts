import type { Bus } from "../bus/bus.ts";
import { Fault } from "../domain/fault.ts";
import type { LaneFlow } from "./engine.ts";
import type { Parts } from "./parts.ts";

/** How much stands in each lane, between admission and decision. */
export async function flowOf(parts: Parts): Promise<readonly LaneFlow[]> {
  const flows: LaneFlow[] = [];
  for (let lane = 0; lane < parts.lanes; lane += 1) flows.push(await flowOfLane(parts, lane));
  return flows;
}

/** A broker that is away hides nothing else that is asked with it. */
export async function givenUpBy(bus: Bus): Promise<number | null> {
  try {
    return await bus.givenUp();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return null;
  }
}

async function flowOfLane({ hot, bus }: Parts, lane: number): Promise<LaneFlow> {
  try {
    const { open, tickets, outboxLength, outboxOldestAt, at } = await hot.observe(lane, []);
    const outboxOldestSeconds =
      outboxOldestAt === null ? 0 : Math.max(0, at - outboxOldestAt) / 1000;
    const lag = await bus.lag(lane);
    return { lane, open, tickets, outboxLength, outboxOldestSeconds, lag };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return {
      lane,
      open: false,
      tickets: 0,
      outboxLength: 0,
      outboxOldestSeconds: 0,
      lag: null,
    };
  }
}
