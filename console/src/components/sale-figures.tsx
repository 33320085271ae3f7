import type { Point } from "../live/sale-feed.ts";
import type { Totals } from "../live/sale-frame.ts";
import { useWords } from "../use-words.ts";
import { Figure } from "./page.tsx";

type FiguresProps = {
  readonly totals: Totals;
  readonly points: readonly Point[];
};

/** The sale in a dozen numbers: what is left, how fast it goes, how far behind, how true. */
export function SaleFigures({ totals, points }: FiguresProps) {
  const { t, number, percent, rate, latencies, duration, clock } = useWords();
  const last = points.at(-1);
  const perSecond = t("figure.perSecond");
  return (
    <dl className="figures" data-testid="figures">
      <Figure name={t("figure.left")} value={number(totals.left)} />
      <Figure
        name={t("bucket.sold")}
        value={number(totals.sold)}
        more={percent(totals.sold, totals.total)}
      />
      <Figure name={t("bucket.reserved")} value={number(totals.reserved)} />
      <Figure name={t("bucket.flight")} value={number(totals.inFlight)} />
      <Figure name={t("figure.admitted")} value={rate(last?.admitted ?? null)} more={perSecond} />
      <Figure name={t("figure.committed")} value={rate(last?.committed ?? null)} more={perSecond} />
      <Figure name={t("figure.refused")} value={rate(last?.refused ?? null)} more={perSecond} />
      <Figure name={t("figure.soldOut")} value={rate(last?.soldOut ?? null)} more={perSecond} />
      <Figure
        name={t("figure.faults")}
        value={rate(last?.faults ?? null)}
        more={perSecond}
        tone={last !== undefined && (last.faults ?? 0) > 0 ? "bad" : undefined}
      />
      <Figure
        name={t("figure.answers")}
        value={latencies(last?.p50Ms ?? null, last?.p99Ms ?? null)}
      />
      <Figure
        name={t("figure.lag")}
        value={last?.lag === null || last === undefined ? "–" : number(last.lag)}
        more={t("figure.behindBy", { versions: number(totals.behind) })}
        tone={totals.behind > 10_000 ? "warn" : undefined}
      />
      <Figure
        name={t("figure.oldest")}
        value={duration(totals.oldestTicketSeconds * 1_000)}
        tone={totals.oldestTicketSeconds > 30 ? "bad" : undefined}
      />
      <Figure
        name={t("figure.drift")}
        value={number(totals.drift)}
        more={last === undefined ? undefined : t("figure.checkedAt", { time: clock(last.at) })}
        tone={totals.drift === 0 ? "ok" : "bad"}
      />
      <Figure
        name={t("figure.stopped")}
        value={number(totals.stopped)}
        tone={totals.stopped === 0 ? undefined : "bad"}
      />
    </dl>
  );
}
