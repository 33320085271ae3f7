import type { Replay } from "./chain.ts";
import type { CrowdResult } from "./crowd.ts";
import { endingOf, idsOf, type KeyRecord, type Settled } from "./history.ts";
import type { AuditFact, Buckets, LevelFact, OrderFact, StoresFact } from "./witness.ts";

/** Everything that the verdict is made of. */
export type Evidence = {
  readonly crowd: CrowdResult;
  readonly buyers: number;
  readonly skus: readonly SkuEvidence[];
  readonly orders: ReadonlyMap<string, OrderFact | null>;
  readonly before: StoresFact;
  readonly after: StoresFact;
  readonly isAtRest: boolean;
  readonly audit: AuditFact;
};

export type SkuEvidence = {
  readonly sku: string;
  /** What the one who opened the sale knows to be there; null: what the entries say came in. */
  readonly stocked: number | null;
  readonly level: LevelFact;
  readonly replay: Replay;
  /** One more buyer asked for a unit at rest: the code of the refusal, if it was refused. */
  readonly refusedAtRest: string | null;
};

/** The result as a machine reads it. */
export type Report = {
  readonly stock: number;
  readonly buyers: number;
  readonly requests: number;
  readonly reserved: number;
  readonly rejected: number;
  readonly pending: number;
  readonly confirmed: number;
  readonly expired: number;
  readonly oversold: number;
  readonly leaked: number;
  readonly drift: number;
  readonly repairs: number;
  readonly auditOk: boolean;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly seconds: number;
};

export type Finding = {
  readonly code:
    | "oversold"
    | "leaked"
    | "drift"
    | "repairs"
    | "audit"
    | "not-at-rest"
    | "closed"
    | "stopped"
    | "pending"
    | "no-entry"
    | "told-no"
    | "two-ids"
    | "one-id"
    | "payment-lost"
    | "taken-back"
    | "two-answers"
    | "odd-answer"
    | "refused-oddly";
  readonly facts: Readonly<Record<string, string | number>>;
};

export type Verdict = {
  readonly report: Report;
  readonly findings: readonly Finding[];
  readonly ok: boolean;
};

/** Judges a run from the clients' notes and the ledger. Its arithmetic is its own. */
export function judge(evidence: Evidence): Verdict {
  const report = reportOf(evidence);
  const findings = [
    ...numbers(report),
    ...proof(evidence),
    ...evidence.crowd.records.flatMap((record) => judgeRecord(record, evidence)),
    ...sharedIds(evidence.crowd.records),
    ...toldNo(evidence),
  ];
  return { report, findings, ok: findings.length === 0 };
}

function reportOf(evidence: Evidence): Report {
  const { crowd, skus, buyers } = evidence;
  const endings = crowd.records.map(endingOf);
  const states = crowd.records.map((record) => stateOf(record, evidence));
  const count = <T>(all: readonly T[], wanted: T): number =>
    all.filter((one) => one === wanted).length;
  return {
    stock: sum(skus, stockOf),
    buyers,
    requests: crowd.requests,
    reserved: count(endings, "reserved"),
    rejected: count(endings, "rejected"),
    pending: count(endings, "pending"),
    confirmed: crowd.records.filter(isPaid).length,
    expired: count(states, "expired"),
    oversold: sum(skus, (one) => oversoldOf(one, evidence)),
    leaked: sum(skus, (one) => leakedOf(one, evidence)),
    drift: Math.max(
      evidence.after.drift,
      sum(skus, (one) => driftOf(one, evidence)),
    ),
    repairs: evidence.after.repairs - evidence.before.repairs,
    auditOk: evidence.audit.ok && skus.every(isChainSound),
    p50Ms: round(crowd.p50Ms, 1),
    p99Ms: round(crowd.p99Ms, 1),
    seconds: round(crowd.seconds, 2),
  };
}

const stockOf = ({ stocked, replay }: SkuEvidence): number => stocked ?? replay.stocked;
const isPaid = ({ settled }: KeyRecord): boolean =>
  settled?.act === "pay" && settled.told === "done";

/** What the ledger knows of the reservation that a key was told about. */
function stateOf(record: KeyRecord, { orders }: Evidence): string | undefined {
  if (endingOf(record) !== "reserved") return undefined;
  return idsOf(record)
    .map((id) => orders.get(id)?.state)
    .find((state) => state !== undefined);
}

/** Units beyond the stock: in the ledger's buckets, or in the hands of those who were told. */
function oversoldOf(one: SkuEvidence, evidence: Evidence): number {
  const stock = stockOf(one);
  const taken = ({ reserved, sold, frozen, lost }: Buckets): number =>
    reserved + sold + frozen + lost;
  const holders = evidence.crowd.records.filter(
    (record) => record.sku === one.sku && isHolding(record, evidence),
  );
  const inHands = sum(holders, ({ quantity }) => quantity);
  return Math.max(0, taken(one.level.buckets) - stock, one.replay.oversold, inHands - stock);
}

/**
 * Was told "reserved", and nothing that took it back: no cancel of its own, no deadline. How the
 * hold of an order that the ledger has lost has ended, nobody knows any more: only a payment keeps
 * it. That it was lost is a finding of its own.
 */
function isHolding(record: KeyRecord, evidence: Evidence): boolean {
  if (endingOf(record) !== "reserved") return false;
  if (isLost(record, evidence)) return isPaid(record);
  if (record.settled?.act === "cancel" && record.settled.told !== "refused") return false;
  const state = stateOf(record, evidence);
  return state !== "expired" && state !== "refunded" && state !== "cancelled";
}

/** No entry of its SKU speaks of it. */
function isLost(record: KeyRecord, { skus }: Evidence): boolean {
  const replay = skus.find(({ sku }) => sku === record.sku)?.replay;
  return idsOf(record).every((id) => replay?.orders.get(id) === undefined);
}

function leakedOf(one: SkuEvidence, { orders, crowd }: Evidence): number {
  const { buckets } = one.level;
  const inOrders = unitsIn(one.sku, orders);
  const total = sum(Object.values(buckets), (units) => units);
  const inBuckets =
    Math.abs(buckets.reserved - inOrders.reserved) +
    Math.abs(buckets.sold - inOrders.sold) +
    Math.abs(total - stockOf(one));
  return inBuckets + leftOnSale(one, crowd.records);
}

function unitsIn(sku: string, orders: Evidence["orders"]): { reserved: number; sold: number } {
  const units = { reserved: 0, sold: 0 };
  for (const order of orders.values()) {
    if (order === null) continue;
    const own = (lines: OrderFact["lines"]): number =>
      sum(lines, (line) => (line.sku === sku ? line.quantity : 0));
    if (order.state === "reserved") units.reserved += own(order.lines);
    if (order.state === "confirmed") units.sold += own(order.lines) - own(order.refunded);
  }
  return units;
}

/**
 * Units on sale that somebody was refused for lack of: all of them, if a buyer who comes when
 * everything is at rest is refused; else those that nobody took in the whole run, if a cart that
 * they would have filled was refused.
 */
function leftOnSale(one: SkuEvidence, records: readonly KeyRecord[]): number {
  const { available } = one.level.buckets;
  if (one.refusedAtRest === "SOLD_OUT") return available;
  const untouched = one.replay.untouched - one.replay.rejected;
  const isRefused = ({ sku, quantity, answers }: KeyRecord): boolean =>
    sku === one.sku && quantity <= untouched && answers.some(({ what }) => what === "SOLD_OUT");
  return untouched > 0 && records.some(isRefused) ? untouched : 0;
}

/** Hot stock against the balance that the entries give for its very version. */
function driftOf({ sku, replay }: SkuEvidence, { after }: Evidence): number {
  const hot = after.items.find((item) => item.sku === sku);
  if (hot === undefined) return 0;
  const available = replay.availableAt.get(hot.hotVersion);
  if (available === undefined) return 0;
  return Math.abs(hot.hotAvailable + hot.inFlight - available);
}

function isChainSound({ level, replay }: SkuEvidence): boolean {
  const isRow = level.version === replay.version && level.hash === replay.hash;
  return replay.broken === null && isRow;
}

// Findings: what a person reads when the verdict is no ----------------------------------------

function numbers(report: Report): Finding[] {
  const found = (["oversold", "leaked", "drift", "repairs"] as const)
    .filter((code) => report[code] !== 0)
    .map((code): Finding => ({ code, facts: { units: report[code] } }));
  if (report.pending === 0) return found;
  return [...found, { code: "pending", facts: { keys: report.pending } }];
}

function proof({ audit, skus, after, isAtRest }: Evidence): Finding[] {
  const found: Finding[] = [];
  const broken = skus.find((one) => !isChainSound(one));
  if (!audit.ok) found.push({ code: "audit", facts: { what: audit.firstBroken ?? "?" } });
  if (broken !== undefined) {
    const what = broken.replay.broken ?? "the row is not what the last entry left";
    found.push({ code: "audit", facts: { what: `${broken.sku}: ${what}` } });
  }
  const { behind, inFlight } = after;
  if (!isAtRest) found.push({ code: "not-at-rest", facts: { behind, inFlight } });
  if (after.closed > 0) found.push({ code: "closed", facts: { lanes: after.closed } });
  if (after.stopped > 0) found.push({ code: "stopped", facts: { skus: after.stopped } });
  return found;
}

function judgeRecord(record: KeyRecord, evidence: Evidence): Finding[] {
  const ids = idsOf(record);
  const found: Finding[] = [];
  if (ids.length > 1) {
    found.push({ code: "two-ids", facts: { key: record.key, ids: ids.join(" ") } });
  }
  if (endingOf(record) === "reserved") found.push(...judgeHolder(record, evidence));
  const odd = record.answers.find(({ kind, what }) => kind === "refused" && !isPlainNo(what));
  if (odd !== undefined) {
    found.push({ code: "refused-oddly", facts: { key: record.key, code: odd.what } });
  }
  return found;
}

function judgeHolder(record: KeyRecord, evidence: Evidence): Finding[] {
  const [id = ""] = idsOf(record);
  const found: Finding[] = [];
  const replay = evidence.skus.find(({ sku }) => sku === record.sku)?.replay;
  if (replay?.orders.get(id)?.taken !== record.quantity) {
    found.push({ code: "no-entry", facts: { key: record.key, id } });
  }
  const state = evidence.orders.get(id)?.state;
  if (isPaid(record) && state !== "confirmed" && state !== "refunded") {
    found.push({ code: "payment-lost", facts: { key: record.key, id, state: state ?? "absent" } });
  }
  const [first, again] = [record.settled, record.settledAgain];
  if (first !== null && again !== null && !isSameAnswer(first, again)) {
    const { act, told } = first;
    found.push({ code: "two-answers", facts: { key: record.key, act, told, again: again.told } });
  }
  for (const settled of [first, again]) {
    if (settled?.told !== "odd") continue;
    const { act, what } = settled;
    found.push({ code: "odd-answer", facts: { key: record.key, id, act, what } });
  }
  const wonAt = record.answers.findIndex(({ kind }) => kind === "held");
  const won = record.answers[wonAt];
  const isTaken = record.answers.some(
    ({ kind, askedMs }) => won !== undefined && kind === "refused" && askedMs > won.toldMs,
  );
  if (isTaken) found.push({ code: "taken-back", facts: { key: record.key, id } });
  return found;
}

/** An answer that never came says nothing. */
function isSameAnswer(one: Settled, other: Settled): boolean {
  return one.told === "unknown" || other.told === "unknown" || one.told === other.told;
}

const plainNoes = [
  "SOLD_OUT",
  "LIMIT_EXCEEDED",
  "SALE_NOT_OPEN",
  "SALE_PAUSED",
  "SALE_ENDED",
] as const;
const isPlainNo = (code: string): boolean => plainNoes.some((plain) => plain === code);

function sharedIds(records: readonly KeyRecord[]): Finding[] {
  const owners = new Map<string, string>();
  const found: Finding[] = [];
  for (const record of records) {
    for (const id of idsOf(record)) {
      const owner = owners.get(id);
      owners.set(id, record.key);
      if (owner !== undefined) {
        found.push({ code: "one-id", facts: { id, keys: `${owner} ${record.key}` } });
      }
    }
  }
  return found;
}

/** A buyer who only ever heard "no" must not find an order in the ledger. */
function toldNo({ crowd, skus }: Evidence): Finding[] {
  const refused = new Map(
    crowd.records
      .filter((record) => endingOf(record) === "rejected")
      .map((record) => [record.buyer, record.key]),
  );
  return skus.flatMap(({ replay }) =>
    [...replay.orders].flatMap(([id, { buyer, taken }]): Finding[] => {
      const key = buyer === null || taken === 0 ? undefined : refused.get(buyer);
      return key === undefined ? [] : [{ code: "told-no", facts: { key, id } }];
    }),
  );
}

function sum<T>(all: readonly T[], units: (one: T) => number): number {
  return all.reduce((total, one) => total + units(one), 0);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
