import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import { MysqlConnection } from "../../src/ledger/mysql-connection.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { openSale, reserve } from "../support/ledger-fixtures.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";
import { useEverything } from "../support/use-everything.ts";

/** Tables that a statement reads from end to end because they are small, or because it must. */
const mayScan = [
  ...["lanes", "meta", "migrations", "sales", "s", "sale_items", "inventory", "i", "dead_letters"],
  // Lists that a statement brings along, and what was found before.
  /^<.*>$/,
  "k",
];

describe.each(ledgerServers())("the statements on $name", (server) => {
  let database: Database;
  beforeEach(async () => {
    database = await createDatabase(server);
  });
  afterEach(() => database.drop());

  it("find their rows by an index, the hot ones by a unique one", async () => {
    const clock = new ManualClock();
    const ledger = await openMysqlLedger(database.url, { now: () => clock.now() });
    await fill(ledger);
    await database.query(`analyze table ${tables.join(", ")}`);
    const spies = (["rows", "write"] as const).map((each) =>
      vi.spyOn(MysqlConnection.prototype, each),
    );
    await useEverything(ledger, clock);
    const said = spies.flatMap(({ mock }) => mock.calls.map(([text]) => text));
    for (const spy of spies) spy.mockRestore();
    await ledger.close();

    const explain = server.name === "MySQL" ? "explain format = traditional" : "explain";
    const plans = new Map<string, string>();
    const scans: string[] = [];
    for (const text of new Set(said)) {
      if (!/^\s*(select|with|update|insert into)\b/.test(text) || /@@|get_lock/.test(text))
        continue;
      for (const step of await database.query(`${explain} ${text}`)) {
        const { table, type, key, Extra: extra } = step;
        plans.set(`${table} ${shapeOf(text)}`, `${type} ${key}`);
        const isScan = type === "ALL" || type === "index";
        if (isScan && !isKnown(String(table)) && !isForAll(text)) {
          scans.push(`${table} ${key} ${extra}: ${text.replaceAll(/\s+/g, " ").slice(0, 150)}`);
        }
      }
    }
    expect(plans.size).toBeGreaterThan(50);
    expect(scans).toEqual([]);
    for (const [what, index] of hot) {
      const found = [...plans].filter(([shape]) => what.test(shape) && !isForAll(shape));
      expect(
        found.map(([shape]) => shape),
        String(what),
      ).not.toEqual([]);
      for (const [shape, plan] of found) expect(`${plan} ${shape}`).toMatch(index);
    }
  });
});

/** Said for every batch, so each goes straight to its rows. */
const hot: readonly (readonly [RegExp, RegExp])[] = [
  [/^i select i\.sku.* for update$/, / inventory_by_id /],
  [/^o select o\.order_no.* where o\.order_id in/, / orders_by_id /],
  [/^l select l\.order_no.* from order_lines l/, / PRIMARY /],
  [/^l select i\.sku, l\.version.* from inventory i join inventory_log/, / PRIMARY /],
  [/^p with k \(scope, operation_id\)/, / PRIMARY /],
  [/^o with k \(sale, buyer_id\)/, / orders_by_buyer /],
  [/^(t|orders) update .*orders /, / PRIMARY /],
  [/^(t|inventory) update inventory set lane/, / PRIMARY /],
  [/^orders select order_id, expires_at_ms/, / orders_(due|by_id) /],
];

const tables = ["orders", "order_lines", "inventory_log", "inventory", "operations", "payments"];

async function fill(ledger: Parameters<typeof openSale>[0]): Promise<void> {
  const items = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`filler-${n}`, 10_000]));
  await openSale(ledger, { id: "filler", items, limit: 1_000 });
  for (let batch = 0; batch < 4; batch += 1) {
    const ids = Array.from({ length: 500 }, (_, n) => batch * 500 + n);
    await ledger.commit(
      ids.map((n) =>
        reserve(`f${n}`, { sale: "filler", lines: { [`filler-${n % 50}`]: 1 }, buyer: `b${n}` }),
      ),
    );
  }
}

function shapeOf(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Its answer is most of the table here: a sale's orders, and their lines. */
function isForAll(text: string): boolean {
  return /where o\.sale = |^\s*insert|with recursive hops/.test(text) || text.length > 1_500;
}

function isKnown(table: string): boolean {
  return mayScan.some((known) => (typeof known === "string" ? known === table : known.test(table)));
}
