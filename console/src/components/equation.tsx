import type { Reconciliation } from "../live/use-sale.ts";
import { useWords } from "../use-words.ts";

/** Hot available = ledger's available − in flight, with the numbers that there are. */
export function Equation({ items }: { readonly items: Reconciliation["items"] }) {
  const { t, number, change } = useWords();
  const sum = { ledger: 0, inFlight: 0, hot: 0, drift: 0 };
  for (const { ledgerAvailable, inFlight, hotAvailable, drift } of items) {
    sum.ledger += ledgerAvailable;
    sum.inFlight += inFlight;
    sum.hot += hotAvailable;
    sum.drift += drift;
  }
  return (
    <section className="card" data-testid="equation">
      <h2>{t("equation.title")}</h2>
      <div className="equation">
        <div>
          <b>{number(sum.ledger)}</b>
          {t("equation.ledger")}
        </div>
        <span className="sign">−</span>
        <div>
          <b>{number(sum.inFlight)}</b>
          {t("equation.inFlight")}
        </div>
        <span className="sign">{sum.drift === 0 ? "=" : "≠"}</span>
        <div>
          <b>{number(sum.hot)}</b>
          {t("equation.hot")}
        </div>
        <span className="sign">·</span>
        <div>
          <b className={sum.drift === 0 ? "ok-text" : "bad-text"}>{change(sum.drift)}</b>
          {t("equation.drift")}
        </div>
      </div>
      <p className="muted" style={{ marginTop: 8 }}>
        {t("equation.note")}
      </p>
    </section>
  );
}
