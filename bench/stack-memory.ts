import { guarded, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { type Servers, startServers } from "./stack-servers.ts";
import { openUndrained, proveHeld } from "./stack-undrained.ts";
import { BrokenInvariant, prove, ticketOf } from "./world.ts";

const batchSize = 100;

const ticket: Plain = {
  name: "Redis for each open ticket",
  unit: "bytes",
  baselineName: null,
  target: { of: "value", is: "<=", bound: 300 },
};
const decision: Plain = {
  name: "Redis for each decision kept",
  unit: "bytes",
  baselineName: null,
  target: { of: "value", is: "<=", bound: 120 },
};

/** What tickets in flight take of Redis, and what is kept of them once all is drained. */
export async function stackMemoryRows(scale: Scale): Promise<Row[]> {
  await using servers = await startServers();
  const count = scale.count * 10;
  const found = { ticket: Number.NaN, decision: Number.NaN };
  const note = `${count} orders of one line, as the server counts its memory`;
  const open = await guarded(ticket, async () => {
    const place = await openUndrained(servers);
    const before = await usedMemory(servers);
    const { parts } = place.world.holdfast;
    for (let from = 0; from < count; from += batchSize) {
      const each = Array.from({ length: Math.min(batchSize, count - from) }, (_, n) => from + n);
      const admit = (n: number) =>
        parts.admissions.admit(place.lane, ticketOf(place.world, place, n));
      const replies = await Promise.all(each.map(admit));
      if (replies.some(({ kind }) => kind !== "admitted"))
        throw new BrokenInvariant("not admitted");
    }
    await proveHeld(parts.hot, { ...place, count });
    found.ticket = ((await usedMemory(servers)) - before) / count;
    await place[Symbol.asyncDispose]();
    await using draining = await place.openDraining();
    await prove(draining, { sale: place.sale, reserved: count });
    found.decision = ((await usedMemory(servers)) - before) / count;
    return rowOf({ ...ticket, note }, [{ ours: found.ticket, baseline: null }]);
  });
  if (open.ours === null) return [open];
  return [open, rowOf({ ...decision, note }, [{ ours: found.decision, baseline: null }])];
}

async function usedMemory({ redis }: Servers): Promise<number> {
  const info = await redis.plain.info("memory");
  return Number(/used_memory:(\d+)/.exec(info)?.[1]);
}
