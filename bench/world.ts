import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeReservationId } from "../src/domain/reservation-id.ts";
import type { ReserveTicket } from "../src/domain/ticket.ts";
import {
  buyerId,
  type Lane,
  type OperationId,
  operationId,
  quantity,
  type SaleId,
  type SkuId,
  saleId,
  skuId,
} from "../src/domain/values.ts";
import type { ReserveRequest } from "../src/engine/engine.ts";
import { type Events, silentEvents } from "../src/events.ts";
import { type Holdfast, type OpenOptions, openHoldfast } from "../src/wire.ts";

/** What a run must leave behind; a run that does not has no figure. */
export class BrokenInvariant extends Error {
  override readonly name = "BrokenInvariant";
}

/** A Holdfast of its own. */
export type World = AsyncDisposable & {
  readonly holdfast: Holdfast;
  /** How often hot stock was loaded anew, and how long it took. */
  readonly rebuilds: number[];
};

/** In a temporary folder: SQLite with its log, flushed at every commit. */
export type FileWorld = World & { readonly file: string };

export async function openWorld(events: Partial<Events> = {}): Promise<FileWorld> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  const file = join(folder, "ledger.db");
  const world = await openWorldOn({ ledgerUrl: `sqlite:${file}` }, events);
  const close = async (): Promise<void> => {
    await world[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  };
  return { ...world, file, [Symbol.asyncDispose]: close };
}

export type WorldStores = Pick<
  OpenOptions,
  "ledgerUrl" | "hotUrl" | "busUrl" | "roles" | "hearsDecisions" | "eventsOut"
>;

/** On stores that stand already and are nobody else's. */
export async function openWorldOn(
  stores: WorldStores,
  events: Partial<Events> = {},
): Promise<World> {
  const rebuilds: number[] = [];
  const heard: Events = {
    ...silentEvents,
    rebuilt: (_lane, { ms }) => rebuilds.push(ms),
    workerFailed: (worker, error) => process.stderr.write(`${worker}: ${String(error)}\n`),
    alarm: (what, detail) => process.stderr.write(`${what}: ${detail}\n`),
    ...events,
  };
  const holdfast = await openHoldfast({ ...stores, events: heard });
  await holdfast.start();
  return { holdfast, rebuilds, [Symbol.asyncDispose]: () => holdfast[Symbol.asyncDispose]() };
}

export type Sale = { readonly saleId: SaleId; readonly sku: SkuId };

export type SaleOptions = {
  readonly name: string;
  readonly stock: number;
  readonly holdSeconds?: number;
  readonly limitPerBuyer?: number | null;
};

export async function openSale(world: World, options: SaleOptions): Promise<Sale> {
  const { name, stock } = options;
  const sku = skuId(`${name}-sku`);
  return { saleId: await openSaleOf(world, { ...options, items: [{ sku, stock }] }), sku };
}

type ManyOptions = Omit<SaleOptions, "stock"> & {
  readonly items: readonly { readonly sku: SkuId; readonly stock: number }[];
};

/** A sale of any number of SKUs. */
export async function openSaleOf({ holdfast }: World, options: ManyOptions): Promise<SaleId> {
  const { name, items, holdSeconds = 3_600, limitPerBuyer = null } = options;
  const id = saleId(name);
  const made = await holdfast.engine.merchandising.createSale(
    {
      ...{ saleId: id, title: name, opensAt: null, closesAt: null },
      ...{ holdSeconds, limitPerBuyer, items },
    },
    { actor: "bench" },
  );
  if (!made.ok) throw new Error(`sale ${name}: ${made.detail}`);
  await moveSale(holdfast, { saleId: id }, "open");
  return id;
}

const moveWithinMs = 30_000;

export async function moveSale(
  { engine }: Holdfast,
  { saleId: id }: Pick<Sale, "saleId">,
  to: "open" | "closed",
): Promise<void> {
  const until = performance.now() + moveWithinMs;
  const move = () =>
    engine.merchandising.moveSale(id, { to, operationId: null }, { actor: "bench" });
  let moved = await move();
  // On a busy machine hot stock may hear of it a little later.
  while (!moved.ok && moved.code === "STOCK_CLOSED" && performance.now() < until) {
    moved = await move();
  }
  if (!moved.ok) throw new Error(`sale ${id}: ${moved.detail}`);
}

/** One unit for the n-th buyer, who is a new one for every n. */
export function requestOf(sale: Sale, n: number): ReserveRequest {
  return {
    saleId: sale.saleId,
    buyerId: buyerId(`buyer-${n}`),
    idempotencyKey: keyOf(n),
    lines: [{ sku: sale.sku, quantity: quantity(1) }],
  };
}

/** Its ticket, as a buyer's request makes it. */
export function ticketOf(
  { holdfast }: World,
  { sale, lane }: SaleInLane,
  n: number,
): ReserveTicket {
  const { saleId, buyerId, idempotencyKey, lines } = requestOf(sale, n);
  const named = { lane, saleId, buyerId, idempotencyKey };
  const id = makeReservationId(holdfast.parts.idSecret, named);
  const fingerprint = `${sale.sku}*1`;
  return { kind: "reserve", id, fingerprint, lines, saleId, buyerId, idempotencyKey };
}

export type SaleInLane = { readonly sale: Sale; readonly lane: Lane };

function keyOf(n: number): OperationId {
  return operationId(`key-${n}`);
}

export type Expected = {
  /** Null: all of them. */
  readonly sale: Sale | null;
  /** Units that buyers were told are theirs and that have not ended. */
  readonly reserved: number | null;
  readonly repairs?: number;
};

type Plain = number | boolean | null;

const drainWithinMs = 30_000;

/** At rest: hot stock equals the ledger, every chain holds, and what was sold is what was told. */
export async function prove({ holdfast }: World, expected: Expected): Promise<void> {
  const { oversight } = holdfast.engine;
  const rests = await holdfast.drain(drainWithinMs);
  const { drift, behind, inFlight, repairs, stopped } = await oversight.reconciliation();
  const sku = expected.sale?.sku ?? null;
  const level = sku === null ? null : await oversight.level(sku);
  const verification = await oversight.verify(sku);
  const found: Record<string, readonly [found: Plain, wanted: Plain]> = {
    rests: [rests, true],
    drift: [drift, 0],
    behind: [behind, 0],
    inFlight: [inFlight, 0],
    repairs: [repairs, expected.repairs ?? 0],
    stopped: [stopped, 0],
    auditOk: [verification.ok, true],
    reserved: [level?.balances.reserved ?? null, expected.reserved],
  };
  const broken = Object.entries(found).filter(([, [is, wanted]]) => is !== wanted);
  if (broken.length === 0) return;
  const words = broken.map(([name, [is, wanted]]) => `${name} is ${is}, not ${wanted}`);
  throw new BrokenInvariant(words.join(", "));
}
