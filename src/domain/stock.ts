import { invariant } from "./invariant.ts";
import { levelMax } from "./values.ts";

/** Where a unit of a SKU is. `supply` is the outside world and has no balance. */
export const buckets = ["available", "reserved", "sold", "frozen", "lost"] as const;
export type Bucket = (typeof buckets)[number];
export type Place = Bucket | "supply";

export type Balances = Readonly<Record<Bucket, number>>;

export const noUnits: Balances = { available: 0, reserved: 0, sold: 0, frozen: 0, lost: 0 };

/** The table of moves: all others are refused. `units`: what it does to the buyer's count. */
export const moves = {
  restock: { from: "supply", to: "available", units: 0 },
  withdraw: { from: "available", to: "supply", units: 0 },
  adjust_up: { from: "supply", to: "available", units: 0 },
  adjust_down: { from: "available", to: "supply", units: 0 },
  reserve: { from: "available", to: "reserved", units: 1 },
  reject: { from: null, to: null, units: 0 },
  confirm: { from: "reserved", to: "sold", units: 0 },
  revive: { from: "available", to: "sold", units: 1 },
  cancel: { from: "reserved", to: "available", units: -1 },
  expire: { from: "reserved", to: "available", units: -1 },
  refund: { from: "sold", to: "available", units: -1 },
  refund_lost: { from: "sold", to: "lost", units: -1 },
  freeze: { from: "available", to: "frozen", units: 0 },
  unfreeze: { from: "frozen", to: "available", units: 0 },
  count_found: { from: "frozen", to: "available", units: 0 },
  count_lost: { from: "frozen", to: "lost", units: 0 },
  count_surplus: { from: "supply", to: "available", units: 0 },
} as const satisfies Record<
  string,
  { readonly from: Place | null; readonly to: Place | null; readonly units: -1 | 0 | 1 }
>;

export type Operation = keyof typeof moves;

export function isOperation(text: string): text is Operation {
  return Object.hasOwn(moves, text);
}

/** Is there enough in the bucket that the move takes from, and room where it goes? */
export function canMove(balances: Balances, operation: Operation, quantity: number): boolean {
  const { from, to } = moves[operation];
  if (from !== null && from !== "supply" && balances[from] < quantity) return false;
  return to === null || from !== "supply" || totalOf(balances) + quantity <= levelMax;
}

/** Units never appear or vanish: what leaves one bucket is in the other. */
export function move(balances: Balances, operation: Operation, quantity: number): Balances {
  const { from, to } = moves[operation];
  invariant(canMove(balances, operation, quantity), () => `${operation} ${quantity} not covered`);
  const after = { ...balances };
  if (from !== null && from !== "supply") after[from] -= quantity;
  if (to !== null && to !== "supply") after[to] += quantity;
  return after;
}

/** What the move does to `available`: the only bucket that hot stock projects. */
export function availableDelta(operation: Operation, quantity: number): number {
  const { from, to } = moves[operation];
  if (to === "available") return quantity;
  return from === "available" ? -quantity : 0;
}

export function unitsDelta(operation: Operation, quantity: number): number {
  return moves[operation].units * quantity;
}

export function totalOf(balances: Balances): number {
  return balances.available + balances.reserved + balances.sold + balances.frozen + balances.lost;
}
