import { useQuery } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { ReconciliationBody, SaleBody } from "../../../src/http/contract.ts";
import { call, segment } from "../api/call.ts";

export type Reconciliation = Static<typeof ReconciliationBody>;

export function useSale(saleId: string) {
  return useQuery({
    queryKey: ["sale", saleId],
    queryFn: () => call<SaleBody>(`/v1/sales/${segment(saleId)}`),
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
