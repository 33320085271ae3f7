import type { LevelBody } from "../../../src/http/contract.ts";
import { call, segment } from "../api/call.ts";

export function levelPath(sku: string): string {
  return `/v1/stock/${segment(sku)}`;
}

/** A SKU in both stores, as it is now. */
export function askLevel(sku: string) {
  return {
    queryKey: ["level", sku],
    queryFn: () => call<LevelBody>(levelPath(sku)),
  };
}
