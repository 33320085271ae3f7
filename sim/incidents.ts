import { openEnvelope, sealEnvelope } from "../src/domain/message.ts";
import type { LaneState } from "../src/hot-stock/lane-state.ts";
import type { Incident } from "./plan.ts";
import type { World } from "./world.ts";

/** What each incident of the plan does to the world. */
export function befall(world: World, incident: Incident): void {
  const { kind, ms, pick } = incident;
  world.network.trace.note(`!! ${incident.name}`);
  switch (kind) {
    case "node.kill":
      world.kill(pick, ms);
      return;
    case "node.killAll":
      for (const node of [...world.nodes]) world.kill(node.index, ms);
      return;
    case "node.pause": {
      const node = world.nodeAt(pick);
      if (node !== undefined) node.pausedUntil = world.scheduler.now + ms;
      return;
    }
    case "node.cut": {
      const node = world.nodeAt(pick);
      const port = (["hot", "ledger", "bus"] as const)[Math.floor(pick / 7) % 3] ?? "hot";
      if (node !== undefined) node.cutUntil[port] = world.scheduler.now + ms;
      return;
    }
    case "hot.pause":
    case "ledger.pause":
    case "bus.pause": {
      const port = kind === "hot.pause" ? "hot" : kind === "ledger.pause" ? "ledger" : "bus";
      world.network.pause(port, ms);
      return;
    }
    case "operator.rebuild":
      world.rebuildForNothing(pick);
      return;
    default:
      befallStores(world, incident);
      return;
  }
}

function befallStores(world: World, { kind, ms, pick }: Incident): void {
  const lane = pick % world.plan.lanes;
  switch (kind) {
    case "bus.redeliver":
      world.broker.redeliver(lane);
      return;
    case "bus.compete":
      world.broker.competingUntil = world.scheduler.now + ms;
      return;
    case "bus.purge":
      void world.broker.purge(lane);
      return;
    case "bus.forge":
      forge(world, lane, pick);
      return;
    case "hot.trimOutbox":
      world.hot.tamper(lane, (state) => state.outbox.clear());
      return;
    case "hot.flush":
      world.lose();
      world.hot.flush();
      return;
    case "hot.restart":
      world.lose();
      world.hot.restart();
      return;
    case "hot.fork":
    case "hot.ahead":
      forkOff(world, { lane, pick, versions: kind === "hot.fork" ? 0 : 1 + (pick % 3) });
      return;
    case "hot.rollback":
      world.lose();
      world.rollBack();
      return;
    default:
      world.tampered(lane);
      world.hot.tamper(lane, (state) => {
        tamper(state, kind, pick);
        world.auditor.hot.forgetForks(lane, state);
      });
      return;
  }
}

/** A message that nobody signed, that was changed on the way, or that stands in no lane. */
function forge(world: World, lane: number, pick: number): void {
  const [key] = world.messageKeys;
  if (key === undefined) return;
  const secret = Buffer.from(key.secret).reverse();
  const item = { kind: "void", id: `${lane}.x`, ticket: null, reason: "forged" } as const;
  const envelope = { lane, epoch: world.firstEpoch, sentAt: 0, items: [item] };
  const genuine = sealEnvelope(envelope, world.messageKeys);
  const bodies = [
    Buffer.from("{}"),
    sealEnvelope(envelope, [{ ...key, secret }]),
    genuine.subarray(0, genuine.length - 1),
    sealEnvelope({ ...envelope, lane: lane + 1 }, world.messageKeys),
  ];
  const body = bodies[pick % bodies.length];
  if (body === undefined) return;
  world.forged += 1;
  openEnvelope(genuine, world.messageKeys);
  void world.bus.publish(lane, body);
}

function forkOff(
  world: World,
  { lane, pick, versions }: { readonly lane: number; readonly pick: number; versions: number },
): void {
  const state = world.state(lane);
  if (state === null || state.rebuilding) return;
  const found = at([...state.skus], pick);
  if (found === undefined) return;
  const [sku, hot] = found;
  hot.version += versions;
  hot.hash = "f".repeat(64);
  world.tampered(lane);
  world.forked(lane, { sku, version: hot.version, hash: hot.hash });
}

function tamper(state: LaneState, kind: Incident["kind"], pick: number): void {
  const sku = at([...state.skus.values()], pick);
  switch (kind) {
    case "hot.corrupt":
      if (sku !== undefined) sku.available += (pick % 2 === 0 ? 1 : -1) * (1 + (pick % 7));
      return;
    case "hot.dropSku":
      drop(state.skus, pick);
      return;
    case "hot.dropPolicy":
      drop(state.policies, pick);
      return;
    case "hot.dropOverlay":
      if (sku !== undefined) drop(sku.overlay, pick);
      return;
    case "hot.dropTicket":
      drop(state.tickets, pick);
      return;
    case "hot.dropAnswer":
      drop(state.answers, pick);
      return;
    case "hot.dropBuyers":
      sku?.buyers.clear();
      return;
    default:
      return;
  }
}

function drop<K, V>(map: Map<K, V>, pick: number): void {
  const key = at([...map.keys()], pick);
  if (key !== undefined) map.delete(key);
}

function at<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(1, list.length)];
}
