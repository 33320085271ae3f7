import Sqlite from "better-sqlite3";
import { reserveAll } from "./answers.ts";
import { plenty, reserve } from "./committed.ts";
import { guarded, type Plain, rowOf, type Scale } from "./pairs.ts";
import type { Row } from "./report.ts";
import { openSale, openWorld, prove } from "./world.ts";

/** What one order of one line leaves on disk: order, line, entry, and their indexes. */
export async function bytesRow(scale: Scale): Promise<Row> {
  const plain: Plain = {
    name: "ledger per order",
    unit: "bytes",
    baselineName: null,
    target: null,
  };
  return guarded(plain, async () => {
    await using world = await openWorld();
    const orders = scale.count * 10;
    const sale = await openSale(world, { name: "kept", stock: plenty });
    const before = bytesOf(world.file);
    await reserveAll(orders, (n) => reserve(world, sale, n));
    await prove(world, { sale, reserved: orders });
    const bytes = (bytesOf(world.file) - before) / orders;
    return rowOf({ ...plain, note: `${orders} orders` }, [{ ours: bytes, baseline: null }]);
  });
}

/** All pages of the database, those in its log included. */
export function bytesOf(file: string): number {
  const database = new Sqlite(file, { readonly: true });
  const pages = Number(database.pragma("page_count", { simple: true }));
  const size = Number(database.pragma("page_size", { simple: true }));
  database.close();
  return pages * size;
}
