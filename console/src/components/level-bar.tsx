import type { LevelBody } from "../../../src/http/contract.ts";
import { useWords } from "../use-words.ts";

export const buckets = ["sold", "reserved", "available", "frozen", "lost"] as const;
export type Bucket = (typeof buckets)[number];
export type Buckets = Pick<LevelBody, Bucket | "total"> & { readonly inFlight: number };

export function bucketsOf(level: LevelBody): Buckets {
  return { ...level, inFlight: level.hot?.inFlight ?? 0 };
}

/**
 * Where the units of a SKU are, as one bar. What is in flight is still available to the ledger,
 * so it is drawn as the hatched part of that.
 */
export function LevelBar({ level, tall }: { readonly level: Buckets; readonly tall?: boolean }) {
  const { t, number } = useWords();
  const inFlight = Math.min(level.inFlight, level.available);
  const parts = [
    ["sold", level.sold],
    ["reserved", level.reserved],
    ["flight", inFlight],
    ["available", level.available - inFlight],
    ["frozen", level.frozen],
    ["lost", level.lost],
  ] as const;
  const spoken = buckets.map((name) => `${t(`bucket.${name}`)} ${number(level[name])}`).join(", ");
  return (
    <div className={tall ? "level tall" : "level"} role="img" aria-label={spoken} title={spoken}>
      {parts.map(([name, units]) =>
        units > 0 && level.total > 0 ? (
          <span
            key={name}
            className={`b-${name}`}
            style={{ width: `${(100 * units) / level.total}%` }}
          />
        ) : null,
      )}
    </div>
  );
}

export function LevelLegend({ level }: { readonly level: Buckets }) {
  const { t, number } = useWords();
  return (
    <div className="legend">
      {buckets.map((name) => (
        <span key={name}>
          <i className={`b-${name}`} />
          {t(`bucket.${name}`)} <b>{number(level[name])}</b>
        </span>
      ))}
      <span>
        <i className="b-flight" />
        {t("bucket.flight")} <b>{number(level.inFlight)}</b>
      </span>
    </div>
  );
}
