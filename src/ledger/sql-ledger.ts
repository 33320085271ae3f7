import type { Clock } from "../clock.ts";
import type {
  AuditRecord,
  Command,
  LaneRow,
  OperationRecord,
  RequestRecord,
  SkuRow,
} from "../domain/command.ts";
import type { LedgerEntry, ProjectedEntry, Settled } from "../domain/entry.ts";
import type { Lease } from "../domain/lease.ts";
import type { Asked } from "../domain/request-origin.ts";
import type { Sale, SaleState } from "../domain/sale.ts";
import type { Epoch, Instant, Lane, ReservationId, SaleId, SkuId } from "../domain/values.ts";
import { SqlAccounts } from "./accounts.ts";
import { auditLog, auditValues, insertAudit } from "./audit.ts";
import { commitCommands, decidingTime } from "./commit.ts";
import { ledgerCounts } from "./counts.ts";
import { bucketDamageOf } from "./damage.ts";
import { addDeadLetter, deadLetter, deadLetters, settleDeadLetter } from "./dead-letters.ts";
import { balancesAt, entriesAfter, entriesOf, versionAt } from "./entries.ts";
import { countRepairs, doubtLane, lanesOf } from "./lane-care.ts";
import { freeLeases, holdLeases, type LeaseWish, releaseLeases } from "./leases.ts";
import type {
  Accounts,
  AuditQuery,
  BalancesAt,
  BucketDamage,
  Commit,
  DeadLetter,
  DeadLetterQuery,
  DeadLetterSettlement,
  DueCursor,
  DueHold,
  EntryQuery,
  EntryRow,
  LaneState,
  Ledger,
  LedgerCounts,
  NewDeadLetter,
  OrderView,
  Page,
  SearchHit,
  Verification,
  VersionPoint,
} from "./ledger.ts";
import { operationsBy } from "./operations.ts";
import { dueHolds, idsMax, orderEntries, orderViews } from "./orders.ts";
import { verify } from "./proof.ts";
import { confirmAllPublished, confirmPublished, unpublished } from "./publication.ts";
import { nextEpoch, type Snapshot, settledTickets, snapshotOf } from "./rebuild.ts";
import { insertRequest, requestsOf, requestValues } from "./requests.ts";
import { endedSales, Sales } from "./sales.ts";
import { search } from "./search.ts";
import { secretOf } from "./secrets.ts";
import type { SqlDatabase, SqlReader } from "./sql-database.ts";
import { levelPage, levelsOf } from "./stock.ts";
import { Together } from "./together.ts";

/** The ledger over any `SqlDatabase`: each theme has its statements in a file of its own. */
export class SqlLedger implements Ledger {
  readonly #database: SqlDatabase;
  readonly #clock: Clock;
  readonly #sales = new Sales();
  readonly #orders: (id: ReservationId) => Promise<OrderView | null>;
  readonly accounts: Accounts;

  constructor(database: SqlDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#orders = this.#orderReads();
    this.accounts = new SqlAccounts(database, (reader) => decidingTime(database, reader, clock));
  }

  #orderReads(): (id: ReservationId) => Promise<OrderView | null> {
    const read = async (ids: readonly ReservationId[]) =>
      orderViews(this.#database, ids, await this.now());
    const { remote } = this.#database;
    if (remote === undefined) return async (id) => (await read([id]))[0] ?? null;
    const reads = new Together({ turn: remote.turn, max: idsMax, read });
    return (id) => reads.one(id);
  }

  commit(commands: readonly Command[]): Promise<Commit> {
    const context = { database: this.#database, clock: this.#clock, sales: this.#sales };
    return commitCommands(context, commands);
  }

  now(): Promise<Instant> {
    return decidingTime(this.#database, this.#database, this.#clock);
  }

  lanes(): Promise<readonly LaneState[]> {
    return lanesOf(this.#database);
  }

  nextEpoch(
    seen: Pick<LaneRow, "lane" | "epoch">,
    by: { readonly incarnation: string; readonly lease: Lease },
  ): Promise<Epoch | null> {
    return nextEpoch(this.#database, seen, by);
  }

  doubt(seen: Pick<LaneRow, "lane" | "epoch">, cause: string): Promise<void> {
    return doubtLane(this.#database, seen, cause);
  }

  repaired(lane: Lane, count: number): Promise<void> {
    return countRepairs(this.#database, lane, count);
  }

  hold(holder: string, wishes: readonly LeaseWish[]): Promise<readonly Lease[]> {
    const now = (reader: SqlReader) => decidingTime(this.#database, reader, this.#clock);
    return holdLeases(this.#database, now, { holder, wishes });
  }

  release(leases: readonly Lease[]): Promise<void> {
    return releaseLeases(this.#database, leases);
  }

  releaseAll(): Promise<void> {
    return freeLeases(this.#database);
  }

  snapshot(lane: Lane, held: readonly string[]): Promise<Snapshot> {
    return this.#database.snapshot((reader) => snapshotOf(reader, this.#sales, { lane, held }));
  }

  entriesAfter(sku: SkuId, version: number, limit: number): Promise<readonly ProjectedEntry[]> {
    return entriesAfter(this.#database, sku, { version, limit });
  }

  settled(lane: Lane, ticketIds: readonly string[]): Promise<readonly Settled[]> {
    return settledTickets(this.#database, lane, ticketIds);
  }

  order(id: ReservationId): Promise<OrderView | null> {
    return this.#orders(id);
  }

  orderEntries(id: ReservationId): Promise<readonly LedgerEntry[]> {
    return orderEntries(this.#database, id);
  }

  async sale(saleId: SaleId): Promise<Sale | null> {
    const [found] = await this.#sales.byId(this.#database, [saleId]);
    return found?.sale ?? null;
  }

  sales(page: Page): Promise<readonly Sale[]> {
    return this.#sales.newest(this.#database, page);
  }

  salesIn(states: readonly SaleState[]): Promise<readonly Sale[]> {
    return this.#sales.inStates(this.#database, states);
  }

  endedSales(among: readonly SaleId[]): Promise<readonly SaleId[]> {
    return endedSales(this.#database, among);
  }

  async level(sku: SkuId): Promise<SkuRow | null> {
    const [row] = await levelsOf(this.#database, [sku]);
    return row ?? null;
  }

  levels(skus: readonly SkuId[]): Promise<readonly SkuRow[]> {
    return levelsOf(this.#database, skus);
  }

  levelPage(after: string | null, limit: number): Promise<readonly SkuRow[]> {
    return levelPage(this.#database, after, limit);
  }

  balancesAt(points: readonly VersionPoint[]): Promise<readonly (BalancesAt | null)[]> {
    return balancesAt(this.#database, points);
  }

  versionAt(sku: SkuId, at: Instant): Promise<number> {
    return versionAt(this.#database, sku, at);
  }

  entries(sku: SkuId, query: EntryQuery): Promise<readonly EntryRow[]> {
    return entriesOf(this.#database, sku, query);
  }

  async operation(scope: string, operationId: string): Promise<OperationRecord | null> {
    const [found] = await operationsBy(this.#database, [{ scope, operationId }]);
    return found ?? null;
  }

  requests(scope: string): Promise<readonly RequestRecord[]> {
    return requestsOf(this.#database, scope);
  }

  async dueHolds(cursor: DueCursor | null, limit: number): Promise<readonly DueHold[]> {
    return dueHolds(this.#database, { now: await this.now(), cursor, limit });
  }

  search(text: string, limit: number): Promise<readonly SearchHit[]> {
    return search(this.#database.slow, text, limit);
  }

  verify(sku: SkuId | null): Promise<Verification> {
    return verify(this.#database.slow, sku);
  }

  async bucketDamage(skus: readonly SkuId[]): Promise<readonly BucketDamage[]> {
    const found: BucketDamage[] = [];
    for (const sku of skus) found.push(...(await bucketDamageOf(this.#database.slow, sku)));
    return found;
  }

  counts(): Promise<LedgerCounts> {
    return ledgerCounts(this.#database.slow);
  }

  unpublished(limit: number): Promise<readonly EntryRow[]> {
    return unpublished(this.#database.slow, limit);
  }

  published(
    marks: readonly { readonly sku: SkuId; readonly version: number }[],
    lease: Lease,
  ): Promise<void> {
    return confirmPublished(this.#database, marks, lease);
  }

  publishedAll(lease: Lease): Promise<void> {
    return confirmAllPublished(this.#database, lease);
  }

  async addDeadLetter(letter: NewDeadLetter): Promise<number> {
    return addDeadLetter(this.#database, letter, await this.now());
  }

  deadLetters(query: DeadLetterQuery): Promise<readonly DeadLetter[]> {
    return deadLetters(this.#database, query);
  }

  deadLetter(id: number): Promise<DeadLetter | null> {
    return deadLetter(this.#database, id);
  }

  async settleDeadLetter(id: number, settlement: DeadLetterSettlement): Promise<boolean> {
    return settleDeadLetter(this.#database, id, { ...settlement, at: await this.now() });
  }

  async audit({ origin, ...record }: Omit<AuditRecord, "at"> & Asked): Promise<void> {
    const { subject: scope, action: operation } = record;
    const at = await this.now();
    const request = origin && requestValues({ origin, scope, operation, operationId: "", at });
    await this.#database.transaction(async (session) => {
      await session.many(insertAudit, [auditValues({ ...record, at })]);
      if (request !== undefined) await session.many(insertRequest, [request]);
    });
  }

  auditLog(query: AuditQuery): Promise<readonly (AuditRecord & { readonly id: number })[]> {
    return auditLog(this.#database, query);
  }

  secret(name: "reservation-ids" | "messages"): Promise<Buffer> {
    return secretOf(this.#database, name);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
