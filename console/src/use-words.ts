import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Language } from "./format.ts";
import * as format from "./format.ts";

/** Words and formats of the present language. */
export function useWords() {
  const { t, i18n } = useTranslation();
  const language: Language = i18n.language === "zh-CN" ? "zh-CN" : "en";
  return useMemo(
    () => ({
      t,
      language,
      number: (value: number) => format.formatNumber(value, language),
      change: (value: number) => format.formatChange(value, language),
      rate: (value: number | null) => format.formatRate(value, language),
      percent: (part: number, whole: number) => format.formatPercent(part, whole, language),
      latency: (ms: number | null) => format.formatLatency(ms, language),
      latencies: (low: number | null, high: number | null) =>
        format.formatLatencies(low, high, language),
      duration: (ms: number) => format.formatDuration(ms, language),
      time: (iso: string | null) => format.formatTime(iso, language),
      clock: (iso: string | number, digits: 0 | 3 = 0) => format.formatClock(iso, language, digits),
    }),
    [t, language],
  );
}

export type Words = ReturnType<typeof useWords>;
