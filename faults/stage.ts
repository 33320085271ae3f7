import { type SqlServer, type SqlServerOptions, startMariadb } from "../stack/mariadb.ts";
import { PrivateRedis } from "../stack/redis.ts";
import { PrivateRedisCluster } from "../stack/redis-cluster.ts";
import { SmallDisk } from "../stack/small-disk.ts";
import { TurnedClock } from "../stack/turned-clock.ts";
import type { ServeStart } from "./serve-process.ts";

/** What a row needs besides what every row has. */
export type Stage = {
  /** More settings of Redis. */
  readonly redis?: readonly string[];
  /** What is on a disk of its own that can be full, of so many megabytes. */
  readonly disk?: { readonly of: "redis" | "ledger"; readonly megabytes: number };
  /** Hot stock on three primaries with a replica each, sixteen lanes. */
  readonly cluster?: boolean;
  /** Each process has a network of its own, so that it can be cut off alone. */
  readonly split?: boolean;
  /** Whose wall clock can be turned. */
  readonly clock?: "processes" | "ledger";
  /** How Node starts the process behind. */
  readonly nodeBehind?: readonly string[];
  /** With which failpoint each process lives from the beginning. */
  readonly failpoints?: { readonly front?: string; readonly behind?: string };
};

type End = () => Promise<unknown>;

/** The servers of one scene, and how each of them ends. */
export class StageServers {
  readonly redis: PrivateRedis;
  /** Null: the one that the rows share. */
  readonly ledger: SqlServer | null;
  readonly cluster: PrivateRedisCluster | null;
  readonly disk: SmallDisk | null;
  readonly clocks: readonly TurnedClock[];
  readonly #ends: readonly End[];

  private constructor(made: Omit<StageServers, "close">, ends: readonly End[]) {
    this.redis = made.redis;
    this.ledger = made.ledger;
    this.cluster = made.cluster;
    this.disk = made.disk;
    this.clocks = made.clocks;
    this.#ends = ends;
  }

  static async open(stage: Stage): Promise<StageServers> {
    const ends: End[] = [];
    const disk = stage.disk === undefined ? null : await SmallDisk.mount(stage.disk.megabytes);
    if (disk !== null) ends.push(() => disk.unmount());
    const clocks = await makeClocks(stage);
    for (const clock of clocks) ends.push(() => clock.remove());
    const redisDisk = stage.disk?.of === "redis" ? await disk?.place() : undefined;
    const settings = ["--enable-debug-command", "yes", ...(stage.redis ?? [])];
    const redis = await PrivateRedis.start(settings, redisDisk);
    ends.push(() => redis.stop());
    const cluster =
      stage.cluster === true ? await PrivateRedisCluster.start({ replicas: true }) : null;
    if (cluster !== null) ends.push(() => cluster.stop());
    const ledger = await ledgerOf(stage, { disk, clock: clocks[0] });
    if (ledger !== null) ends.push(() => ledger.stop());
    return new StageServers({ redis, ledger, cluster, disk, clocks }, ends);
  }

  async close(): Promise<void> {
    for (const end of [...this.#ends].reverse()) await end();
  }
}

async function makeClocks({ clock }: Stage): Promise<TurnedClock[]> {
  switch (clock) {
    case "processes":
      return [await TurnedClock.make(), await TurnedClock.make()];
    case "ledger":
      return [await TurnedClock.make()];
    default:
      return [];
  }
}

type Given = { readonly disk: SmallDisk | null; readonly clock: TurnedClock | undefined };

async function ledgerOf(stage: Stage, { disk, clock }: Given): Promise<SqlServer | null> {
  const settings = ["--max-connections=150"];
  let more: SqlServerOptions | null = null;
  if (stage.disk?.of === "ledger" && disk !== null) {
    more = { tables: await disk.place(), settings: [...settings, "--innodb-log-file-size=16M"] };
  }
  if (stage.clock === "ledger" && clock !== undefined) more = { settings, env: clock.env };
  return more === null ? null : startMariadb(more);
}

type Starts = Readonly<Record<"front" | "behind", Omit<ServeStart, "roles">>>;

/** How the two processes of a row start: the first is the buyers'. */
export function startsOf(stage: Stage, servers: StageServers): Starts {
  const [first, second] = stage.clock === "processes" ? servers.clocks : [];
  const { front = null, behind = null } = stage.failpoints ?? {};
  return {
    front: { node: [], env: first?.env ?? {}, failpoint: front },
    behind: { node: stage.nodeBehind ?? [], env: second?.env ?? {}, failpoint: behind },
  };
}
