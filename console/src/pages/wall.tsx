import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { SaleState } from "../components/badge.tsx";
import { LevelBar, LevelLegend } from "../components/level-bar.tsx";
import { LiveBadge } from "../components/live-badge.tsx";
import { Loaded } from "../components/loaded.tsx";
import type { SaleFeed } from "../live/sale-feed.ts";
import { totalsOf } from "../live/sale-frame.ts";
import { useLiveness } from "../live/use-liveness.ts";
import { useSale } from "../live/use-sale.ts";
import { useSaleFeed } from "../live/use-sale-feed.ts";
import { saleUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";

/** A sale for a screen on the wall: what is left, how fast it goes, and only what is wrong. */
export function WallPage() {
  const { saleId = "" } = useParams();
  const { t, number, rate, latency, percent } = useWords();
  const view = useSaleFeed(saleId);
  const asked = useSale(saleId, view.feed);
  const sale = view.feed.frame?.sale ?? asked.data;
  const totals = useMemo(() => totalsOf(sale?.items ?? []), [sale]);
  if (sale === undefined) {
    return (
      <main className="wall">
        <h1>{saleId}</h1>
        <Loaded asked={asked}>{() => null}</Loaded>
      </main>
    );
  }
  const last = view.feed.points.at(-1);
  return (
    <main className="wall" style={{ maxWidth: "none" }}>
      <header className="page-head">
        <div className="row grow">
          <h1 style={{ fontSize: 36 }}>{sale.title || sale.saleId}</h1>
          <SaleState state={sale.state} />
        </div>
        <LiveBadge view={view} />
        <Link className="tool" to={saleUrl(sale.saleId)}>
          {t("wall.close")}
        </Link>
      </header>
      <dl className="wall-grid">
        <Huge name={t("figure.left")} value={number(totals.left)} />
        <Huge name={t("bucket.sold")} value={percent(totals.sold, totals.total)} />
        <Huge name={t("wall.perSecond")} value={rate(last?.committed ?? null)} />
        <Huge name="p99" value={latency(last?.p99Ms ?? null)} />
      </dl>
      <div className="stack-tight">
        <LevelBar level={totals} />
        <LevelLegend level={totals} />
      </div>
      <Problems totals={totals} feed={view.feed} />
    </main>
  );
}

function Huge({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="huge">{value}</dd>
    </div>
  );
}

type ProblemsProps = {
  readonly totals: ReturnType<typeof totalsOf>;
  readonly feed: SaleFeed;
};

function Problems({ totals, feed }: ProblemsProps) {
  const { liveness } = useLiveness(feed);
  const { t, number } = useWords();
  const oldest = totals.oldestTicketSeconds;
  const problems = [
    totals.drift !== 0 ? t("wall.drift", { units: number(totals.drift) }) : null,
    totals.stopped > 0 ? t("wall.stopped", { skus: number(totals.stopped) }) : null,
    totals.closed > 0 ? t("wall.closedSkus", { skus: number(totals.closed) }) : null,
    oldest > 30 ? t("wall.oldest", { seconds: number(Math.round(oldest)) }) : null,
    liveness === "stale" || liveness === "lost" ? t("wall.stale") : null,
  ].filter((text) => text !== null);
  if (problems.length === 0) {
    return <p className="ok-text wall-fine">✓ {t("wall.fine")}</p>;
  }
  return (
    <ul className="stack-tight" role="alert" style={{ listStyle: "none", padding: 0 }}>
      {problems.map((text) => (
        <li key={text} className="notice bad">
          <span className="mark">✖</span> <span style={{ fontSize: 22 }}>{text}</span>
        </li>
      ))}
    </ul>
  );
}
