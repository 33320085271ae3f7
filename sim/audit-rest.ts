import type { LineAccount, OrderAccount } from "./audit-order.ts";
import { num, type Row, text } from "./audit-rows.ts";
import type { Operated } from "./operator.ts";
import type { World } from "./world.ts";

type Rows = readonly Row[];

/** The proof at rest: rows against entries, answers against rows, and what no seed may cost. */
export class RestAudit {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async prove(): Promise<void> {
    const world = this.#world;
    for (let lane = 0; lane < world.plan.lanes; lane += 1) world.auditor.sample(lane, true);
    await this.#orders();
    await this.#payments();
    await this.#operations();
    this.#answers();
    await this.#costs();
  }

  #rows(sql: string): Promise<Rows> {
    return this.#world.database.all(sql, []);
  }

  #complain(invariant: string, message: string): void {
    this.#world.complain(invariant, message);
  }

  /** I4, I5: orders, their lines and the buckets say what the entries say. */
  async #orders(): Promise<void> {
    const { ledger } = this.#world.auditor;
    const lines = await this.#rows(
      `select o.order_id, o.state, o.expires_at_ms, i.sku_id, l.quantity, l.restocked,
         l.written_off, l.decided_version
       from orders o join order_lines l on l.order_no = o.order_no
       join inventory i on i.sku = l.sku`,
    );
    const sums = new Map<string, { reserved: number; sold: number }>();
    for (const row of lines) {
      const order = ledger.orders.get(text(row, "order_id"));
      const line = order?.lines.get(text(row, "sku_id"));
      if (order === undefined || line === undefined) {
        this.#complain("I5", `order ${text(row, "order_id")} has a line without an entry`);
        continue;
      }
      this.#compareLine(order, line, row);
      const sum = sums.get(text(row, "sku_id")) ?? { reserved: 0, sold: 0 };
      sums.set(text(row, "sku_id"), sum);
      if (line.state === "reserved") sum.reserved += line.quantity;
      if (line.state === "sold") sum.sold += line.quantity - line.refunded - line.writtenOff;
    }
    for (const [id, { balances }] of ledger.skus) {
      const { reserved, sold } = sums.get(id) ?? { reserved: 0, sold: 0 };
      if (balances.reserved !== reserved || balances.sold !== sold) {
        const found = `${balances.reserved} reserved and ${balances.sold} sold`;
        this.#complain("I4", `SKU ${id}: ${found}, orders say ${reserved} and ${sold}`);
      }
    }
    await this.#deadlines();
  }

  #compareLine(order: OrderAccount, line: LineAccount, row: Row): void {
    const state = text(row, "state");
    const expected = stateOf(order);
    if (state !== expected) {
      this.#complain("I4", `order ${order.id} is ${state}, its entries say ${expected}`);
    }
    const same =
      num(row, "quantity") === line.asked &&
      num(row, "restocked") === line.refunded &&
      num(row, "written_off") === line.writtenOff &&
      num(row, "decided_version") === line.decidedAt;
    if (!same) this.#complain("I4", `order ${order.id}: a line is not what its entries say`);
  }

  /** Paid before the deadline, expired after it, by the ledger's clock. */
  async #deadlines(): Promise<void> {
    const rows = await this.#rows(
      `select o.order_id, o.expires_at_ms, l.operation_type, l.created_at_ms
       from inventory_log l join orders o on o.order_no = l.order_no
       where l.operation_type in ('confirm', 'expire')`,
    );
    for (const row of rows) {
      const at = num(row, "created_at_ms");
      const deadline = num(row, "expires_at_ms");
      const operation = text(row, "operation_type");
      const right = operation === "confirm" ? at < deadline : at >= deadline;
      if (!right) {
        const by = `${at - deadline} ms after its deadline`;
        this.#complain("I4", `order ${text(row, "order_id")}: ${operation} ${by}`);
      }
    }
  }

  /** Each payment that was told is decided once, as it was answered. */
  async #payments(): Promise<void> {
    const { ledger, answers } = this.#world.auditor;
    const rows = await this.#rows(
      `select o.order_id, p.payment_id, p.state, p.code
       from payments p join orders o on o.order_no = p.order_no`,
    );
    const found = new Map<string, string>();
    const taken = new Set<string>();
    for (const row of rows) {
      const id = text(row, "order_id");
      const payment = text(row, "payment_id");
      const state = text(row, "state");
      found.set(`${id} ${payment}`, state);
      if (row["code"] !== null) continue;
      if (taken.has(id)) this.#complain("payments", `order ${id} has taken two payments`);
      taken.add(id);
      if (ledger.paidBy(id) !== payment) {
        this.#complain("payments", `payment ${payment} of ${id} is taken without an entry`);
      }
    }
    for (const [key, decided] of answers.payments) {
      const state = found.get(key) ?? "nowhere";
      const right = decided === "taken" ? state === "taken" : state === "due";
      if (!right) this.#complain("payments", `payment ${key}: answered ${decided}, is ${state}`);
    }
  }

  /** I12: each act of an operator has its entries once, and a line in the audit log. */
  async #operations(): Promise<void> {
    const rows = await this.#rows(
      `select i.sku_id, l.operation_type, l.operation_id, l.quantity, l.from_bucket, l.to_bucket
       from inventory_log l join inventory i on i.sku = l.sku where l.order_no = 0`,
    );
    for (const operated of this.#world.workload.operators.operations) {
      const own = rows.filter(
        (row) => row["operation_id"] === operated.operationId && row["sku_id"] === operated.sku,
      );
      this.#operation(operated, own);
    }
    const [audits] = await this.#rows(
      `select count(*) as n from audit_log where actor = 'operator' and action like 'stock.%'
       and action not in ('stock.stop', 'stock.resume')`,
    );
    const [records] = await this.#rows(
      `select count(*) as n from operations where actor = 'operator'
       and operation in ('restock', 'withdraw', 'adjust_up', 'adjust_down', 'freeze', 'unfreeze',
         'count')`,
    );
    const logged = audits === undefined ? 0 : num(audits, "n");
    const decided = records === undefined ? 0 : num(records, "n");
    if (logged !== decided) {
      this.#complain("I12", `${decided} acts of operators, ${logged} lines in the audit log`);
    }
  }

  #operation(operated: Operated, own: Rows): void {
    const { operationId, kind, accepted, stocked } = operated;
    const moving = own.filter((row) => row["operation_type"] !== "reject");
    let sum = 0;
    for (const row of moving) {
      if (row["from_bucket"] === "supply") sum += num(row, "quantity");
      if (row["to_bucket"] === "supply") sum -= num(row, "quantity");
    }
    if (accepted !== true) {
      if (moving.length > 0 && operated.unanswered === 0) {
        this.#complain("answers", `${kind} ${operationId} was refused, and done`);
      }
      return;
    }
    if (stocked !== null && (moving.length !== 1 || sum !== stocked)) {
      const found = `${moving.length} entries of ${sum} units`;
      this.#complain("I6", `${kind} ${operationId} brought ${stocked} units; ledger: ${found}`);
    }
  }

  /** Whoever was told "pending" has a decision now. */
  #answers(): void {
    const { ledger, answers } = this.#world.auditor;
    for (const [id] of answers.told) {
      const found = ledger.decision(id);
      if (found === undefined) this.#complain("I6", `${id} was told pending, and never decided`);
    }
  }

  /** I10: what a seed without losses may not show. */
  async #costs(): Promise<void> {
    const { plan, reports, freedom, auditor, forged } = this.#world;
    const { damage } = plan;
    const asked = plan.incidents.some(({ kind }) => kind === "operator.rebuild");
    if (freedom.strict && !asked && reports.rebuilds > 0) {
      this.#complain("I10", `${reports.rebuilds} rebuilds, and hot stock lost nothing`);
    }
    const resendable = damage.has("resend") || !freedom.strict;
    if (!resendable && reports.resent > 0) {
      this.#complain("I10", `${reports.resent} tickets sent again, and the bus lost nothing`);
    }
    if (forged === 0 && reports.deadLetters > 0) {
      this.#complain("I10", `${reports.deadLetters} dead letters, and nobody forged one`);
    }
    if (freedom.exact) await this.#rejects();
    if (freedom.exact && !damage.has("resend")) this.#stored();
    if (!freedom.strict) return;
    for (const id of auditor.answers.admitted.keys()) {
      const found = auditor.ledger.decision(id);
      if (found === undefined || found === "void") {
        this.#complain("I10", `${id} was admitted, and is ${found ?? "undecided"}`);
      }
    }
  }

  /** A ticket that the bus has stored is decided as it is, even if hot stock has lost it. */
  #stored(): void {
    const { ledger, answers } = this.#world.auditor;
    for (const id of answers.stored) {
      const found = ledger.decision(id);
      if (found !== undefined && found !== "void") continue;
      this.#complain(
        "I10",
        `the ticket of ${id} was on the bus, and it is ${found ?? "undecided"}`,
      );
    }
  }

  /** What hot stock admitted fits into the ledger, whatever was lost meanwhile. */
  async #rejects(): Promise<void> {
    const rejects = await this.#rows(
      "select sku, version, reason from inventory_log where operation_type = 'reject'",
    );
    for (const row of rejects) {
      const reason = text(row, "reason");
      if (reason !== "SOLD_OUT" && reason !== "LIMIT_EXCEEDED" && reason !== "NOT_ENOUGH") continue;
      const where = `SKU ${num(row, "sku")} version ${num(row, "version")}`;
      this.#complain("I10", `${where}: an admitted ticket is rejected (${reason})`);
    }
    if (this.#world.workload.shop.stops > 0) return;
    const paused = rejects.find((row) => row["reason"] === "SALE_PAUSED");
    if (paused !== undefined) this.#complain("I10", "rejected as stopped, and nobody stopped it");
  }
}

function stateOf(order: OrderAccount): string {
  const lines = [...order.lines.values()];
  const [first] = lines;
  if (first === undefined) return "unknown";
  if (first.state !== "sold") return first.state;
  const left = lines.some((line) => line.refunded + line.writtenOff < line.quantity);
  return left ? "confirmed" : "refunded";
}
