import type { Liveness } from "../live/sale-feed.ts";
import { useLiveness } from "../live/use-liveness.ts";
import type { SaleFeedView } from "../live/use-sale-feed.ts";
import { useWords } from "../use-words.ts";
import { Badge, type Tone } from "./badge.tsx";

const tones: Readonly<Record<Liveness, Tone>> = {
  connecting: "plain",
  live: "ok",
  paused: "warn",
  stale: "bad",
  lost: "bad",
};

/** How fresh the numbers are, by the server's clock; and the pause. */
export function LiveBadge({ view }: { readonly view: SaleFeedView }) {
  const { t, clock, duration } = useWords();
  const { feed } = view;
  const { liveness, silentMs } = useLiveness(feed);
  const isOld = liveness === "stale" || liveness === "lost";
  return (
    <span className="row" data-liveness={liveness}>
      <Badge tone={tones[liveness]}>
        {t(`live.${liveness}`, { age: duration(silentMs) })}
        {isOld && feed.frame !== null ? ` ${t("live.since", { age: duration(silentMs) })}` : ""}
      </Badge>
      {feed.frame === null ? null : (
        <span className="muted" title={feed.frame.at}>
          {t("live.serverTime")} {clock(feed.frame.at)}
        </span>
      )}
      <button
        type="button"
        className="tool"
        aria-pressed={feed.isPaused}
        onClick={feed.isPaused ? view.goOn : view.pause}
      >
        {t(feed.isPaused ? "live.goOn" : "live.pause")}
      </button>
    </span>
  );
}
