import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/call.ts";

export const client = new QueryClient({
  defaultOptions: {
    queries: { retry: mayComeOutOtherwise, staleTime: 1_000, refetchOnWindowFocus: true },
  },
});

/** A "no" stays a no; no answer at all is asked for again. */
function mayComeOutOtherwise(failures: number, error: Error): boolean {
  const isFinal = error instanceof ApiError && error.status !== 0 && error.status < 500;
  return !isFinal && failures < 2;
}
