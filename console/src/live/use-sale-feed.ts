import { useEffect, useReducer, useRef } from "react";
import { ApiError, apiPath, call, segment } from "../api/call.ts";
import { emptyFeed, feedAfter } from "./sale-feed.ts";
import type { SaleFrame } from "./sale-frame.ts";

const comeBackMs = 2_000;

/**
 * The live frames of a sale. The browser comes back by itself with `Last-Event-ID`; where it
 * gives up (the server said no), this does, and asks why if it was because of us.
 */
export function useSaleFeed(saleId: string) {
  const [feed, tell] = useReducer(feedAfter, emptyFeed);
  const source = useRef<EventSource | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = (): void => {
      const stream = new EventSource(apiPath(`/v1/sales/${segment(saleId)}/events`));
      source.current = stream;
      stream.addEventListener("open", () => tell({ kind: "opened" }));
      const hear = (kind: "frame" | "change") => (message: MessageEvent<string>) => {
        const frame: SaleFrame = JSON.parse(message.data);
        tell({ kind, frame, now: Date.now() });
      };
      stream.addEventListener("level", hear("frame"));
      stream.addEventListener("change", hear("change"));
      stream.addEventListener("error", () => {
        tell({ kind: "lost" });
        if (stream.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(open, comeBackMs);
        // A 401 here tells the session that it has ended.
        call("/v1/session").catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
        });
      });
    };
    open();
    return () => {
      clearTimeout(timer);
      source.current?.close();
    };
  }, [saleId]);
  return {
    feed,
    pause: () => tell({ kind: "pause" }),
    goOn: () => tell({ kind: "go-on", now: Date.now() }),
  };
}

export type SaleFeedView = ReturnType<typeof useSaleFeed>;
