import type { Rejection } from "./rejection.ts";
import type { Instant, Lane, SaleId, SkuId } from "./values.ts";

export const saleTransitions = {
  draft: ["open", "closed"],
  open: ["paused", "closed"],
  paused: ["open", "closed"],
  closed: [],
} as const satisfies Record<string, readonly string[]>;

export type SaleState = keyof typeof saleTransitions;

export function isSaleState(text: string): text is SaleState {
  return Object.hasOwn(saleTransitions, text);
}

export function maySaleBecome(from: SaleState, to: SaleState): boolean {
  const next: readonly string[] = saleTransitions[from];
  return next.includes(to);
}

/** What hot stock must know to admit: carried with a revision, an older one is ignored. */
export type SalePolicy = {
  readonly saleId: SaleId;
  readonly revision: number;
  readonly state: SaleState;
  readonly opensAt: Instant | null;
  readonly closesAt: Instant | null;
  /** Units of one SKU that one buyer may hold or own in this sale; null: no limit. */
  readonly limitPerBuyer: number | null;
  readonly skus: readonly SkuId[];
};

export type Sale = SalePolicy & {
  readonly title: string;
  readonly lane: Lane;
  readonly holdMs: number;
  /** Units that the sale's creation brought in, per SKU. */
  readonly stocked: ReadonlyMap<SkuId, number>;
  readonly createdAt: Instant;
  readonly closedAt: Instant | null;
  /** Of what the sale was created with: the same id with other content is a conflict. */
  readonly fingerprint: string;
};

/** May buyers be admitted at this moment of the deciding store's clock? */
export function windowRefusal(
  policy: Pick<SalePolicy, "state" | "opensAt" | "closesAt">,
  now: Instant,
): Rejection | null {
  if (policy.state === "draft") return "SALE_NOT_OPEN";
  if (policy.state !== "closed" && policy.opensAt !== null && now < policy.opensAt) {
    return "SALE_NOT_OPEN";
  }
  if (policy.state === "paused") return "SALE_PAUSED";
  if (policy.state === "closed") return "SALE_ENDED";
  return policy.closesAt !== null && now >= policy.closesAt ? "SALE_ENDED" : null;
}
