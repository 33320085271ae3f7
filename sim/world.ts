import { MemoryBus } from "../src/bus/memory.ts";
import { type MessageKey, openEnvelope } from "../src/domain/message.ts";
import { type Epoch, epoch, type SkuId } from "../src/domain/values.ts";
import type { LaneState } from "../src/hot-stock/lane-state.ts";
import { MemoryHotStock } from "../src/hot-stock/memory.ts";
import { makeLanes } from "../src/ledger/lanes.ts";
import { migrate } from "../src/ledger/migrate.ts";
import { makeSecrets } from "../src/ledger/secrets.ts";
import { SqlLedger } from "../src/ledger/sql-ledger.ts";
import { memoryPath, openSqlite, type SqliteDatabase } from "../src/ledger/sqlite.ts";
import type { Freedom } from "./audit-answers.ts";
import type { Fork, LaneFacts } from "./audit-hot.ts";
import { Auditor } from "./auditor.ts";
import { Broker } from "./broker.ts";
import { Front } from "./client.ts";
import { Network } from "./faults.ts";
import { befall } from "./incidents.ts";
import { Node, type Reports, watchingEvents } from "./node.ts";
import { Decisions, drawPlan, type Plan, type PlanOptions } from "./plan.ts";
import { Stream } from "./random.ts";
import { Rest } from "./rest.ts";
import { epochMs, Scheduler, VirtualClock } from "./scheduler.ts";
import { FailingDatabase } from "./stores.ts";
import { Trace } from "./trace.ts";
import { Workload } from "./workload.ts";

export type Violation = {
  readonly invariant: string;
  readonly message: string;
  readonly at: number;
};

export type RunOptions = PlanOptions & { readonly keepTrace: boolean };

export type RunReport = {
  readonly seed: number;
  readonly violation: Violation | null;
  readonly events: number;
  readonly virtualMs: number;
  readonly plan: Plan;
  /** Names of the faults that were taken. */
  readonly taken: readonly string[];
  readonly traceHash: string;
  readonly lines: readonly string[];
};

/** After the last fault everything must have come to rest within this long. */
const settleMs = 45_000;

/** Production code over shared stores, in virtual time, with faults drawn from the seed. */
export class World {
  readonly plan: Plan;
  readonly scheduler = new Scheduler();
  readonly decisions: Decisions;
  readonly trace: Trace;
  readonly network: Network;
  readonly hot: MemoryHotStock;
  readonly bus: MemoryBus;
  readonly broker: Broker;
  readonly auditor: Auditor;
  readonly workload: Workload;
  readonly reports: Reports = { resent: 0, rebuilds: 0, stopped: 0, deadLetters: 0 };
  readonly front: Front;
  readonly database: SqliteDatabase;
  readonly firstEpoch: Epoch = epoch(0);
  nodes: Node[] = [];
  /** Entries told to the world, SKU → version. */
  readonly delivered = new Map<string, number>();
  forged = 0;
  everForked = false;
  violation: Violation | null = null;
  messageKeys: readonly MessageKey[] = [];
  readonly #failing: FailingDatabase;
  readonly #ledgerClock: VirtualClock;
  readonly #lives: number[] = [];
  readonly #barriers = new Map<number, number>();
  #savedFacts: readonly LaneFacts[] = [];
  #saved: ReadonlyMap<number, LaneState> = new Map();

  constructor(options: RunOptions, database: SqliteDatabase) {
    const { seed } = options;
    this.plan = drawPlan(options);
    this.database = database;
    const { scheduler, plan } = this;
    this.trace = new Trace(scheduler, options.keepTrace);
    this.decisions = new Decisions(plan, options.suppressed);
    this.network = new Network({
      ...{ seed, scheduler, decisions: this.decisions, trace: this.trace },
      observe: (call) => this.auditor.observe(call),
    });
    const [hotSkew = 0, ledgerSkew = 0] = plan.skewsMs.slice(plan.nodes);
    const clock = new VirtualClock(scheduler, null, { skewMs: hotSkew, laziness: 4 });
    this.#ledgerClock = new VirtualClock(scheduler, null, { skewMs: ledgerSkew, laziness: 1 });
    this.hot = new MemoryHotStock({ clock, random: new Stream(seed, "hot stock") });
    this.bus = new MemoryBus(clock);
    this.broker = new Broker({
      ...{ seed, raw: this.bus, scheduler, clock, decisions: this.decisions },
    });
    this.broker.onStored = (lane, body) => this.#stored(lane, body);
    this.#failing = new FailingDatabase(database, new Stream(seed, "statements"));
    this.network.armStatement = () => this.#failing.arm();
    this.network.onBroken = ({ port, method, args }, caller) => {
      const [lane] = args;
      if (port !== "bus" || method === "publish" || typeof lane !== "number") return;
      this.broker.broke(lane, caller);
    };
    const complain = this.complain.bind(this);
    this.auditor = new Auditor({
      rows: (sql, params = []) => database.all(sql, params),
      complain,
      peek: (lane) => this.#peek(lane),
      freedom: () => this.freedom,
      now: () => this.scheduler.now,
    });
    this.front = new Front({
      network: this.network,
      stream: new Stream(seed, "clients"),
      servers: () => this.nodes.filter(({ serves }) => serves),
      complain,
    });
    this.workload = new Workload({
      ...{ plan, front: this.front, audit: this.auditor.answers, complain },
      mayDrift: () => plan.damage.has("tamper"),
    });
  }

  static async open(options: RunOptions): Promise<World> {
    const database = await openSqlite(memoryPath, { readOnly: false, pause: async () => {} });
    const world = new World(options, database);
    await migrate(database, {
      now: () => epochMs,
      prepare: async (session) => {
        await makeSecrets(session, new Stream(options.seed, "secrets"));
        await makeLanes(session, world.plan.lanes);
      },
    });
    const secret = await new SqlLedger(database, world.#ledgerClock).secret("messages");
    world.messageKeys = [{ kid: "ledger", secret }];
    return world;
  }

  get lanes(): readonly number[] {
    return Array.from({ length: this.plan.lanes }, (_, lane) => lane);
  }

  get freedom(): Freedom {
    const { damage } = this.plan;
    const tampered = damage.has("tamper");
    const intact = this.auditor.hot.all().every((facts) => !facts.tampered);
    return { exact: !tampered, strict: !tampered && !damage.has("loss"), intact };
  }

  complain(invariant: string, message: string): void {
    if (this.violation !== null) return;
    this.violation = { invariant, message, at: this.scheduler.now };
    this.trace.note(`VIOLATION ${invariant}: ${message}`);
  }

  async run(): Promise<RunReport> {
    for (let index = 0; index < this.plan.nodes; index += 1) this.#startNode(index);
    for (const incident of this.plan.incidents) this.#schedule(incident);
    void this.workload.start();
    const failed = (): boolean => this.violation !== null;
    await this.scheduler.run(failed, this.plan.safetyMs);
    if (!failed()) await this.#comeToRest();
    await this.database.close();
    return {
      seed: this.plan.seed,
      violation: this.violation,
      events: this.scheduler.events,
      virtualMs: this.scheduler.now,
      plan: this.plan,
      taken: [...this.plan.incidents.map(({ name }) => name), ...this.decisions.taken],
      traceHash: this.trace.hash,
      lines: this.trace.lines,
    };
  }

  async #comeToRest(): Promise<void> {
    this.trace.note("== the faults stop");
    this.decisions.stop();
    Object.assign(this.network.pausedUntil, { hot: 0, ledger: 0, bus: 0 });
    this.broker.competingUntil = 0;
    for (const node of this.nodes) {
      node.pausedUntil = 0;
      Object.assign(node.cutUntil, { hot: 0, ledger: 0, bus: 0 });
    }
    const rest = new Rest(this);
    await rest.prove(this.plan.safetyMs + settleMs);
  }

  #schedule(incident: Plan["incidents"][number]): void {
    const { scheduler } = this;
    if (incident.kind === "hot.rollback") {
      scheduler.after(incident.at - (incident.ms % 1_000), null, () => {
        this.#saved = this.hot.copy();
        this.#savedFacts = this.lanes.map((lane) => copyOf(this.auditor.hot.facts(lane)));
      });
    }
    scheduler.after(incident.at, null, () => befall(this, incident));
  }

  // What incidents do -------------------------------------------------------------------------

  nodeAt(pick: number): Node | undefined {
    const alive = this.nodes.filter(({ alive: lives }) => lives);
    return alive[pick % Math.max(1, alive.length)];
  }

  kill(pick: number, downMs: number): void {
    const node = this.nodes.find(({ index }) => index === pick % this.plan.nodes);
    if (node === undefined) return;
    this.trace.note(`!! ${node.name} dies`);
    node.die();
    this.broker.died(node);
    this.nodes = this.nodes.filter((other) => other !== node);
    this.scheduler.after(Math.min(downMs, 3_000), null, () => this.#startNode(node.index));
  }

  lose(): void {
    for (const lane of this.lanes) {
      const facts = this.auditor.hot.facts(lane);
      facts.lost = true;
      facts.versions.clear();
      facts.forks.clear();
    }
  }

  tampered(lane: number): void {
    this.auditor.hot.facts(lane).tampered = true;
  }

  /** A SKU stands on another history; once it is stopped, a person looks and resumes it. */
  forked(lane: number, { sku, ...fork }: Fork & { readonly sku: SkuId }): void {
    this.auditor.hot.facts(lane).forks.set(sku, fork);
    this.everForked = true;
    const gone = (): boolean => !this.auditor.hot.facts(lane).forks.has(sku);
    this.workload.lookAfter(sku, gone);
  }

  rollBack(): void {
    this.hot.restart(this.#saved);
    for (const [lane, facts] of this.#savedFacts.entries()) {
      if (facts.tampered) this.tampered(lane);
      for (const [sku, fork] of facts.forks) this.forked(lane, { sku, ...fork });
    }
  }

  /** Somebody rebuilds a healthy lane: nothing may come of it. */
  rebuildForNothing(pick: number): void {
    const homes = this.plan.homes.get("rebuilder") ?? [];
    const node = this.nodes.find(({ serves, index }) => serves && homes.includes(index));
    const lane = pick % this.plan.lanes;
    node?.doubt(lane, "asked for by the simulator");
  }

  #startNode(index: number): void {
    const life = (this.#lives[index] ?? 0) + 1;
    this.#lives[index] = life;
    const { scheduler, plan, network } = this;
    const { laziness } = plan;
    const skewMs = plan.skewsMs[index] ?? 0;
    const node = new Node({ index, life, scheduler, skewMs, laziness });
    this.nodes.push(node);
    const ledger = new SqlLedger(this.#failing, this.#ledgerClock);
    const complain = this.complain.bind(this);
    const stores = {
      hot: network.wrap(this.hot, "hot", node),
      ledger: network.wrap(ledger, "ledger", node),
      bus: network.wrap(this.broker.connect(node), "bus", node),
      messageKeys: this.messageKeys,
    };
    const started = node.start({
      stores,
      seed: plan.seed,
      homes: plan.homes,
      events: watchingEvents(this.reports, (invariant, message) => {
        const expected = this.everForked && (invariant === "stopped" || invariant === "alarm");
        if (!expected) complain(invariant, message);
      }),
      outlet: { deliver: async (events) => this.#deliver(events) },
    });
    started.catch((error: unknown) => {
      complain("thrown", error instanceof Error ? (error.stack ?? "") : String(error));
    });
  }

  /** A ticket behind a barrier of a later epoch than its own decides nothing. */
  #stored(lane: number, body: Buffer): void {
    const { items, epoch: stamp } = openEnvelope(body, this.messageKeys);
    for (const item of items) {
      const barrier = this.#barriers.get(lane) ?? 0;
      if (item.kind === "barrier") this.#barriers.set(lane, Math.max(barrier, item.epoch));
      if (item.kind === "void") this.auditor.stamps.voids.add(item.id);
      if (item.kind !== "ticket" || item.ticket.kind !== "reserve" || stamp < barrier) continue;
      // Asked for again after somebody had given it up: the void stands before it.
      if (!this.auditor.stamps.voids.has(item.ticket.id))
        this.auditor.answers.stored.add(item.ticket.id);
    }
  }

  /** In order per SKU, at least once. */
  #deliver(events: readonly { readonly data: { sku: string; version: number } }[]): void {
    for (const { data } of events) {
      const last = this.delivered.get(data.sku) ?? 0;
      if (data.version > last + 1) {
        const what = `version ${data.version} is told after ${last}`;
        this.complain("publication", `SKU ${data.sku}: ${what}`);
      }
      this.delivered.set(data.sku, Math.max(last, data.version));
    }
  }

  #peek(lane: number): LaneState | null {
    let found: LaneState | null = null;
    this.hot.tamper(lane, (state) => {
      found = state;
    });
    return found;
  }

  state(lane: number): LaneState | null {
    return this.#peek(lane);
  }
}

function copyOf(facts: LaneFacts): LaneFacts {
  return { ...facts, forks: new Map(facts.forks) };
}
