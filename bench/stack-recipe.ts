import { Redis } from "ioredis";
import { createPool, type Pool, type PoolConnection, type RowDataPacket } from "mysql2/promise";
import type { Servers } from "./stack-servers.ts";

const sku = "sku-1";
const stockKey = `stock:${sku}`;
const version = "1";
const topic = "inventory_topic";
const group = "inventory_group";
/** Messages that its consumer has in hand at once. */
const consumersMax = 16;

export type RecipeOptions = {
  readonly servers: Servers;
  readonly stock: number;
  /** Connections to the database: as many transactions at once. */
  readonly connections: number;
};

/**
 * The usual recipe on servers, built as well as it can be: a script takes the units off a hash, a
 * transaction takes them off the row, logs the deduction and writes the order, a message an order
 * tells a consumer, who skips repeats by a table of keys and confirms log and order.
 *
 * In its favour: pooled connections with prepared statements; one shared connection to Redis; the
 * order is inserted as locked; its message goes to a Redis stream, not through a transactional
 * message's two steps and check-back; and an order counts before its consumer has seen it.
 */
export class StackRecipe {
  readonly #redis: Redis;
  readonly #reader: Redis;
  readonly #pool: Pool;
  readonly #script: string;
  #consuming: Promise<void> = Promise.resolve();
  #isClosing = false;

  static async open({ servers, stock, connections }: RecipeOptions): Promise<StackRecipe> {
    await servers.redis.plain.flushall();
    const uri = (await servers.freshDatabase()).replace(/^\w+/, "mysql");
    const pool = createPool({ uri, connectionLimit: connections, maxIdle: connections });
    for (const table of tables) await pool.query(table);
    await pool.query(
      "insert into inventory (sku_id, total_stock, available_stock) values (?, ?, ?)",
      [...[sku, stock, stock]],
    );
    const redis = clientOf(servers);
    await redis.hset(stockKey, { total: stock, available: stock, frozen: 0, version });
    await redis.xgroup("CREATE", topic, group, "$", "MKSTREAM");
    const script = String(await redis.script("LOAD", decrease));
    return new StackRecipe(redis, clientOf(servers), pool, script);
  }

  private constructor(redis: Redis, reader: Redis, pool: Pool, script: string) {
    this.#redis = redis;
    this.#reader = reader;
    this.#pool = pool;
    this.#script = script;
  }

  /** Its script, called once; false: sold out. */
  async decrease(): Promise<boolean> {
    return (await this.#redis.evalsha(this.#script, 1, stockKey, version, 1)) === 1;
  }

  /** Its transaction; durable when it resolves. */
  async transact(n: number): Promise<boolean> {
    const connection = await this.#pool.getConnection();
    try {
      await connection.query("begin");
      const isThere = await takeAndWrite(connection, orderId(n));
      await connection.query(isThere ? "commit" : "rollback");
      return isThere;
    } finally {
      connection.release();
    }
  }

  /** The whole of it, as a buyer's request runs through it. */
  async order(n: number): Promise<boolean> {
    if (!(await this.decrease())) return false;
    if (!(await this.transact(n))) return false;
    await this.#redis.xadd(topic, "*", "bizId", orderId(n), "skuId", sku, "quantity", 1);
    return true;
  }

  /** From now on messages are consumed, beside everything else. */
  consume(): void {
    const consumer = async (index: number): Promise<void> => {
      while (!this.#isClosing) await this.#consumeSome(`consumer-${index}`);
    };
    this.#consuming = consumer(0);
  }

  async #consumeSome(name: string): Promise<void> {
    const from = [
      ["COUNT", consumersMax, "BLOCK", 100],
      ["STREAMS", topic, ">"],
    ].flat();
    const reply: unknown = await this.#reader.call("XREADGROUP", "GROUP", group, name, ...from);
    const messages = messagesOf(reply);
    await Promise.all(messages.map(({ bizId }) => this.#confirm(bizId)));
    if (messages.length > 0) await this.#redis.xack(topic, group, ...messages.map(({ id }) => id));
  }

  async #confirm(bizId: string): Promise<void> {
    const pool = this.#pool;
    const asked = "select id from dedup_table where biz_id = ?";
    const [known] = await pool.execute<RowDataPacket[]>(asked, [bizId]);
    if (known.length > 0) return;
    await pool.execute("update inventory_log set status = 'success' where order_id = ?", [bizId]);
    await pool.execute("update orders set inventory_status = 'confirmed' where order_id = ?", [
      bizId,
    ]);
    await pool.execute("insert into dedup_table (biz_id) values (?)", [bizId]);
  }

  /** Orders and deductions and units taken, when they are the same number; else -1. */
  async sold(): Promise<number> {
    const [rows] = await this.#pool.query<RowDataPacket[]>(
      `select (select count(*) from orders) as orders, (select count(*) from inventory_log) as logs,
        (select total_stock - available_stock from inventory) as taken`,
    );
    const [orders, logs, taken] = ["orders", "logs", "taken"].map((name) =>
      Number(rows[0]?.[name]),
    );
    return orders === logs && logs === taken ? (orders ?? -1) : -1;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#consuming;
    this.#redis.disconnect();
    this.#reader.disconnect();
    await this.#pool.end();
  }
}

function clientOf({ redis }: Servers): Redis {
  return new Redis(redis.url, { protocol: 2 });
}

function orderId(n: number): string {
  return `order_${String(n).padStart(12, "0")}`;
}

async function takeAndWrite(connection: PoolConnection, id: string): Promise<boolean> {
  const [taken] = await connection.execute(
    `update inventory set available_stock = available_stock - ?, updated_at = now()
     where sku_id = ? and available_stock >= ? and status = 'normal'`,
    [1, sku, 1],
  );
  if (!("affectedRows" in taken) || taken.affectedRows !== 1) return false;
  await connection.execute(
    `insert into inventory_log (sku_id, quantity, operation_type, order_id, created_at)
     values (?, ?, 'DECR', ?, now())`,
    [sku, 1, id],
  );
  await connection.execute(
    `insert into orders (order_id, sku_id, quantity, inventory_status, created_at)
     values (?, ?, ?, 'locked', now())`,
    [id, sku, 1],
  );
  return true;
}

type Message = { readonly id: string; readonly bizId: string };

function messagesOf(reply: unknown): readonly Message[] {
  if (!Array.isArray(reply)) return [];
  const streams: unknown[] = reply;
  return streams.flatMap((stream) => {
    const items: unknown = Array.isArray(stream) ? stream[1] : null;
    if (!Array.isArray(items)) return [];
    return items.map(([id, fields]: [string, string[]]) => ({ id, bizId: fields[1] ?? "" }));
  });
}

const decrease = `
  if redis.call('hget', KEYS[1], 'version') ~= ARGV[1] then return -1 end
  local available = tonumber(redis.call('hget', KEYS[1], 'available'))
  local required = tonumber(ARGV[2])
  if available < required then return -2 end
  redis.call('hincrby', KEYS[1], 'available', -required)
  return 1`;

const tables = [
  `create table inventory (
    id bigint unsigned not null auto_increment primary key,
    sku_id varchar(64) not null unique,
    total_stock bigint not null default 0,
    available_stock bigint not null default 0,
    frozen_stock bigint not null default 0,
    status varchar(20) not null default 'normal',
    created_at datetime not null default current_timestamp,
    updated_at datetime not null default current_timestamp
  ) engine = InnoDB default charset = utf8mb4`,
  `create table inventory_log (
    id bigint unsigned not null auto_increment primary key,
    sku_id varchar(64) not null,
    quantity int not null,
    operation_type varchar(20) not null,
    order_id varchar(64),
    status varchar(20) not null default 'pending',
    created_at datetime not null default current_timestamp,
    key idx_sku_time (sku_id, created_at),
    key idx_order (order_id)
  ) engine = InnoDB default charset = utf8mb4`,
  `create table orders (
    order_id varchar(64) not null primary key,
    sku_id varchar(64) not null,
    quantity int not null,
    inventory_status varchar(20) not null,
    created_at datetime not null default current_timestamp
  ) engine = InnoDB default charset = utf8mb4`,
  `create table dedup_table (
    id bigint unsigned not null auto_increment primary key,
    biz_id varchar(128) not null,
    created_at datetime not null default current_timestamp,
    unique key uk_biz_id (biz_id)
  ) engine = InnoDB default charset = utf8mb4`,
];
