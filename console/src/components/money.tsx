import type { ReservationBody } from "../../../src/http/contract.ts";
import { useWords } from "../use-words.ts";
import { Badge, type Tone } from "./badge.tsx";
import { Copyable } from "./copyable.tsx";

const tones: Readonly<Record<ReservationBody["payments"][number]["state"], Tone>> = {
  taken: "ok",
  due: "bad",
  refunded: "plain",
};

/** The money side of an order: every payment that was told, and what went back. */
export function Money({ reservation }: { readonly reservation: ReservationBody }) {
  const { t, time, number } = useWords();
  const { payments, refunds } = reservation;
  return (
    <section className="card" data-testid="money">
      <h2>{t("money.title")}</h2>
      {payments.length === 0 ? <p className="muted">{t("money.none")}</p> : null}
      <ul className="stack-tight" style={{ listStyle: "none", padding: 0 }}>
        {payments.map((payment) => (
          <li key={payment.paymentId} className="row">
            <Badge tone={tones[payment.state]}>{t(`payment.${payment.state}`)}</Badge>
            <Copyable value={payment.paymentId} />
            <span className="muted">{time(payment.paidAt ?? payment.recordedAt)}</span>
          </li>
        ))}
      </ul>
      {refunds.length === 0 ? null : <h3 style={{ marginTop: 12 }}>{t("money.refunds")}</h3>}
      <ul className="stack-tight" style={{ listStyle: "none", padding: 0 }}>
        {refunds.map((refund) => (
          <li key={refund.refundId} className="row">
            <Copyable value={refund.refundId} />
            <span>
              {refund.items.map(({ sku, quantity }) => `${number(quantity)} × ${sku}`).join(", ")}
            </span>
            <span className="muted">
              {t(refund.restock ? "money.restocked" : "money.lost")} · {time(refund.at)}
              {refund.reason === "" ? "" : ` · ${refund.reason}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
