import { useMemo } from "react";
import type { Point } from "../live/sale-feed.ts";
import { useWords } from "../use-words.ts";
import { LiveChart } from "./live-chart.tsx";

/** The last five minutes: where the units went, and how fast the answers come. */
export function SaleCharts({ points }: { readonly points: readonly Point[] }) {
  const { t, number, rate } = useWords();
  const data = useMemo(() => {
    const of = (read: (point: Point) => number | null) => points.map(read);
    return {
      times: points.map(({ at }) => at),
      units: [
        { name: t("figure.left"), colour: "--available", values: of((p) => p.totals.left) },
        { name: t("bucket.reserved"), colour: "--reserved", values: of((p) => p.totals.reserved) },
        { name: t("bucket.sold"), colour: "--sold", values: of((p) => p.totals.sold) },
      ],
      rates: [
        { name: t("figure.committed"), colour: "--sold", values: of((p) => p.committed) },
        { name: t("figure.admitted"), colour: "--available", values: of((p) => p.admitted) },
        {
          name: t("figure.refused"),
          colour: "--lost",
          dash: [6, 4],
          values: of((p) => p.refused),
        },
      ],
    };
  }, [points, t]);
  return (
    <div className="grid">
      <section className="card">
        <h2>{t("chart.units")}</h2>
        <LiveChart
          label={t("chart.units")}
          times={data.times}
          series={data.units}
          format={number}
        />
      </section>
      <section className="card">
        <h2>{t("chart.rates")}</h2>
        <LiveChart label={t("chart.rates")} times={data.times} series={data.rates} format={rate} />
      </section>
    </div>
  );
}
