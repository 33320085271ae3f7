import { lazy, useMemo, useState } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import type { SaleBody } from "../../../src/http/contract.ts";
import { segment } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { SaleState } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { LevelBar, LevelLegend } from "../components/level-bar.tsx";
import { LiveBadge } from "../components/live-badge.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { SaleFigures } from "../components/sale-figures.tsx";
import { SkuTable } from "../components/sku-table.tsx";
import type { SaleFrame } from "../live/sale-frame.ts";
import { totalsOf } from "../live/sale-frame.ts";
import { useSale } from "../live/use-sale.ts";
import { type SaleFeedView, useSaleFeed } from "../live/use-sale-feed.ts";
import { wallUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";

const SaleCharts = lazy(async () => ({
  default: (await import("../components/sale-charts.tsx")).SaleCharts,
}));
const SaleMoves = lazy(async () => ({
  default: (await import("../components/sale-moves.tsx")).SaleMove,
}));
const StockForm = lazy(async () => ({
  default: (await import("../components/stock-form.tsx")).StockForm,
}));

export type Move = "open" | "pause" | "close";

/** One sale as it goes, a frame a second. */
export function SalePage() {
  const { saleId = "" } = useParams();
  const view = useSaleFeed(saleId);
  const asked = useSale(saleId, view.feed);
  const { frame } = view.feed;
  const sale = frame?.sale ?? asked.data;
  if (sale === undefined) {
    return (
      <Page title={saleId}>
        <Loaded asked={asked}>{() => null}</Loaded>
      </Page>
    );
  }
  return <LiveSale sale={sale} frame={frame} view={view} />;
}

type LiveProps = {
  readonly sale: SaleBody;
  readonly frame: SaleFrame | null;
  readonly view: SaleFeedView;
};

function LiveSale({ sale, frame, view }: LiveProps) {
  const { t, duration, time, number } = useWords();
  const [filters, setFilters] = useSearchParams();
  const [move, setMove] = useState<Move | null>(null);
  const [sku, setSku] = useState<string | null>(null);
  const mayOperate = useMay("operator");
  const totals = useMemo(() => totalsOf(sale.items), [sale]);
  const setFilter = (name: string, value: string): void =>
    setFilters(value === "" ? {} : { [name]: value }, { replace: true });
  return (
    <Page
      title={sale.title || sale.saleId}
      beside={
        <>
          <SaleState state={sale.state} />
          <Copyable value={sale.saleId} />
        </>
      }
      actions={
        <>
          <LiveBadge view={view} />
          <Link className="tool" to={wallUrl(sale.saleId)}>
            {t("wall.open")}
          </Link>
          {mayOperate ? <MoveButtons sale={sale} onMove={setMove} /> : null}
        </>
      }
    >
      <p className="muted">
        {t("sale.facts", {
          hold: duration(sale.holdSeconds * 1_000),
          limit: sale.limitPerBuyer === null ? t("sale.noLimit") : number(sale.limitPerBuyer),
          opens: time(sale.opensAt),
          closes: time(sale.closesAt),
        })}
      </p>
      <div className="card stack-tight">
        <LevelBar level={totals} tall />
        <LevelLegend level={totals} />
      </div>
      <SaleFigures totals={totals} points={view.feed.points} />
      <Part fallback={<div className="charts-coming" />}>
        <SaleCharts points={view.feed.points} />
      </Part>
      <SkuTable
        levels={sale.items}
        at={frame?.at ?? null}
        filter={filters.get("sku") ?? ""}
        onFilter={(value) => setFilter("sku", value)}
        onChange={mayOperate ? setSku : null}
      />
      <Commands shell={`sale show ${sale.saleId}`} path={`/v1/sales/${segment(sale.saleId)}`} />
      <Part>
        {move === null ? null : <SaleMoves sale={sale} move={move} onClose={() => setMove(null)} />}
        {sku === null ? null : <StockForm sku={sku} onClose={() => setSku(null)} />}
      </Part>
    </Page>
  );
}

const moves: Readonly<Record<SaleBody["state"], readonly Move[]>> = {
  draft: ["open", "close"],
  open: ["pause", "close"],
  paused: ["open", "close"],
  closed: [],
};

function MoveButtons({
  sale,
  onMove,
}: {
  readonly sale: SaleBody;
  readonly onMove: (move: Move) => void;
}) {
  const { t } = useWords();
  return moves[sale.state].map((move) => (
    <Button
      key={move}
      isDangerous={move === "close"}
      isPrimary={move === "open"}
      onClick={() => onMove(move)}
    >
      {t(`move.${move}`)}
    </Button>
  ));
}
