import type { Desk } from "../client/desk.ts";
import { Refusal } from "../client/desk-errors.ts";
import {
  type EntryBody,
  EntryPage,
  LevelBody,
  ReconciliationBody,
  ReservationBody,
  VerificationBody,
} from "../http/contract.ts";
import type { AuditFact, EntryFact, LevelFact, OrderFact, StoresFact, Witness } from "./witness.ts";

const pageLimit = 200;

/** The ledger as the API tells it: for a server of which nothing but the URL is known. */
export function httpWitness(desk: Desk): Witness {
  return {
    level: (sku) => level(desk, sku),
    entries: (sku) => entries(desk, sku),
    order: (id) => order(desk, id),
    audit: (skus) => audit(desk, skus),
  };
}

export async function storesNow(desk: Desk): Promise<StoresFact> {
  return desk.get("/v1/reconciliation", ReconciliationBody);
}

async function level(desk: Desk, sku: string): Promise<LevelFact | null> {
  const found = await orNull(desk.get(`/v1/stock/${encodeURIComponent(sku)}`, LevelBody));
  if (found === null) return null;
  const { version, hash, available, reserved, sold, frozen, lost } = found;
  return { sku, version, hash, buckets: { available, reserved, sold, frozen, lost } };
}

async function* entries(desk: Desk, sku: string): AsyncIterable<EntryFact> {
  const path = `/v1/stock/${encodeURIComponent(sku)}/entries?limit=${pageLimit}`;
  for (let next: string | null = path; next !== null; ) {
    const page: { items: EntryBody[]; next: string | null } = await desk.get(next, EntryPage);
    yield* page.items;
    next = page.next;
  }
}

async function order(desk: Desk, id: string): Promise<OrderFact | null> {
  const path = `/v1/reservations/${encodeURIComponent(id)}`;
  const found = await orNull(desk.get(path, ReservationBody));
  if (found === null) return null;
  const refunded = found.refunds.flatMap(({ items }) => items);
  return { id, state: found.state, lines: found.items, refunded };
}

async function audit(desk: Desk, skus: readonly string[]): Promise<AuditFact> {
  const facts = [];
  for (const sku of skus) {
    facts.push(await desk.post("/v1/audit/verify", { sku }, { schema: VerificationBody }));
  }
  const broken = facts.find(({ firstBroken }) => firstBroken !== null)?.firstBroken ?? null;
  return {
    ok: facts.every(({ ok }) => ok),
    entries: facts.reduce((total, one) => total + one.entries, 0),
    firstBroken:
      broken &&
      `${broken.sku} ${broken.version}: ${broken.what}, ${broken.expected} / ${broken.found}`,
  };
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refusal && error.problem.status === 404) return null;
    throw error;
  }
}
