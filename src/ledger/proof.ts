import type { SkuRow } from "../domain/command.ts";
import { entryHash, genesisHash, type LedgerEntry } from "../domain/entry.ts";
import { type Balances, buckets, canMove, move, moves, noUnits, totalOf } from "../domain/stock.ts";
import { type SkuId, skuId } from "../domain/values.ts";
import { bucketDamageOf } from "./damage.ts";
import { entryColumns } from "./entries.ts";
import type { Verification } from "./ledger.ts";
import { entryOf, skuRowOf } from "./row-parsers.ts";
import { integer, integerOrNull, textOrNull } from "./rows.ts";
import type { Row, SqlReader } from "./sql-database.ts";
import { levelPage, skuColumns } from "./stock.ts";

const entriesMax = 1_000;
const skusMax = 500;

const rowToProve = `
  select ${skuColumns}, i.total,
    (select max(m.version) from inventory_log m where m.sku = i.sku) as last_version
  from inventory i left join sales s on s.sale = i.sale
  where i.sku_id = ?`;

const entriesToProve = `
  select ${entryColumns}
  from inventory i
  join inventory_log l on l.sku = i.sku
  left join orders o on o.order_no = l.order_no
  where i.sku_id = ? and l.version > ? and l.version <= ?
  order by l.version limit ?`;

/** Entries, then order lines, whose SKU has no row: hops from SKU to SKU along an index. */
const entriesWithoutRow = `
  with recursive hops (sku) as (
    select min(sku) from inventory_log
    union all
    select (select min(l.sku) from inventory_log l where l.sku > k.sku) from hops k
    where k.sku is not null
  )
  select k.sku from hops k
  where k.sku is not null and not exists (select 1 from inventory i where i.sku = k.sku)
  limit 1`;

const linesWithoutRow = `
  with recursive hops (sku) as (
    select min(sku) from order_lines
    union all
    select (select min(n.sku) from order_lines n where n.sku > k.sku) from hops k
    where k.sku is not null
  )
  select k.sku from hops k
  where k.sku is not null and not exists (select 1 from inventory i where i.sku = k.sku)
  limit 1`;

type Broken = NonNullable<Verification["firstBroken"]>;
type SkuProof = { readonly entries: number; readonly broken: Broken | null };
type State = { version: number; hash: string; balances: Balances };

/**
 * Recomputes each chain from its first entry, then compares the row with the last entry and the
 * orders with the row; at last looks for what has no row at all. Entries never change, so those
 * up to the row's version are proved without a lock, in portions, while others write.
 */
export async function verify(reader: SqlReader, sku: SkuId | null): Promise<Verification> {
  let skus = 0;
  let entries = 0;
  for await (const each of skusToProve(reader, sku)) {
    const proof = await proveSku(reader, each);
    skus += 1;
    entries += proof.entries;
    if (proof.broken !== null) return { ok: false, skus, entries, firstBroken: proof.broken };
  }
  const firstBroken = sku === null ? await missingRow(reader) : null;
  return { ok: firstBroken === null, skus, entries, firstBroken };
}

/** A row that is gone took the SKU's name with it: its key stands for it. */
async function missingRow(reader: SqlReader): Promise<Broken | null> {
  for (const statement of [entriesWithoutRow, linesWithoutRow]) {
    const [found] = await reader.all(statement, []);
    if (found === undefined) continue;
    const key = integer(found, "sku");
    const what = `row of the SKU with key ${key}`;
    return { sku: skuId(`key-${key}`), version: 1, what, expected: "a row", found: "none" };
  }
  return null;
}

async function* skusToProve(reader: SqlReader, sku: SkuId | null): AsyncGenerator<SkuId> {
  if (sku !== null) {
    yield sku;
    return;
  }
  let after: string | null = null;
  for (;;) {
    const page: readonly SkuRow[] = await levelPage(reader, after, skusMax);
    for (const row of page) yield row.sku;
    after = page.at(-1)?.sku ?? null;
    if (after === null) return;
  }
}

async function proveSku(reader: SqlReader, sku: SkuId): Promise<SkuProof> {
  const [found] = await reader.all(rowToProve, [sku]);
  if (found === undefined) return { entries: 0, broken: null };
  const row = skuRowOf(found);
  const state: State = { version: 0, hash: genesisHash, balances: noUnits };
  for (;;) {
    const range = [sku, state.version, row.version, entriesMax];
    const page = await reader.all(entriesToProve, range);
    for (const each of page) {
      const broken = brokenEntry(sku, state, each);
      if (broken !== null) return { entries: state.version, broken };
    }
    if (page.length < entriesMax) break;
  }
  const broken = brokenRow(row, state, found) ?? (await brokenOrders(reader, row));
  return { entries: state.version, broken };
}

/** Moves the state on by one entry, or says what is wrong with it. */
function brokenEntry(sku: SkuId, state: State, row: Row): Broken | null {
  const version = state.version + 1;
  const differs = (what: string, expected: unknown, found: unknown): Broken | null =>
    expected === found
      ? null
      : { sku, version, what, expected: String(expected), found: String(found) };
  const entry = readable(row);
  if (typeof entry === "string") return differs("entry", "an entry that can be read", entry);
  const { operation, quantity, after } = entry;
  const { from, to } = moves[operation];
  const covered = canMove(state.balances, operation, quantity);
  const broken =
    differs("version", version, entry.version) ??
    differs("previousHash", state.hash, entry.previousHash) ??
    differs("from", from, textOrNull(row, "from_bucket")) ??
    differs("to", to, textOrNull(row, "to_bucket")) ??
    differs(`${operation} of ${quantity}`, "covered", covered ? "covered" : "not covered");
  if (broken !== null) return broken;
  const balances = move(state.balances, operation, quantity);
  for (const bucket of buckets) {
    const unlike = differs(bucket, balances[bucket], after[bucket]);
    if (unlike !== null) return unlike;
  }
  state.version = version;
  state.hash = entry.hash;
  state.balances = balances;
  return differs("hash", entryHash(entry), entry.hash);
}

function readable(row: Row): LedgerEntry | string {
  try {
    return entryOf(row);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function brokenRow(row: SkuRow, state: State, found: Row): Broken | null {
  const { sku } = row;
  const version = state.version;
  const compared: readonly (readonly [string, unknown, unknown])[] = [
    ["entries after the row's version", row.version, integerOrNull(found, "last_version") ?? 0],
    ["row's version", version, row.version],
    ["row's hash", state.hash, row.hash],
    ...buckets.map((name) => [`row's ${name}`, state.balances[name], row.balances[name]] as const),
    ["row's total", totalOf(state.balances), integer(found, "total")],
  ];
  for (const [what, expected, actual] of compared) {
    if (expected === actual) continue;
    // A missing entry is the one after the last that is there.
    const at = version < row.version ? version + 1 : version;
    return { sku, version: at, what, expected: String(expected), found: String(actual) };
  }
  return null;
}

async function brokenOrders(reader: SqlReader, row: SkuRow): Promise<Broken | null> {
  const [damage] = await bucketDamageOf(reader, row.sku);
  if (damage === undefined) return null;
  const order = damage.reservationId === null ? "its orders" : `order ${damage.reservationId}`;
  return {
    sku: row.sku,
    version: row.version,
    what: `${damage.what} of ${order}`,
    expected: String(damage.expected),
    found: String(damage.found),
  };
}
