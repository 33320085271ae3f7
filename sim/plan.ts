import { Stream } from "./random.ts";

/** What may befall one call: drawn anew for each call, at the plan's rate. */
export const callFaults = {
  /** The request never arrives. */
  "hot.lost": "none",
  /** It takes effect, and the answer is lost. */
  "hot.unknown": "none",
  /** The caller gives up; it takes effect later. */
  "hot.late": "none",
  "hot.slow": "none",
  "ledger.lost": "none",
  "ledger.unknown": "none",
  "ledger.late": "none",
  "ledger.slow": "none",
  /** A statement in the middle of the transaction fails. */
  "ledger.statement": "none",
  "bus.lost": "none",
  "bus.unknown": "none",
  "bus.late": "none",
  "bus.slow": "none",
  "bus.duplicate": "none",
  /** An old message comes again, out of order. */
  "bus.replay": "none",
  /** Confirmed, and lost. */
  "bus.drop": "resend",
  /** Confirmed, and delivered behind later ones. */
  "bus.delay": "resend",
  /** The client's own request to the engine, or its answer. */
  "http.lost": "none",
  "http.unknown": "none",
} as const satisfies Record<string, Damage>;
export type CallFault = keyof typeof callFaults;

/** What happens once, at a time of the plan. */
export const incidentKinds = {
  "node.kill": "none",
  "node.pause": "none",
  "node.killAll": "none",
  "hot.pause": "none",
  "ledger.pause": "none",
  "bus.pause": "none",
  "node.cut": "none",
  "bus.redeliver": "none",
  "bus.forge": "none",
  "operator.rebuild": "none",
  "bus.purge": "resend",
  "bus.compete": "resend",
  "hot.trimOutbox": "resend",
  "hot.flush": "loss",
  "hot.restart": "loss",
  "hot.rollback": "loss",
  "hot.corrupt": "tamper",
  "hot.dropSku": "tamper",
  "hot.dropPolicy": "tamper",
  "hot.dropOverlay": "tamper",
  "hot.dropTicket": "tamper",
  "hot.dropAnswer": "tamper",
  "hot.dropBuyers": "tamper",
  /** As if the ledger had gone back: hot stock has another entry at its version, or later ones. */
  "hot.fork": "tamper",
  "hot.ahead": "tamper",
} as const satisfies Record<string, Damage>;
export type IncidentKind = keyof typeof incidentKinds;

/**
 * How much a fault may cost: nothing; tickets that must be sent again; what hot stock alone
 * knew; or hot stock's numbers themselves. What a seed declares decides what it is held to.
 */
export type Damage = "none" | "resend" | "loss" | "tamper";

export type Incident = {
  readonly name: string;
  readonly kind: IncidentKind;
  readonly at: number;
  readonly ms: number;
  /** Which node, lane, SKU or how much: whatever the kind makes of it. */
  readonly pick: number;
};

export type Plan = {
  readonly seed: number;
  readonly rates: Readonly<Partial<Record<CallFault, number>>>;
  readonly incidents: readonly Incident[];
  readonly damage: ReadonlySet<Damage>;
  readonly nodes: number;
  readonly lanes: number;
  /** Which nodes run a worker: one, or two at once. */
  readonly homes: ReadonlyMap<string, readonly number[]>;
  readonly skewsMs: readonly number[];
  /** How late the timers of processes come: 2 is twice the time that was asked for. */
  readonly laziness: number;
  readonly requests: number;
  /** Faults end here. */
  readonly safetyMs: number;
};

export type PlanOptions = {
  readonly seed: number;
  /** Fewer requests than the seed's own, while shrinking. */
  readonly requests: number | null;
  /** Names of decisions that are not taken: kinds, single faults, incidents. */
  readonly suppressed: ReadonlySet<string>;
};

/** How hard a seed is: which kinds of damage it may do, and of which it does one for sure. */
const weights = { calm: 5, clean: 40, mended: 12, lossy: 18, wild: 25 } as const;
const tempers = {
  calm: { may: [], surely: [] },
  clean: { may: ["none"], surely: ["none"] },
  mended: { may: ["none", "resend"], surely: ["none", "resend"] },
  lossy: { may: ["none", "loss"], surely: ["none", "loss"] },
  wild: { may: ["none", "resend", "loss", "tamper"], surely: ["loss", "tamper"] },
} as const satisfies Record<
  keyof typeof weights,
  { readonly may: readonly Damage[]; readonly surely: readonly Damage[] }
>;

/** Draws the whole plan before anything runs. */
export function drawPlan({ seed, requests, suppressed }: PlanOptions): Plan {
  const stream = new Stream(seed, "plan");
  const nodes = stream.between(2, 3);
  const safetyMs = stream.between(6_000, 10_000);
  const own = stream.between(60, 150);
  const skewed = stream.chance(0.5);
  const skewsMs = Array.from({ length: nodes + 2 }, () => stream.between(-5_000, 5_000));
  const kinds = drawKinds(stream);
  const rates: Partial<Record<CallFault, number>> = {};
  for (const kind of keysOf(callFaults)) {
    const rate = 0.2 ** (1 + 2 * stream.next());
    if (kinds.has(kind) && !suppressed.has(kind)) rates[kind] = rate;
  }
  const incidents = drawIncidents(stream, safetyMs).filter(
    ({ name, kind }) => kinds.has(kind) && !suppressed.has(kind) && !suppressed.has(name),
  );
  const damage = new Set<Damage>(incidents.map(({ kind }) => incidentKinds[kind]));
  for (const kind of keysOf(rates)) damage.add(callFaults[kind]);
  return {
    ...{ seed, rates, incidents, damage, nodes, safetyMs },
    lanes: stream.chance(0.3) ? 2 : 1,
    homes: drawHomes(stream, nodes),
    laziness: stream.between(2, 6),
    skewsMs: skewed ? skewsMs : skewsMs.map(() => 0),
    requests: requests ?? own,
  };
}

type Kind = CallFault | IncidentKind;

/** A random subset of the kinds that the temper allows, and one of each that it must have. */
function drawKinds(stream: Stream): ReadonlySet<Kind> {
  const temper = tempers[stream.weighted(weights) ?? "calm"];
  const may: readonly Damage[] = temper.may;
  const share = 0.35 * stream.next();
  const taken = new Set<Kind>();
  const all = [...keysOf(callFaults), ...keysOf(incidentKinds)];
  for (const kind of all) {
    if (stream.chance(share) && may.includes(damageOf(kind))) taken.add(kind);
  }
  for (const damage of temper.surely) {
    const fitting = all.filter((kind) => damageOf(kind) === damage);
    const kind = stream.pick(fitting);
    if (kind !== undefined) taken.add(kind);
  }
  return taken;
}

const damages: Readonly<Record<Kind, Damage>> = { ...callFaults, ...incidentKinds };

function damageOf(kind: Kind): Damage {
  return damages[kind];
}

/** Of every kind one to three, at times of which many fall into the rush at the opening. */
function drawIncidents(stream: Stream, safetyMs: number): Incident[] {
  const incidents: Incident[] = [];
  for (const kind of keysOf(incidentKinds)) {
    const times = stream.between(1, 3);
    for (let n = 1; n <= times; n += 1) {
      const early = stream.chance(0.4);
      const at = early ? stream.between(150, 1_800) : stream.between(500, safetyMs - 500);
      const ms = Math.floor(30 * 100 ** stream.next());
      incidents.push({ name: `${kind}#${n}`, kind, at, ms, pick: stream.between(0, 2 ** 31) });
    }
  }
  return incidents.sort((a, b) => a.at - b.at);
}

const workers = ["rebuilder", "expirer", "publisher", "relay", "ledger-writer"];

function drawHomes(stream: Stream, nodes: number): Plan["homes"] {
  const homes = new Map<string, readonly number[]>();
  for (const worker of workers) {
    const first = stream.between(0, nodes - 1);
    const second = (first + 1) % nodes;
    homes.set(worker, stream.chance(0.5) ? [first, second] : [first]);
  }
  // What the reconciler doubts, the rebuilder of its own process mends.
  homes.set("reconciler", homes.get("rebuilder") ?? []);
  return homes;
}

function keysOf<K extends string>(table: Readonly<Partial<Record<K, unknown>>>): K[] {
  const keys: K[] = [];
  for (const key in table) keys.push(key);
  return keys;
}

/**
 * Every fault that is taken has a name: its kind and how many calls of that kind came before.
 * Suppressing one draws its number all the same, so the others stay what they were.
 */
export class Decisions {
  readonly taken: string[] = [];
  readonly #plan: Plan;
  readonly #suppressed: ReadonlySet<string>;
  readonly #streams = new Map<CallFault, Stream>();
  readonly #counts = new Map<CallFault, number>();
  /** Off in the quiet phase. */
  #active = true;

  constructor(plan: Plan, suppressed: ReadonlySet<string>) {
    this.#plan = plan;
    this.#suppressed = suppressed;
  }

  stop(): void {
    this.#active = false;
  }

  /** `floor`: how often at least, for calls of which there are few. */
  take(kind: CallFault, floor = 0): boolean {
    const rate = this.#plan.rates[kind];
    if (rate === undefined || !this.#active) return false;
    const stream = this.#streams.get(kind) ?? new Stream(this.#plan.seed, kind);
    this.#streams.set(kind, stream);
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (!stream.chance(Math.max(rate, floor))) return false;
    const name = `${kind}#${count}`;
    if (this.#suppressed.has(name)) return false;
    this.taken.push(name);
    return true;
  }
}

export function planInWords(plan: Plan): string[] {
  const rates = Object.entries(plan.rates).map(([kind, rate]) => `${kind} ${rate.toFixed(4)}`);
  const homes = [...plan.homes].map(([name, at]) => `${name} on ${at.join(" and ")}`);
  return [
    `${plan.nodes} nodes, ${plan.lanes} lanes, ${plan.requests} requests`,
    `faults for ${plan.safetyMs} ms, timers ${plan.laziness} times late`,
    `clocks off by ${plan.skewsMs.join(", ")} ms`,
    `per call: ${rates.join(", ") || "nothing"}`,
    `workers: ${homes.join(", ")}`,
    ...plan.incidents.map(({ name, at, ms, pick }) => `at ${at} ms: ${name} (${ms} ms, ${pick})`),
  ];
}
