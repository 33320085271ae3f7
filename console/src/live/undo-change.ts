import type { LevelBody } from "../../../src/http/contract.ts";
import { call, operationId } from "../api/call.ts";
import { type ChangeKind, requestOf, verbOf } from "./stock-change.ts";

const opposites: Partial<Record<ChangeKind, ChangeKind>> = {
  restock: "withdraw",
  withdraw: "restock",
  freeze: "unfreeze",
  unfreeze: "freeze",
  correct: "correct",
};

/** What takes a change back; null for what cannot be taken back by its opposite. */
export function oppositeOf(
  kind: ChangeKind,
  { quantity, before }: { readonly quantity: number; readonly before: LevelBody },
): { readonly kind: ChangeKind; readonly quantity: number } | null {
  // A total goes back by the difference: buyers may have moved on meanwhile.
  if (kind === "adjust") return { kind: "correct", quantity: before.total - quantity };
  const opposite = opposites[kind];
  if (opposite === undefined) return null;
  return { kind: opposite, quantity: kind === "correct" ? -quantity : quantity };
}

/** An act of its own, with its own entry: nothing is taken out of a ledger. */
export async function undoChange(
  path: string,
  { kind, quantity, reason }: { kind: ChangeKind; quantity: number; reason: string },
): Promise<void> {
  const asked = { operationId: operationId(), reason, quantity, version: null };
  await call(`${path}/${verbOf(kind)}`, { method: "POST", ...requestOf(kind, asked) });
}
