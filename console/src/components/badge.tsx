import type { ReactNode } from "react";
import type { ReservationBody, SaleBody } from "../../../src/http/contract.ts";
import { useWords } from "../use-words.ts";

export type Tone = "ok" | "warn" | "bad" | "plain";

/** Never colour alone: each tone has a mark of its own shape, and words. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

const saleTones: Readonly<Record<SaleBody["state"], Tone>> = {
  draft: "plain",
  open: "ok",
  paused: "warn",
  closed: "plain",
};

export function SaleState({ state }: { readonly state: SaleBody["state"] }) {
  const { t } = useWords();
  return <Badge tone={saleTones[state]}>{t(`saleState.${state}`)}</Badge>;
}

const reservationTones: Readonly<Record<ReservationBody["state"], Tone>> = {
  pending: "warn",
  reserved: "warn",
  confirmed: "ok",
  rejected: "plain",
  cancelled: "plain",
  expired: "plain",
  void: "plain",
  refunded: "plain",
};

export function ReservationState({ state }: { readonly state: ReservationBody["state"] }) {
  const { t } = useWords();
  return <Badge tone={reservationTones[state]}>{t(`reservationState.${state}`)}</Badge>;
}
