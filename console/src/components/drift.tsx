import type { LevelBody } from "../../../src/http/contract.ts";
import { useWords } from "../use-words.ts";

/** Nothing off is green, and says at which version and when that was proved. */
export function Drift({ level, at }: { readonly level: LevelBody; readonly at: string | null }) {
  const { t, number, change, clock } = useWords();
  if (level.hot === null) return <span className="warn-text">{t("drift.closed")}</span>;
  if (level.drift !== 0) {
    return (
      <span className="bad-text">
        ✖ {t("drift.off", { units: change(level.drift), version: number(level.hot.version) })}
      </span>
    );
  }
  const proved = t("drift.proved", {
    version: number(level.hot.version),
    time: at === null ? "" : clock(at),
  });
  return (
    <span className="ok-text" title={proved}>
      ✓ {t("drift.short", { version: number(level.hot.version) })} {at === null ? "" : clock(at)}
    </span>
  );
}
