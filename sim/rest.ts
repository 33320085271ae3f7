import { buyerId, operationId, quantity, skuId } from "../src/domain/values.ts";
import { RestAudit } from "./audit-rest.ts";
import { num, text } from "./audit-rows.ts";
import type { Node } from "./node.ts";
import type { World } from "./world.ts";

/** How often the world is looked at while it comes to rest. */
const lookEveryMs = 150;
const waitMs = 1_000;
/** After everything was told to stop, this long until nothing stirs. */
const stopMs = 20_000;

/** Liveness: without faults everything settles, the proof holds, and a fresh buyer is served. */
export class Rest {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async prove(deadlineMs: number): Promise<void> {
    if (!(await this.#settle(deadlineMs))) return;
    await this.#sell();
    if (!(await this.#settle(this.#world.scheduler.now + 10 * waitMs))) return;
    await new RestAudit(this.#world).prove();
    await this.#proveByItself();
    if (this.#world.violation === null) await this.#stop();
  }

  /** Runs until everything is at rest; says what is not when the time is over. */
  async #settle(deadlineMs: number): Promise<boolean> {
    const world = this.#world;
    for (;;) {
      const next = world.scheduler.now + lookEveryMs;
      const over = (): boolean =>
        world.violation !== null || (world.workload.open === 0 && world.scheduler.now >= next);
      await world.scheduler.run(over, deadlineMs);
      if (world.violation !== null) return false;
      const unrest = await this.#unrest();
      if (unrest === null) return true;
      if (world.scheduler.now + lookEveryMs < deadlineMs && over()) continue;
      world.complain("liveness", `long after the last fault: ${unrest}`);
      return false;
    }
  }

  async #unrest(): Promise<string | null> {
    const { workload, nodes, plan } = this.#world;
    if (workload.open > 0) return `${workload.open} stories have not ended`;
    if (nodes.length < plan.nodes) return "a node is down";
    for (const node of nodes) {
      if (!node.serves) return `${node.name} does not serve`;
      const [open] = node.open;
      if (open !== undefined) return `${node.name}: ${open.what} is not answered`;
    }
    return (await this.#unrestInLedger()) ?? (await this.#unrestInLanes());
  }

  async #unrestInLedger(): Promise<string | null> {
    const { database } = this.#world;
    const [held] = await database.all(
      "select order_id from orders where state = 'reserved' limit 1",
      [],
    );
    if (held !== undefined) return `${text(held, "order_id")} is still reserved`;
    const [untold] = await database.all(
      "select sku_id from inventory where published_version < version limit 1",
      [],
    );
    return untold === undefined ? null : `entries of ${text(untold, "sku_id")} are not told`;
  }

  async #unrestInLanes(): Promise<string | null> {
    const world = this.#world;
    const rows = await world.database.all("select * from lanes order by lane", []);
    for (const row of rows) {
      const lane = num(row, "lane");
      const state = world.state(lane);
      if (state === null || state.rebuilding) return `lane ${lane} is closed`;
      const incarnation = await world.hot.incarnation(lane);
      const registered = state.epoch === num(row, "epoch") && incarnation === row["incarnation"];
      if (!registered) return `lane ${lane}: hot stock is not the ledger's`;
      if (state.outbox.size > 0) return `lane ${lane}: ${state.outbox.size} items in the outbox`;
      if (state.tickets.size > 0) return `lane ${lane}: ${state.tickets.size} tickets in flight`;
      const lag = await world.bus.lag(lane);
      if (lag > 0) return `lane ${lane}: ${lag} messages on the bus`;
      for (const account of world.auditor.ledger.skus.values()) {
        if (account.lane !== lane) continue;
        const hot = state.skus.get(skuId(account.id));
        if (hot === undefined) return `hot stock lacks SKU ${account.id}`;
        const { version, available } = account.last;
        if (hot.version !== version) return `SKU ${account.id} is behind at ${hot.version}`;
        if (hot.available !== available) return `SKU ${account.id} drifts: ${hot.available}`;
      }
    }
    return null;
  }

  /** Units that are free are sold to whoever asks, by every process; the rest is sold out. */
  async #sell(): Promise<void> {
    const { workload, nodes } = this.#world;
    for (const [n, sale] of workload.shop.sales.entries()) {
      for (const sku of workload.shop.skus) {
        if (!sku.startsWith(`s${n + 1}-`)) continue;
        for (const node of nodes) {
          const done = this.#probe(node, { sale, sku });
          const { scheduler } = this.#world;
          let over = false;
          void done.finally(() => {
            over = true;
          });
          await scheduler.run(() => over, scheduler.now + 20 * waitMs);
          if (!over) this.#world.complain("I9", `${node.name} does not answer a fresh buyer`);
          if (this.#world.violation !== null) return;
        }
      }
    }
  }

  async #probe(
    node: Node,
    of: { sale: Parameters<typeof operationId>[0]; sku: string },
  ): Promise<void> {
    const { front, workload, auditor } = this.#world;
    const free = auditor.ledger.skus.get(of.sku)?.last.available ?? 0;
    const sku = skuId(of.sku);
    const saleId = workload.shop.sales.find((sale) => sale === of.sale);
    if (saleId === undefined) return;
    const buyer = buyerId(`probe-${node.index}-${sku}`);
    const request = {
      ...{ saleId, buyerId: buyer, idempotencyKey: operationId("probe") },
      lines: [{ sku, quantity: quantity(1) }],
    };
    const what = `probe ${sku}`;
    // Past the gate's own time between two looks.
    await front.sleep(150);
    const told = await front.ask(what, (e) => e.buyers.reserve(request, { waitMs }), node);
    if (!told.known) return this.#complainOfProbe(node, sku, told.why);
    const outcome = told.value;
    const found = outcome.ok ? outcome.value.state : outcome.code;
    if (found !== (free > 0 ? "reserved" : "SOLD_OUT")) {
      return this.#complainOfProbe(node, sku, `${found}, and ${free} are free`);
    }
    if (!outcome.ok) return;
    const { id } = outcome.value;
    const acting = { actor: "probe", reason: "simulated", waitMs };
    await front.ask(what, (e) => e.settlement.cancel(id, acting), node);
  }

  #complainOfProbe(node: Node, sku: string, what: string): void {
    this.#world.complain("I9", `a fresh buyer of SKU ${sku} at ${node.name}: ${what}`);
  }

  /** What the engine says of itself must be true as well. */
  async #proveByItself(): Promise<void> {
    const { front, nodes, scheduler } = this.#world;
    const [node] = nodes;
    if (node === undefined || this.#world.violation !== null) return;
    let over = false;
    const ask = async (): Promise<void> => {
      const report = await front.ask("reconcile", (e) => e.oversight.reconciliation(), node);
      const proof = await front.ask("verify", (e) => e.oversight.verify(null), node);
      if (!report.known || !proof.known) {
        return this.#world.complain("liveness", "no proof is to be had at rest");
      }
      const { drift, behind, inFlight, closed, stopped } = report.value;
      if (drift + behind + inFlight + closed + stopped > 0) {
        const found = JSON.stringify({ drift, behind, inFlight, closed, stopped });
        this.#world.complain("I8", `at rest the engine reports ${found}`);
      }
      if (!proof.value.ok) {
        const broken = JSON.stringify(proof.value.firstBroken);
        this.#world.complain("I12", `the engine finds its own chain broken: ${broken}`);
      }
    };
    void ask().finally(() => {
      over = true;
    });
    await scheduler.run(() => over, scheduler.now + 20 * waitMs);
  }

  /** Every process stops when told; no timer is left behind, every promise has settled. */
  async #stop(): Promise<void> {
    const { nodes, scheduler } = this.#world;
    let left = nodes.length;
    for (const node of nodes) {
      void node.stop().finally(() => {
        left -= 1;
      });
    }
    await scheduler.run(() => left === 0, scheduler.now + stopMs);
    if (left > 0) return this.#world.complain("leak", `${left} processes do not stop`);
    await scheduler.run(() => false, scheduler.now + stopMs);
    for (const { name, clock } of nodes) {
      if (clock.sleeping > 0) {
        this.#world.complain("leak", `${name} has stopped, and ${clock.sleeping} timers run`);
      }
    }
  }
}
