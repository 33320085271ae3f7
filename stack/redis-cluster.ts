import { freePort } from "./private-server.ts";
import { PrivateRedis } from "./redis.ts";

const slots = 16_384;
const pollMs = 50;
const formedWithinMs = 30_000;
/** How long a node may be silent before its replica is elected in its place. */
const nodeTimeoutMs = 1_500;

/** Primaries with equal shares of the slots, each with its replicas, on free loopback ports. */
export class PrivateRedisCluster {
  readonly primaries: readonly PrivateRedis[];
  readonly replicas: readonly PrivateRedis[];

  private constructor(primaries: readonly PrivateRedis[], replicas: readonly PrivateRedis[]) {
    this.primaries = primaries;
    this.replicas = replicas;
  }

  /** The replica at each place is that of the primary at the same place. */
  static async start(
    plan: {
      readonly primaries?: number;
      readonly replicas?: boolean;
      readonly more?: string[];
    } = {},
  ): Promise<PrivateRedisCluster> {
    const { primaries = 3, replicas = false, more = [] } = plan;
    const count = replicas ? 2 * primaries : primaries;
    const made = await Promise.all(Array.from({ length: count }, () => startNode(more)));
    const nodes = made.map(({ node }) => node);
    const cluster = new PrivateRedisCluster(nodes.slice(0, primaries), nodes.slice(primaries));
    try {
      await cluster.#form(made);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get url(): string {
    return `redis-cluster://${this.primaries.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  get nodes(): readonly PrivateRedis[] {
    return [...this.primaries, ...this.replicas];
  }

  async flush(): Promise<void> {
    for (const node of this.primaries) await node.plain.flushall();
  }

  /** Moves a slot with all its keys, as an operator's tool does; `between` is called half-way. */
  async moveSlot(
    slot: number,
    [from, to]: readonly [PrivateRedis, PrivateRedis],
    between: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const [fromId, toId] = [await idOf(from), await idOf(to)];
    await to.plain.cluster("SETSLOT", slot, "IMPORTING", fromId);
    await from.plain.cluster("SETSLOT", slot, "MIGRATING", toId);
    for (let isFirst = true; ; isFirst = false) {
      const keys = await from.plain.cluster("GETKEYSINSLOT", slot, isFirst ? 2 : 100);
      if (keys.length === 0) break;
      await from.plain.migrate("127.0.0.1", to.port, "", 0, 5_000, "KEYS", ...keys);
      if (isFirst) await between();
    }
    for (const node of [to, from]) await node.plain.cluster("SETSLOT", slot, "NODE", toId);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  async #form(made: readonly Made[]): Promise<void> {
    const [first, ...others] = made;
    if (first === undefined) throw new Error("a cluster has at least one primary");
    // Before they meet: two with the same epoch would have to settle whose share is whose.
    for (const [n, { node }] of made.entries()) {
      await node.plain.call("CLUSTER", "SET-CONFIG-EPOCH", n + 1);
    }
    for (const { node, busPort } of others) {
      await first.node.plain.call("CLUSTER", "MEET", "127.0.0.1", node.port, busPort);
    }
    const share = slots / this.primaries.length;
    for (const [n, node] of this.primaries.entries()) {
      const [from, to] = [Math.ceil(n * share), Math.ceil((n + 1) * share) - 1];
      await node.plain.call("CLUSTER", "ADDSLOTSRANGE", from, to);
    }
    await until("all nodes know each other", () => this.#all(`cluster_known_nodes:${made.length}`));
    for (const [n, node] of this.replicas.entries()) {
      const primary = this.primaries[n];
      if (primary !== undefined) await node.plain.call("CLUSTER", "REPLICATE", await idOf(primary));
    }
    await until("the cluster is formed", () => this.#all("cluster_state:ok"));
    await until("the replicas follow", async () => {
      const told = await Promise.all(this.replicas.map(({ plain }) => plain.info("replication")));
      return told.every((each) => each.includes("master_link_status:up"));
    });
  }

  async #all(word: string): Promise<boolean> {
    const told = await Promise.all(this.nodes.map(({ plain }) => plain.call("CLUSTER", "INFO")));
    return told.every((each) => String(each).includes(word));
  }
}

type Made = { readonly node: PrivateRedis; readonly busPort: number };

async function startNode(more: readonly string[]): Promise<Made> {
  const busPort = await freePort();
  const place = ["--cluster-enabled", "yes", "--cluster-port", String(busPort)];
  const timing = ["--cluster-node-timeout", String(nodeTimeoutMs)];
  // The lanes of the other primaries go on when one is away.
  const partial = ["--cluster-require-full-coverage", "no"];
  return { node: await PrivateRedis.start([...place, ...timing, ...partial, ...more]), busPort };
}

async function idOf(node: PrivateRedis): Promise<string> {
  return String(await node.plain.call("CLUSTER", "MYID"));
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + formedWithinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${formedWithinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
