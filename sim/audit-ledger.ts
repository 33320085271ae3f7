import { createHash } from "node:crypto";
import { advanceLine, newLine, type OrderAccount } from "./audit-order.ts";
import { num, type Row, type Rows, text } from "./audit-rows.ts";

export type Complain = (invariant: string, message: string) => void;

const bucketNames = ["available", "reserved", "sold", "frozen", "lost"] as const;
type Bucket = (typeof bucketNames)[number];
type Balances = Record<Bucket, number>;

/** The auditor's own table of moves: from, to, and what it does to the buyer's count. */
const table: Readonly<Record<string, readonly [string | null, string | null, number]>> = {
  restock: ["supply", "available", 0],
  withdraw: ["available", "supply", 0],
  adjust_up: ["supply", "available", 0],
  adjust_down: ["available", "supply", 0],
  reserve: ["available", "reserved", 1],
  reject: [null, null, 0],
  confirm: ["reserved", "sold", 0],
  revive: ["available", "sold", 1],
  cancel: ["reserved", "available", -1],
  expire: ["reserved", "available", -1],
  refund: ["sold", "available", -1],
  refund_lost: ["sold", "lost", -1],
  freeze: ["available", "frozen", 0],
  unfreeze: ["frozen", "available", 0],
  count_found: ["frozen", "available", 0],
  count_lost: ["frozen", "lost", 0],
  count_surplus: ["supply", "available", 0],
};

export type Step = {
  readonly version: number;
  readonly hash: string;
  readonly available: number;
};

/** One SKU as its entries tell it. */
export class SkuAccount {
  readonly key: number;
  readonly id: string;
  readonly lane: number;
  balances: Balances = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };
  /** What came in from outside, less what went back. */
  stocked = 0;
  readonly steps: Step[] = [{ version: 0, hash: "0".repeat(64), available: 0 }];
  /** sale, buyer → units held or owned after each version that changed them. */
  readonly units = new Map<string, { readonly version: number; readonly units: number }[]>();

  constructor(key: number, id: string, lane: number) {
    this.key = key;
    this.id = id;
    this.lane = lane;
  }

  get last(): Step {
    const last = this.steps.at(-1);
    if (last === undefined) throw new Error("a SKU without a genesis");
    return last;
  }

  unitsAt(saleAndBuyer: string, version: number): number {
    const steps = this.units.get(saleAndBuyer) ?? [];
    return steps.findLast((step) => step.version <= version)?.units ?? 0;
  }
}

const orderColumns = `
  select o.order_no, o.order_id, o.buyer_id, s.sale_id, s.limit_per_buyer
  from orders o left join sales s on s.sale = o.sale where o.order_no = ?`;

const inventory = `
  select sku, sku_id, lane, total, available, reserved, sold, frozen, lost, version, hash
  from inventory order by sku`;

/** The ledger, replayed entry by entry with the auditor's own arithmetic. */
export class LedgerAudit {
  readonly skus = new Map<string, SkuAccount>();
  readonly orders = new Map<string, OrderAccount>();
  /** Orders that ended before their ticket was seen: no entry speaks of them. */
  readonly tombstones = new Map<string, "void" | "cancelled">();
  readonly #byKey = new Map<number, OrderAccount>();
  #lastOrder = 0;
  readonly #rows: Rows;
  readonly #complain: Complain;
  entries = 0;

  constructor(rows: Rows, complain: Complain) {
    this.#rows = rows;
    this.#complain = complain;
  }

  /** Reads what was committed since the last look, and judges it. */
  async follow(): Promise<void> {
    const rows = await this.#rows(inventory);
    const touched = new Set<OrderAccount>();
    for (const row of rows) {
      const sku = this.#account(row);
      if (num(row, "version") < sku.last.version) {
        this.#complain("I11", `SKU ${sku.id} went back to version ${num(row, "version")}`);
        continue;
      }
      if (num(row, "version") > sku.last.version) await this.#replay(sku, touched);
      this.#compareRow(sku, row);
    }
    for (const order of touched) this.#checkWhole(order);
    await this.#readTombstones();
  }

  /** The first decision under an id; undefined when there is none. */
  decision(id: string): "reserved" | "rejected" | "void" | "cancelled" | undefined {
    const tombstone = this.tombstones.get(id);
    if (tombstone !== undefined) return tombstone;
    const [line] = this.orders.get(id)?.lines.values() ?? [];
    if (line === undefined) return undefined;
    return line.state === "rejected" ? "rejected" : "reserved";
  }

  /** The cart as the entries tell it; null when none does. */
  contentOf(id: string): string | null {
    const lines = this.orders.get(id)?.lines;
    if (lines === undefined) return null;
    return [...lines]
      .map(([sku, line]) => `${sku}*${line.asked}`)
      .sort()
      .join(" ");
  }

  paidBy(id: string): string | null {
    const [line] = this.orders.get(id)?.lines.values() ?? [];
    return line?.paidBy ?? null;
  }

  isCancelled(id: string): boolean {
    const [line] = this.orders.get(id)?.lines.values() ?? [];
    return line?.state === "cancelled" || this.tombstones.get(id) === "cancelled";
  }

  async #readTombstones(): Promise<void> {
    const rows = await this.#rows(
      "select order_no, order_id, state, sale from orders where order_no > ? order by order_no",
      [this.#lastOrder],
    );
    for (const row of rows) {
      this.#lastOrder = num(row, "order_no");
      if (row["sale"] !== null) continue;
      const state = text(row, "state") === "void" ? "void" : "cancelled";
      this.tombstones.set(text(row, "order_id"), state);
    }
  }

  #account(row: Row): SkuAccount {
    const id = text(row, "sku_id");
    const known = this.skus.get(id);
    if (known !== undefined) return known;
    const account = new SkuAccount(num(row, "sku"), id, num(row, "lane"));
    this.skus.set(id, account);
    return account;
  }

  async #replay(sku: SkuAccount, touched: Set<OrderAccount>): Promise<void> {
    const rows = await this.#rows(
      `select *, lower(hex(previous_hash)) as previous_hex, lower(hex(hash)) as hex
       from inventory_log where sku = ? and version > ? order by version`,
      [sku.key, sku.last.version],
    );
    for (const row of rows) {
      this.entries += 1;
      const order = await this.#order(num(row, "order_no"));
      if (order !== null) touched.add(order);
      this.#checkEntry(sku, row, order);
      if (order !== null) this.#moveOrder(sku, order, row);
      sku.steps.push({
        version: num(row, "version"),
        hash: text(row, "hex"),
        available: num(row, "available"),
      });
    }
  }

  #checkEntry(sku: SkuAccount, row: Row, order: OrderAccount | null): void {
    const version = num(row, "version");
    const where = `SKU ${sku.id} version ${version}`;
    const operation = text(row, "operation_type");
    const [from, to] = table[operation] ?? [undefined, undefined];
    if (version !== sku.last.version + 1) {
      this.#complain("I3", `${where}: the entry before it is ${sku.last.version}`);
    }
    if (row["from_bucket"] !== from || row["to_bucket"] !== to) {
      this.#complain("I3", `${where}: ${operation} moves from ${from} to ${to}`);
    }
    const quantity = num(row, "quantity");
    for (const bucket of bucketNames) {
      if (from === bucket) sku.balances[bucket] -= quantity;
      if (to === bucket) sku.balances[bucket] += quantity;
    }
    if (from === "supply") sku.stocked += quantity;
    if (to === "supply") sku.stocked -= quantity;
    for (const bucket of bucketNames) {
      const found = num(row, bucket);
      if (found !== sku.balances[bucket]) {
        this.#complain("I3", `${where}: ${bucket} is ${found}, Σ says ${sku.balances[bucket]}`);
      }
      if (found < 0) this.#complain("I2", `${where}: ${bucket} is ${found}`);
    }
    if (text(row, "previous_hex") !== sku.last.hash) {
      this.#complain("I12", `${where}: its previous hash is not the entry's before it`);
    }
    if (hashOf(sku.id, row, order?.id ?? null) !== text(row, "hex")) {
      this.#complain("I12", `${where}: the hash does not fit the entry`);
    }
    if (text(row, "actor") === "") this.#complain("I12", `${where}: nobody did it`);
  }

  /** I1, I3: the row is what its entries say. */
  #compareRow(sku: SkuAccount, row: Row): void {
    let sum = 0;
    for (const bucket of bucketNames) {
      const found = num(row, bucket);
      sum += found;
      if (found !== sku.balances[bucket]) {
        const expected = sku.balances[bucket];
        this.#complain("I3", `SKU ${sku.id}: the row has ${found} ${bucket}, Σ says ${expected}`);
      }
    }
    if (sum !== num(row, "total") || sum !== sku.stocked) {
      const found = `${num(row, "total")} in the row, ${sum} in buckets`;
      this.#complain("I1", `SKU ${sku.id}: ${sku.stocked} stocked, ${found}`);
    }
    if (num(row, "version") !== sku.last.version || row["hash"] !== sku.last.hash) {
      this.#complain("I3", `SKU ${sku.id}: the row is not at its last entry`);
    }
  }

  async #order(key: number): Promise<OrderAccount | null> {
    if (key === 0) return null;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const [row] = await this.#rows(orderColumns, [key]);
    if (row === undefined) {
      this.#complain("I5", `an entry names order ${key}, which does not exist`);
      return null;
    }
    const order: OrderAccount = {
      key,
      id: text(row, "order_id"),
      sale: row["sale_id"] === null ? null : text(row, "sale_id"),
      buyer: row["buyer_id"] === null ? null : text(row, "buyer_id"),
      limit: row["limit_per_buyer"] === null ? null : num(row, "limit_per_buyer"),
      lines: new Map(),
    };
    this.#byKey.set(key, order);
    this.orders.set(order.id, order);
    return order;
  }

  #moveOrder(sku: SkuAccount, order: OrderAccount, row: Row): void {
    const operation = text(row, "operation_type");
    const quantity = num(row, "quantity");
    const version = num(row, "version");
    const line = order.lines.get(sku.id) ?? newLine(version, quantity);
    order.lines.set(sku.id, line);
    const problem = advanceLine(line, operation, quantity);
    if (problem !== null) {
      const found = `a line of ${line.quantity} that is ${line.state}`;
      const what = `${operation} of ${quantity} on ${found}`;
      this.#complain("I4", `order ${order.id}, SKU ${sku.id}: ${what} (${problem})`);
    }
    if (operation === "confirm" || operation === "revive") {
      line.paidBy = text(row, "operation_id");
    }
    const delta = (table[operation]?.[2] ?? 0) * quantity;
    if (delta !== 0) this.#countUnits(sku, order, version, delta);
  }

  #countUnits(sku: SkuAccount, order: OrderAccount, version: number, delta: number): void {
    const key = `${order.sale}\n${order.buyer}`;
    const steps = sku.units.get(key) ?? [];
    const units = (steps.at(-1)?.units ?? 0) + delta;
    steps.push({ version, units });
    sku.units.set(key, steps);
    if (order.limit !== null && delta > 0 && units > order.limit) {
      const found = `${units} units of SKU ${sku.id}, limit ${order.limit}`;
      this.#complain("I7", `buyer ${order.buyer} has ${found}`);
    }
  }

  /** All or nothing: every line of an order is decided alike, in one commit. */
  #checkWhole(order: OrderAccount): void {
    const states = new Set([...order.lines.values()].map((line) => line.state));
    if (states.size > 1) {
      this.#complain("I5", `order ${order.id}: its lines are ${[...states].join(" and ")}`);
    }
  }
}

function hashOf(sku: string, row: Row, orderId: string | null): string {
  const fields = [
    "holdfast-entry-1",
    row["previous_hex"],
    sku,
    row["version"],
    row["operation_type"],
    row["operation_id"],
    orderId,
    row["quantity"],
    row["from_bucket"],
    row["to_bucket"],
    bucketNames.map((bucket) => row[bucket]),
    row["actor"],
    row["reason"],
    row["created_at_ms"],
  ];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
