/** What a crowd does. Everything is bounded: people, connections, patience. */
export type CrowdPlan = {
  readonly url: string;
  readonly apiKey: string | null;
  readonly saleId: string;
  readonly skus: readonly string[];
  /** Begins every buyer id and key of this run, so that two runs never meet. */
  readonly run: string;
  readonly buyers: number;
  readonly arrival: Arrival;
  /** Of the buyers: those who click twice with one key. */
  readonly repeatShare: number;
  /** Of those who got something: they pay, they cancel; the rest is left. */
  readonly payShare: number;
  readonly cancelShare: number;
  /** A cart has 1 … this many units. */
  readonly quantityMax: number;
  /** When a holder pays or cancels: after the whole rush, or after thinking for a while. */
  readonly settling: "after" | "thinking";
  readonly connections: number;
  /** How long a click may wait in the server for the ledger's decision. */
  readonly waitSeconds: number;
  /** How long a buyer asks on before an undecided key counts as pending. */
  readonly patienceMs: number;
  readonly seed: number;
};

export type Arrival =
  /** Open model: a buyer comes when the clock says so, however slow the server is. */
  | { readonly kind: "rate"; readonly perSecond: number }
  | { readonly kind: "rush"; readonly overMs: number };

export const buyersMax = 1_000_000;

export const usualCrowd = {
  repeatShare: 0.2,
  payShare: 0.7,
  cancelShare: 0.1,
  quantityMax: 1,
  settling: "after",
  connections: 128,
  waitSeconds: 5,
  patienceMs: 60_000,
} as const satisfies Partial<CrowdPlan>;

/** When each buyer comes, in milliseconds from the start; ascending. */
export function arrivalMs(arrival: Arrival, buyer: number, buyers: number): number {
  if (arrival.kind === "rate") return (buyer * 1000) / arrival.perSecond;
  return (buyer * arrival.overMs) / buyers;
}
