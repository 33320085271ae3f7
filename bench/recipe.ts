import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";

/**
 * The usual recipe, built as well as it can be: one transaction per order, which notes the key of
 * its message so that a repeat is skipped, takes the units off the row if they are there, logs
 * the deduction and writes the order as locked. Its four tables with their columns and indexes;
 * the same driver, the same log, the same flush at commit as our ledger; prepared statements, and
 * ids that grow, so that its indexes only ever grow at their ends.
 *
 * In its favour: the order is inserted as locked, instead of in a transaction before, and an
 * update here; its message is neither sent nor signed nor received, and the transaction in which
 * the receiver confirms log and order is left out; no limit per buyer, no deadline of a hold, no
 * chain of hashes.
 */
export class Recipe {
  readonly #database: Sqlite.Database;
  readonly #folder: string;
  readonly #order: (orderId: string, skuId: string) => boolean;

  static async open(stock: number): Promise<Recipe> {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-recipe-"));
    const database = new Sqlite(join(folder, "recipe.db"));
    return new Recipe(database, folder, stock);
  }

  private constructor(database: Sqlite.Database, folder: string, stock: number) {
    this.#database = database;
    this.#folder = folder;
    database.pragma("journal_mode = wal");
    database.pragma("synchronous = full");
    database.pragma("cache_size = -65536");
    database.pragma("wal_autocheckpoint = 8192");
    database.exec(tables);
    const now = Date.now();
    database.prepare(stocked).run("sku-1", stock, stock, now, now);
    this.#order = prepare(database);
  }

  /** One order, durable when it resolves; false: sold out, or told before. */
  async order(n: number): Promise<boolean> {
    return this.#order(`order_${String(n).padStart(12, "0")}`, "sku-1");
  }

  /** Keys, orders, deductions and units taken are the same number. */
  sold(): number {
    const sums = this.#database
      .prepare<[], { keys: number; orders: number; logs: number; taken: number }>(
        `select (select count(*) from dedup_table) as keys,
          (select count(*) from orders where inventory_status = 'locked') as orders,
          (select count(*) from inventory_log) as logs,
          (select total_stock - available_stock from inventory) as taken`,
      )
      .get();
    if (sums === undefined) return -1;
    const { keys, orders, logs, taken } = sums;
    return keys === orders && orders === logs && logs === taken ? orders : -1;
  }

  async close(): Promise<void> {
    this.#database.close();
    await rm(this.#folder, { recursive: true });
  }
}

const tables = `
  create table inventory (
    id integer primary key,
    sku_id text not null unique,
    total_stock integer not null default 0,
    available_stock integer not null default 0,
    frozen_stock integer not null default 0,
    status text not null default 'normal',
    created_at integer not null,
    updated_at integer not null
  );
  create table inventory_log (
    id integer primary key,
    sku_id text not null,
    quantity integer not null,
    operation_type text not null,
    order_id text,
    status text not null default 'pending',
    created_at integer not null
  );
  create index idx_sku_time on inventory_log (sku_id, created_at);
  create table orders (
    order_id text primary key,
    sku_id text not null,
    quantity integer not null,
    inventory_status text not null,
    created_at integer not null
  );
  create table dedup_table (
    id integer primary key,
    biz_id text not null unique,
    created_at integer not null
  );
`;

const stocked = `
  insert into inventory (sku_id, total_stock, available_stock, created_at, updated_at)
  values (?, ?, ?, ?, ?)`;

function prepare(database: Sqlite.Database): (orderId: string, skuId: string) => boolean {
  const once = database.prepare(
    "insert into dedup_table (biz_id, created_at) values (?, ?) on conflict do nothing",
  );
  const take = database.prepare(
    `update inventory set available_stock = available_stock - ?, updated_at = ?
     where sku_id = ? and available_stock >= ? and status = 'normal'`,
  );
  const log = database.prepare(
    `insert into inventory_log (sku_id, quantity, operation_type, order_id, created_at)
     values (?, ?, 'DECR', ?, ?)`,
  );
  const order = database.prepare(
    `insert into orders (order_id, sku_id, quantity, inventory_status, created_at)
     values (?, ?, ?, 'locked', ?)`,
  );
  const transaction = database.transaction((orderId: string, skuId: string) => {
    const now = Date.now();
    if (once.run(orderId, now).changes === 0) return false;
    if (take.run(1, now, skuId, 1).changes === 0) return false;
    log.run(skuId, 1, orderId, now);
    order.run(orderId, skuId, 1, now);
    return true;
  });
  return (orderId, skuId) => transaction.immediate(orderId, skuId);
}
