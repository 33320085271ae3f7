import { ManualClock, systemRandom } from "../../src/clock.ts";
import type { HotStock } from "../../src/hot-stock/hot-stock.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";

/** A hot stock with what can befall its server. */
export type HotSubject = {
  readonly hot: HotStock;
  /** It lives on under another incarnation, with all that it had. */
  reborn(): Promise<void>;
  /** All keys are gone; the server is the same. */
  flush(): Promise<void>;
};

export type HotStockAdapter = {
  readonly name: string;
  /** An empty one of its own; `ticketsMax` bounds what a lane may hold in flight. */
  readonly open: (options?: { readonly ticketsMax?: number }) => Promise<HotSubject>;
};

/** Every adapter of the port runs the same suites: a new one is a row here. */
export const hotStockAdapters: readonly HotStockAdapter[] = [
  {
    name: "memory",
    open: async (options = {}) => {
      const hot = new MemoryHotStock({
        clock: new ManualClock(),
        random: systemRandom,
        ...options,
      });
      return {
        hot,
        reborn: async () => hot.restart(hot.copy()),
        flush: async () => hot.flush(),
      };
    },
  },
];
