import { createContext, memo, useContext } from "react";
import type { LevelBody } from "../../../src/http/contract.ts";
import { useWords } from "../use-words.ts";

/**
 * When what stands on the page was proved. It moves with every frame, so it goes past the rows of
 * a table, which are drawn again only when they change.
 */
export const ProvedAt = createContext<string | null>(null);

/** Nothing off is green, and says at which version and when that was proved. */
export const Drift = memo(({ level }: { readonly level: LevelBody }) => {
  const { t, number, change } = useWords();
  if (level.hot === null) return <span className="warn-text">{t("drift.closed")}</span>;
  const version = number(level.hot.version);
  if (level.drift !== 0) {
    return (
      <span className="bad-text">✖ {t("drift.off", { units: change(level.drift), version })}</span>
    );
  }
  return <Proved version={version} />;
});

function Proved({ version }: { readonly version: string }) {
  const { t, clock } = useWords();
  const at = useContext(ProvedAt);
  const time = at === null ? "" : clock(at);
  return (
    <span className="ok-text" title={t("drift.proved", { version, time })}>
      ✓ {t("drift.short", { version })} {time}
    </span>
  );
}
