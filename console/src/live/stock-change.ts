import type { LevelBody } from "../../../src/http/contract.ts";

/** What an operator may do to the stock of a SKU, and what comes of it. */
export const changeKinds = [
  "restock",
  "withdraw",
  "freeze",
  "unfreeze",
  "correct",
  "adjust",
  "count",
  "stop",
  "resume",
] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type Balances = Pick<
  LevelBody,
  "available" | "reserved" | "sold" | "frozen" | "lost" | "total"
>;

/** The balances after, as the ledger will have them if nothing else happens meanwhile. */
export function balancesAfter(level: Balances, kind: ChangeKind, quantity: number): Balances {
  const { available, reserved, sold, frozen, lost, total } = level;
  const same = { available, reserved, sold, frozen, lost, total };
  switch (kind) {
    case "restock":
      return { ...same, available: available + quantity, total: total + quantity };
    case "withdraw":
      return { ...same, available: available - quantity, total: total - quantity };
    case "freeze":
      return { ...same, available: available - quantity, frozen: frozen + quantity };
    case "unfreeze":
      return { ...same, available: available + quantity, frozen: frozen - quantity };
    case "correct":
      return { ...same, available: available + quantity, total: total + quantity };
    case "adjust":
      return { ...same, available: available + quantity - total, total: quantity };
    case "count": {
      const missing = Math.max(0, frozen - quantity);
      const surplus = Math.max(0, quantity - frozen);
      const after = { ...same, available: available + quantity, frozen: 0, lost: lost + missing };
      return { ...after, total: total + surplus };
    }
    case "stop":
    case "resume":
      return same;
  }
}

/** What takes units from sale, loses them, or ends selling: to be typed out before it is done. */
export function isDangerous(level: Balances, kind: ChangeKind, quantity: number): boolean {
  switch (kind) {
    case "restock":
    case "unfreeze":
    case "resume":
      return false;
    case "withdraw":
    case "freeze":
    case "stop":
      return true;
    case "correct":
      return quantity < 0;
    case "adjust":
      return quantity < level.total;
    case "count":
      return quantity < level.frozen;
  }
}

/** No bucket of the ledger can go below nothing: such a change would be refused. */
export function isPossible(after: Balances): boolean {
  return [after.available, after.frozen, after.total].every((units) => units >= 0);
}

export function needsQuantity(kind: ChangeKind): boolean {
  return kind !== "stop" && kind !== "resume";
}

/** Units come or go, whatever there is; anything else is about a number that was seen. */
export function isRelative(kind: ChangeKind): boolean {
  return ["restock", "withdraw", "freeze", "unfreeze", "correct"].includes(kind);
}

/** The last part of the call's path. */
export function verbOf(kind: ChangeKind): string {
  return kind === "correct" ? "adjust" : kind;
}

type Asked = {
  readonly operationId: string;
  readonly reason: string;
  readonly quantity: number;
  /** What it was decided on; null: on whatever there is. */
  readonly version: number | null;
};

/** The body and the headers of the call: it says on which version it was decided. */
export function requestOf(
  kind: ChangeKind,
  { operationId, reason, quantity, version }: Asked,
): { body: object; headers: Record<string, string> } {
  const common = { operationId, reason };
  const headers = version === null ? {} : { "if-match": `"${version}"` };
  switch (kind) {
    case "restock":
    case "withdraw":
    case "freeze":
    case "unfreeze":
      return { body: { ...common, quantity }, headers };
    case "correct":
      return { body: { ...common, delta: quantity }, headers };
    case "adjust":
      return { body: { ...common, total: quantity }, headers };
    case "count":
      return { body: { ...common, found: quantity }, headers };
    // Whoever stops a SKU does not wait until it stands still.
    case "stop":
    case "resume":
      return { body: common, headers: {} };
  }
}
