import { laneTag, slotOf } from "../src/redis/lane-tag.ts";
import type { PrivateRedis } from "../stack/redis.ts";
import type { PrivateRedisCluster } from "../stack/redis-cluster.ts";
import { ends, sleep, struck, until } from "./injections.ts";
import { numbersOf } from "./query.ts";
import type { Scene } from "./scene.ts";

const halfWayMs = 500;
const stuckMs = 3_000;

/** An operator looks at it for a while, and ends the server: nothing else can. */
export async function stuckScript({ redis }: Scene): Promise<void> {
  const once = { autoResendUnfulfilledCommands: false, retryStrategy: () => null };
  const [stuck, operator] = [redis.plain.duplicate(once), redis.plain.duplicate(once)];
  for (const each of [stuck, operator]) each.on("error", () => undefined);
  const script = "redis.call('set', KEYS[1], 'x') while true do end";
  void stuck.eval(script, 1, "stuck").catch(() => undefined);
  const isBusy = (): Promise<boolean> =>
    operator.ping().then(
      () => false,
      (error: unknown) => String(error).includes("BUSY"),
    );
  struck((await until(isBusy)) ? 1 : 0);
  await sleep(stuckMs);
  await operator.call("SHUTDOWN", "NOSAVE").catch(() => undefined);
  await ends(redis.ended);
  for (const each of [stuck, operator]) each.disconnect();
  await redis.restart();
}

/** How many lanes with something in them have moved, with a stop half-way. */
export async function moveLanes(scene: Scene): Promise<number> {
  const { cluster } = scene;
  let moved = 0;
  for (const lane of await lanesInUse(scene)) {
    const slot = slotOf(laneTag(lane));
    const from = await primaryOf(cluster, slot);
    const to = cluster.primaries.find((each) => each !== from);
    if (to === undefined) throw new Error("one primary only");
    await cluster.moveSlot(slot, [from, to], async () => {
      moved += 1;
      await sleep(halfWayMs);
    });
  }
  return moved;
}

/** The election of its replica is part of the time until all is as usual. */
export async function killLanePrimary(scene: Scene): Promise<void> {
  const [lane = 0] = await lanesInUse(scene);
  const primary = await primaryOf(scene.cluster, slotOf(laneTag(lane)));
  struck(await primary.plain.dbsize());
  await primary.crash();
}

function lanesInUse(scene: Scene): Promise<readonly number[]> {
  return scene.sql((query) => numbersOf(query, "select distinct lane from inventory"));
}

/** By the cluster's own word. */
async function primaryOf(cluster: PrivateRedisCluster, slot: number): Promise<PrivateRedis> {
  const shares = (await cluster.primaries[0]?.plain.cluster("SLOTS")) ?? [];
  const share = shares.find(([first, last]) => first <= slot && slot <= last);
  const port = Number(share?.[2]?.[1]);
  const found = cluster.primaries.find((each) => each.port === port);
  if (found === undefined) throw new Error(`nobody has slot ${slot}`);
  return found;
}
