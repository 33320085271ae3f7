/** Numbers, times and durations as people read them, in their language. */
export type Language = "en" | "zh-CN";

const empty = "–";

// Making a formatter costs a hundred times what using it does, and a live page uses hundreds.
const numberFormats = new Map<string, Intl.NumberFormat>();
const timeFormats = new Map<string, Intl.DateTimeFormat>();

function numbers(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = numberFormats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, options);
  numberFormats.set(key, made);
  return made;
}

function times(language: Language, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = timeFormats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat(language, options);
  timeFormats.set(key, made);
  return made;
}

export function formatNumber(value: number, language: Language): string {
  return numbers(language, { maximumFractionDigits: 1 }).format(value);
}

export function formatRate(perSecond: number | null, language: Language): string {
  if (perSecond === null) return empty;
  const digits = perSecond !== 0 && Math.abs(perSecond) < 10 ? 1 : 0;
  return numbers(language, { maximumFractionDigits: digits }).format(perSecond);
}

/** `+5`, `−5`, `±0`: with the sign that a change needs. */
export function formatChange(value: number, language: Language): string {
  const digits = numbers(language, {}).format(Math.abs(value));
  if (value === 0) return "±0";
  return `${value > 0 ? "+" : "−"}${digits}`;
}

export function formatPercent(part: number, whole: number, language: Language): string {
  if (whole === 0) return empty;
  const ratio = { style: "percent", maximumFractionDigits: 1 } as const;
  return numbers(language, ratio).format(part / whole);
}

/** Milliseconds of latency, with as many digits as matter. */
export function formatLatency(ms: number | null, language: Language): string {
  if (ms === null) return empty;
  if (ms >= 1_000) return `${formatNumber(ms / 1_000, language)} s`;
  return `${formatNumber(ms < 10 ? ms : Math.round(ms), language)} ms`;
}

/** Two of them in the unit of the higher one: `87 / 554 ms`. */
export function formatLatencies(
  low: number | null,
  high: number | null,
  language: Language,
): string {
  if (low === null || high === null) return empty;
  const isLong = high >= 1_000;
  const one = (ms: number): string =>
    formatNumber(isLong ? ms / 1_000 : ms < 10 ? ms : Math.round(ms), language);
  return `${one(low)} / ${one(high)} ${isLong ? "s" : "ms"}`;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** The two largest units that say something: `2 min 5 s`, `3 天 4 小时`. */
export function formatDuration(ms: number, language: Language): string {
  const parts: string[] = [];
  let left = Math.max(0, Math.round(ms / 1_000)) * 1_000;
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    const isLast = unit === "second" && parts.length === 0;
    if (count > 0 || isLast) parts.push(formatUnit(count, unit, language));
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

function formatUnit(count: number, unit: string, language: Language): string {
  const style = { style: "unit", unit, unitDisplay: "short" } as const;
  return numbers(language, style).format(count);
}

export function formatTime(iso: string | null, language: Language): string {
  if (iso === null) return empty;
  return times(language, {
    ...{ year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  }).format(new Date(iso));
}

/** The clock alone, for what is of today; with milliseconds where steps follow closely. */
export function formatClock(iso: string | number, language: Language, digits: 0 | 3 = 0): string {
  return times(language, {
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
    ...(digits === 0 ? {} : { fractionalSecondDigits: digits }),
  }).format(new Date(iso));
}

export function timeZoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A hash by its beginning; the whole stands in its title and in what is copied. */
export function shortHash(hash: string): string {
  return hash.slice(0, 10);
}
