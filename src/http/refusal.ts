import type { SkuRow } from "../domain/command.ts";
import type { Refused } from "../domain/outcome.ts";
import { totalOf } from "../domain/stock.ts";
import type { LevelView, ReservationView, SaleView } from "../engine/engine.ts";
import { levelBody, reservationBody, saleBody } from "./bodies.ts";
import type { Problem } from "./problem.ts";

/** A refusal of the engine as a problem, with what it wants to show in the contract's words. */
export function problemOfRefusal({ code, detail, facts = {} }: Refused): Problem {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (isReservationView(value)) shown[name] = reservationBody(value);
    else if (isLevelView(value)) shown[name] = levelBody(value);
    else if (isSaleView(value)) shown[name] = saleBody(value);
    else if (isSkuRow(value)) shown[name] = rowBody(value);
    else if (isPlain(value)) shown[name] = value;
  }
  const state = stateIn(facts);
  if (state !== undefined) shown["state"] = state;
  // A pending one is decided soon: the same call may be made then.
  const isPending = code === "WRONG_STATE" && state === "pending";
  return { code, detail, facts: shown, ...(isPending ? { retryable: true } : {}) };
}

/** The reservation that a decided refusal carries. */
export function refusedReservation({ facts = {} }: Refused): ReservationView | null {
  const reservation = facts["reservation"];
  return isReservationView(reservation) ? reservation : null;
}

function stateIn(facts: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof facts["state"] === "string") return facts["state"];
  const holder = facts["reservation"] ?? facts["sale"];
  if (!isObject(holder) || !("state" in holder)) return undefined;
  return typeof holder.state === "string" ? holder.state : undefined;
}

function rowBody({ sku, status, version, hash, balances }: SkuRow): Record<string, unknown> {
  return { sku, status, version, hash, total: totalOf(balances), ...balances };
}

function isReservationView(value: unknown): value is ReservationView {
  return isObject(value) && "refundDue" in value && "lines" in value && "state" in value;
}

function isLevelView(value: unknown): value is LevelView {
  return isObject(value) && "balances" in value && "behind" in value && "total" in value;
}

function isSaleView(value: unknown): value is SaleView {
  return isObject(value) && "sale" in value && "levels" in value;
}

function isSkuRow(value: unknown): value is SkuRow {
  return isObject(value) && "balances" in value && "version" in value && "hash" in value;
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
