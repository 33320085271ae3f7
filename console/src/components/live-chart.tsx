import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../use-theme.ts";
import { useWords } from "../use-words.ts";

export type Series = {
  readonly name: string;
  /** The CSS variable of its colour, such as `--sold`. */
  readonly colour: string;
  readonly dash?: readonly number[];
  readonly values: readonly (number | null)[];
};

type ChartProps = {
  readonly label: string;
  /** Times of the points in ms. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
};

const height = 190;

/** A line chart that is fed, not redrawn: a point a second for hours. */
export function LiveChart({ label, times, series, format }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const formatNow = useRef(format);
  formatNow.current = format;
  const { isDark } = useTheme();
  const { t, clock, language } = useWords();
  const shape = series.map(({ name, colour }) => `${name} ${colour}`).join("|");
  // biome-ignore lint/correctness/useExhaustiveDependencies: built anew for another look only
  useEffect(() => {
    const host = box.current;
    if (host === null) return;
    const options = optionsOf(host, series, {
      time: t("chart.time"),
      clock: (ms) => clock(ms),
      format: (value) => formatNow.current(value),
    });
    chart.current = new uPlot(options, dataOf(times, series), host);
    const resize = new ResizeObserver(() => {
      chart.current?.setSize({ width: host.clientWidth, height });
    });
    resize.observe(host);
    return () => {
      resize.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape, isDark, language]);
  useEffect(() => chart.current?.setData(dataOf(times, series)), [times, series]);
  return <div className="chart" ref={box} role="img" aria-label={label} />;
}

type Say = {
  readonly time: string;
  readonly clock: (ms: number) => string;
  readonly format: (value: number) => string;
};

function optionsOf(host: HTMLElement, series: readonly Series[], say: Say): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line") },
    font: "12px system-ui, sans-serif",
  };
  return {
    width: host.clientWidth,
    height,
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, (max ?? 1) * 1.15)] } },
    axes: [
      { ...axis, values: (_chart, ticks) => ticks.map((at) => say.clock(at * 1_000)), space: 90 },
      { ...axis, values: (_chart, ticks) => ticks.map(say.format), size: 62 },
    ],
    series: [
      { value: (_chart, at) => (at === null ? "–" : say.clock(at * 1_000)), label: say.time },
      ...series.map(({ name, colour: variable, dash }) => ({
        label: name,
        stroke: colour(variable),
        width: 2,
        points: { show: false },
        ...(dash === undefined ? {} : { dash: [...dash] }),
        value: (_chart: uPlot, value: number | null) => (value === null ? "–" : say.format(value)),
      })),
    ],
  };
}

function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [times.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])];
}
