import { livenessOf, type SaleFeed } from "./sale-feed.ts";
import { useNow } from "./use-now.ts";

/** How fresh a feed is, told anew every second: only what shows it is drawn again. */
export function useLiveness(feed: SaleFeed) {
  const now = useNow(1_000);
  return {
    liveness: livenessOf(feed, now),
    silentMs: feed.heardAt === null ? 0 : Math.max(0, now - feed.heardAt),
  };
}
