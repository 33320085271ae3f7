import type { QueryClient } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { EntryPage, LevelBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { entriesPerPage, firstSight, pagesInSight } from "./entry-pages.ts";
import { askLevel, levelPath } from "./level.ts";

export type Entries = Static<typeof EntryPage>;

/** What is in the ledger does not change: a page of it is asked for once. */
export function askEntries(path: string, page: number, newest: number) {
  const after = page * entriesPerPage;
  const limit = Math.min(entriesPerPage, newest - after);
  const asked = query({ afterVersion: `${after}`, limit: `${limit}` });
  return {
    queryKey: ["entries", path, page, limit],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<Entries>(`${path}/entries${asked}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** The level, then the newest entries, while the page's code is on its way. */
export async function prefetchLedger(client: QueryClient, sku: string): Promise<void> {
  const level = askLevel(sku);
  await client.prefetchQuery(level);
  const known = client.getQueryData<LevelBody>(level.queryKey);
  if (known === undefined) return;
  const path = levelPath(sku);
  for (const page of pagesInSight(firstSight, known.version)) {
    await client.prefetchQuery(askEntries(path, page, known.version));
  }
}
