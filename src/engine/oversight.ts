import type { SkuRow } from "../domain/command.ts";
import { openEnvelope } from "../domain/message.ts";
import type { SkuId } from "../domain/values.ts";
import type { DeadLetter, DeadLetterSettlement, Page } from "../ledger/ledger.ts";
import type {
  Acting,
  DeadLetterOutcome,
  Health,
  LevelView,
  Oversight,
  RepairAction,
  RepairReport,
} from "./engine.ts";
import { commandsOf } from "./lane-commands.ts";
import { flowOf, givenUpBy } from "./lane-flow.ts";
import { viewLevels } from "./levels.ts";
import type { Parts } from "./parts.ts";
import { reconcile } from "./reconcile.ts";
import { levelAt } from "./views.ts";

export function makeOversight(parts: Parts): Oversight {
  const { ledger } = parts;
  return {
    level: async (sku) => (await viewLevels(parts, [sku]))[0] ?? null,
    levelAsOf: (sku, asOf) => levelAsOf(parts, sku, asOf),
    levels: (page) => levels(parts, page),
    entries: (sku, query) => ledger.entries(sku, query),
    reconciliation: () => reconcile(parts),
    repair: (request, context) => repair(parts, request, context),
    verify: (sku) => ledger.verify(sku),
    deadLetters: (query) => ledger.deadLetters(query),
    deadLetter: (id) => ledger.deadLetter(id),
    replayDeadLetter: (id, context) =>
      withLetter(parts, id, (letter) => replay(parts, letter, context)),
    discardDeadLetter: (id, context) =>
      withLetter(parts, id, (letter) => discard(parts, letter, context)),
    auditLog: (query) => ledger.auditLog(query),
    search: (text) => search(parts, text),
    counts: () => ledger.counts(),
    lanes: () => flowOf(parts),
    givenUp: () => givenUpBy(parts.bus),
    health: () => health(parts),
  };
}

async function levelAsOf(
  parts: Parts,
  sku: SkuId,
  asOf: { readonly version: number } | { readonly at: number },
): Promise<LevelView | null> {
  const row = await parts.ledger.level(sku);
  if (row === null) return null;
  const version = "version" in asOf ? asOf.version : await parts.ledger.versionAt(sku, asOf.at);
  const [at] = await parts.ledger.balancesAt([{ sku, version }]);
  return at === null || at === undefined ? null : levelAt(row, at);
}

async function levels(parts: Parts, page: Page): Promise<readonly LevelView[]> {
  const rows = await parts.ledger.levelPage(page.after, page.limit);
  return viewLevels(
    parts,
    rows.map(({ sku }) => sku),
  );
}

/** Heals only in ways that are safe by construction: a rebuild behind a barrier. */
async function repair(
  parts: Parts,
  { dryRun, sku }: { dryRun: boolean; sku: SkuId | null },
  acting: Acting,
): Promise<RepairReport> {
  const { items } = await reconcile(parts);
  const actions: RepairAction[] = [];
  const lanes = new Set<number>();
  for (const item of items) {
    if (sku !== null && item.sku !== sku) continue;
    const row = await lookAt(parts, item);
    if (row === null) continue;
    actions.push({ ...row.action, done: !dryRun && row.action.action !== "none" });
    if (row.action.action === "rebuild") lanes.add(row.lane);
  }
  if (dryRun) return { dryRun, actions };
  const cause = `asked for by ${acting.actor}: ${acting.reason}`;
  for (const lane of lanes) parts.fences.doubt(lane, cause);
  if (lanes.size > 0) {
    const subject = `lanes ${[...lanes].join(" ")}`;
    const record = { ...acting, action: "reconcile.repair", subject };
    await parts.ledger.audit({ ...record, before: null, after: actions });
  }
  return { dryRun, actions };
}

async function lookAt(
  parts: Parts,
  item: { readonly sku: SkuId; readonly status: string; readonly drift: number },
): Promise<{ lane: number; action: Omit<RepairAction, "done"> } | null> {
  if (item.status === "ok" || item.status === "behind" || item.status === "closed") return null;
  const row = await parts.ledger.level(item.sku);
  if (row === null) return null;
  const look = `holdfast stock entries ${item.sku}`;
  const rebuild = item.status === "drift" || item.status === "missing";
  const why = whyOf(item, row);
  return {
    lane: row.lane,
    action: {
      action: rebuild ? "rebuild" : "none",
      subject: item.sku,
      reason: rebuild ? why : `${why}: a person must look, then resume it with a reason`,
      look,
    },
  };
}

function whyOf(item: { readonly status: string; readonly drift: number }, row: SkuRow): string {
  if (item.status === "drift") return `hot stock is off by ${item.drift}`;
  return item.status === "stopped" ? `stopped: ${row.statusReason}` : `hot: ${item.status}`;
}

async function withLetter(
  parts: Parts,
  id: number,
  act: (letter: DeadLetter) => Promise<DeadLetterOutcome>,
): Promise<DeadLetterOutcome> {
  const letter = await parts.ledger.deadLetter(id);
  if (letter === null) return { id, outcome: "not-found", detail: "no such dead letter" };
  if (letter.state !== "open") {
    return { id, outcome: "already-settled", detail: `${letter.state} by ${letter.settledBy}` };
  }
  return act(letter);
}

/** Decides it now, as if it had come out of its lane again; what is decided already is stale. */
async function replay(
  parts: Parts,
  letter: DeadLetter,
  acting: Acting,
): Promise<DeadLetterOutcome> {
  const { id } = letter;
  let commands: ReturnType<typeof commandsOf>;
  try {
    const envelope = openEnvelope(letter.body, parts.messageKeys);
    // Its epoch may be past: whoever replays it has decided that it counts.
    const epoch = parts.fences.get(envelope.lane)?.epoch ?? envelope.epoch;
    commands = commandsOf({ ...envelope, epoch }, letter.tries + 1);
  } catch (error) {
    return {
      id,
      outcome: "failed",
      detail: error instanceof Error ? error.message : String(error),
    };
  }
  const { results } = await parts.line.run(commands);
  const bad = results.find((r) => r.status === "poison" || r.status === "broken");
  if (bad !== undefined && "reason" in bad) return { id, outcome: "failed", detail: bad.reason };
  const fresh = results.some((r) => "replayed" in r && !r.replayed);
  const outcome = fresh ? "replayed" : "stale";
  const settled = await settle(parts, id, { state: "replayed", ...acting, outcome });
  if (!settled) return { id, outcome: "already-settled", detail: "somebody else was first" };
  return fresh
    ? { id, outcome: "replayed", detail: "decided" }
    : { id, outcome: "stale", detail: "it was decided already: nothing changed" };
}

/** Discarding is a decision in the ledger: its ticket, if any, is voided through the lane. */
async function discard(
  parts: Parts,
  letter: DeadLetter,
  acting: Acting,
): Promise<DeadLetterOutcome> {
  const { reason } = acting;
  const { id, lane, itemId } = letter;
  if (itemId !== null && letter.kind === "ticket") {
    const fence = parts.fences.get(lane);
    const held = await parts.hot.lookup(lane, itemId);
    if (fence === null || held.kind === "closed") {
      return { id, outcome: "failed", detail: "hot stock is being rebuilt; ask again" };
    }
    if (held.kind === "pending") {
      const { ticket } = held.ticket;
      await parts.hot.enqueue(fence, { kind: "void", id: itemId, ticket, reason });
      parts.outboxBell.ring();
    }
  }
  const state = "discarded";
  const settled = await settle(parts, id, { state, ...acting, outcome: state });
  return settled
    ? { id, outcome: "discarded", detail: reason }
    : { id, outcome: "already-settled", detail: "somebody else was first" };
}

type Settling = DeadLetterSettlement & Acting & { readonly outcome: string };

/** False: somebody else was first, and it is their act that is written down. */
async function settle(
  { ledger }: Parts,
  id: number,
  { state, outcome, ...acting }: Settling,
): Promise<boolean> {
  const { actor, reason } = acting;
  if (!(await ledger.settleDeadLetter(id, { state, actor, reason }))) return false;
  const action = state === "replayed" ? "dead-letter.replay" : "dead-letter.discard";
  const change = { before: { state: "open" }, after: { state, outcome } };
  await ledger.audit({ ...acting, action, subject: `dead-letter:${id}`, ...change });
  return true;
}

const searchMax = 50;

async function search(parts: Parts, text: string): ReturnType<Oversight["search"]> {
  const wanted = text.trim().replace(/^["'`]+|["'`]+$/g, "");
  const hits = wanted === "" ? [] : await parts.ledger.search(wanted, searchMax);
  const looked = [
    "reservations by id, buyer, idempotency key and payment",
    "requests and traces",
    "SKUs",
    "sales",
    "operations",
    "dead letters",
  ];
  return { hits, looked };
}

async function health(parts: Parts): Promise<Health> {
  const probe = async (
    name: Health["parts"][number]["name"],
    ask: () => Promise<string>,
  ): Promise<Health["parts"][number]> => {
    const from = parts.clock.mono();
    try {
      const detail = await ask();
      return { name, ok: detail === "", ms: parts.clock.mono() - from, detail };
    } catch (error) {
      return { name, ok: false, ms: parts.clock.mono() - from, detail: reasonOf(error) };
    }
  };
  const all = await Promise.all([
    probe("ledger", async () => {
      await parts.ledger.now();
      return "";
    }),
    probe("hot", () => hotHealth(parts)),
    probe("bus", () => busHealth(parts)),
  ]);
  return { ready: all.every(({ ok }) => ok), parts: all };
}

/** Every lane: one whose queue is gone, or has no leader, holds up its buyers alone. */
async function busHealth({ bus, lanes }: Parts): Promise<string> {
  const asked = await Promise.allSettled(Array.from({ length: lanes }, (_, lane) => bus.lag(lane)));
  const bad = asked.flatMap((each, lane) =>
    each.status === "rejected" ? [{ lane, why: reasonOf(each.reason) }] : [],
  );
  const [first] = bad;
  if (first === undefined) return "";
  if (bad.length === lanes) return first.why;
  return `lanes ${bad.map(({ lane }) => lane).join(" ")}: ${first.why}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function hotHealth(parts: Parts): Promise<string> {
  const closed: number[] = [];
  for (let lane = 0; lane < parts.lanes; lane += 1) {
    const { open, epoch } = await parts.hot.observe(lane, []);
    const known = open && epoch !== null ? await parts.fences.since(lane, epoch) : null;
    if (known === null) closed.push(lane);
  }
  return closed.length === 0 ? "" : `closed lanes: ${closed.join(" ")}`;
}
