import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";

/**
 * The usual recipe, built as well as it can be: one transaction per order, which takes the units
 * off the row if they are there, notes the deduction and writes the order. The same driver, the
 * same log, the same flush at commit as our ledger; prepared statements; no check of repeats or
 * limits, and half of our columns, which is in its favour.
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
    database.prepare("insert into inventory values ('sku-1', ?, 'normal', 0)").run(stock);
    this.#order = prepare(database);
  }

  /** One order, durable when it resolves; false: sold out. */
  async order(n: number): Promise<boolean> {
    return this.#order(`order-${n}`, "sku-1");
  }

  /** Orders, deductions and units taken are the same number. */
  sold(): number {
    const sums = this.#database
      .prepare<[], { orders: number; logs: number; left: number }>(
        `select (select count(*) from orders) as orders,
          (select count(*) from inventory_log) as logs,
          (select available_stock from inventory) as left`,
      )
      .get();
    return sums !== undefined && sums.orders === sums.logs ? sums.orders : -1;
  }

  async close(): Promise<void> {
    this.#database.close();
    await rm(this.#folder, { recursive: true });
  }
}

const tables = `
  create table inventory (
    sku_id text primary key,
    available_stock integer not null,
    status text not null,
    updated_at integer not null
  );
  create table inventory_log (
    id integer primary key,
    sku_id text not null,
    quantity integer not null,
    operation_type text not null,
    order_id text not null,
    status text not null,
    created_at integer not null
  );
  create index inventory_log_by_order on inventory_log (order_id);
  create table orders (
    order_id text primary key,
    sku_id text not null,
    quantity integer not null,
    inventory_status text not null,
    created_at integer not null
  );
`;

function prepare(database: Sqlite.Database): (orderId: string, skuId: string) => boolean {
  const take = database.prepare(
    `update inventory set available_stock = available_stock - ?, updated_at = ?
     where sku_id = ? and available_stock >= ? and status = 'normal'`,
  );
  const log = database.prepare(
    `insert into inventory_log (sku_id, quantity, operation_type, order_id, status, created_at)
     values (?, ?, 'DECR', ?, 'pending', ?)`,
  );
  const order = database.prepare(
    `insert into orders (order_id, sku_id, quantity, inventory_status, created_at)
     values (?, ?, ?, 'locked', ?)`,
  );
  const transaction = database.transaction((orderId: string, skuId: string) => {
    const now = Date.now();
    if (take.run(1, now, skuId, 1).changes === 0) return false;
    log.run(skuId, 1, orderId, now);
    order.run(orderId, skuId, 1, now);
    return true;
  });
  return (orderId, skuId) => transaction.immediate(orderId, skuId);
}
