import { describe, expect, it } from "vitest";
import { skuId } from "../domain/values.ts";
import { hotLookLines } from "./hot-look.ts";
import type { StoreUrls } from "./transport.ts";

const sku = skuId("phone");
const lanes = { prefix: "shop", count: 4 };
const rest = {
  ledger: { kind: "sqlite", file: "a.db" },
  bus: { kind: "memory" },
  lanes,
} as const;

function linesOf(hot: StoreUrls["hot"]): readonly string[] {
  return hotLookLines({ ...rest, hot }, { lane: 0, sku });
}

describe("a look at a SKU in hot stock", () => {
  it("names its keys and its server, and no password", () => {
    const [row = "", buyers = ""] = linesOf({
      kind: "redis",
      url: "redis://ops:secret@cache.shop:6400/0",
    });
    expect(row).toMatch(/^redis-cli -h cache\.shop -p 6400 hgetall 'shop:\{0[^}]*\}:stock:phone'$/);
    expect(buyers).toMatch(/ hlen 'shop:\{0[^}]*\}:buyers:phone'$/);
    expect(row + buyers).not.toContain("secret");
  });

  it("follows a cluster to the node that has it, encrypted where the store is", () => {
    const [inCluster] = linesOf({ kind: "redis-cluster", url: "redis-cluster://a:7000,b:7001" });
    expect(inCluster).toMatch(/^redis-cli -c -h a -p 7000 hgetall /);
    const [encrypted] = linesOf({ kind: "rediss", url: "rediss://cache.shop" });
    expect(encrypted).toMatch(/^redis-cli -h cache\.shop -p 6379 --tls hgetall /);
  });

  it("there is none of hot stock in the server's own memory", () => {
    expect(linesOf({ kind: "memory" })).toEqual([]);
  });
});
