import { useQuery } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { ReconciliationBody, SaleBody } from "../../../src/http/contract.ts";
import { call, segment } from "../api/call.ts";
import type { SaleFeed } from "./sale-feed.ts";

export type Reconciliation = Static<typeof ReconciliationBody>;

/**
 * A sale whose frames do not come: the answer says why, or what it was. While they may still come
 * it is not asked for, because the first frame is as large as the answer.
 */
export function useSale(saleId: string, { frame, wasLost }: SaleFeed) {
  return useQuery({
    queryKey: ["sale", saleId],
    queryFn: () => call<SaleBody>(`/v1/sales/${segment(saleId)}`),
    enabled: frame === null && wasLost,
  });
}

/** The age of tickets and the state of lanes: not in a sale's frames, so it is asked for. */
export function useReconciliation(everyMs = 5_000) {
  return useQuery({
    queryKey: ["reconciliation"],
    queryFn: () => call<Reconciliation>("/v1/reconciliation"),
    refetchInterval: everyMs,
  });
}
