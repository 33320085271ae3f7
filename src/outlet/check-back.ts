import type { Resolution } from "../bus/rocketmq-protocol.ts";
import { isId, skuId } from "../domain/values.ts";
import type { Ledger } from "../ledger/ledger.ts";

/**
 * What the broker is answered when it asks what became of an event that was never ended. An event
 * is told after its entry was committed, so an entry that the ledger does not have, or has with
 * another hash, never was or is no longer: nobody hears of it. A ledger that is away knows nothing.
 */
export async function checkBack(
  ledger: Pick<Ledger, "balancesAt">,
  body: Uint8Array,
): Promise<Resolution> {
  const asked = entryIn(body);
  if (asked === null) return "rollback";
  const point = { sku: skuId(asked.sku), version: asked.version };
  const found = await ledger.balancesAt([point]).catch(() => "away" as const);
  if (found === "away") return "unknown";
  return found[0]?.hash === asked.hash ? "commit" : "rollback";
}

type Asked = { readonly sku: string; readonly version: number; readonly hash: string };

/** Null: no event of ours. */
function entryIn(body: Uint8Array): Asked | null {
  const entry = parsed(Buffer.from(body).toString("utf8"));
  if (typeof entry !== "object" || entry === null) return null;
  if (!("sku" in entry && "version" in entry && "hash" in entry)) return null;
  const { sku, version, hash } = entry;
  if (typeof sku !== "string" || !isId(sku) || typeof hash !== "string") return null;
  return typeof version === "number" && version > 0 && Number.isSafeInteger(version)
    ? { sku, version, hash }
    : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
