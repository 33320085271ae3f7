import type { SearchHit } from "../ledger/ledger.ts";
import { reservationPath } from "./bodies.ts";

/** An id as people paste it: with spaces around it, or in quotes. */
export function searchText(pasted: string): string {
  const text = pasted.trim();
  const inner = /^["'`“‘「](.*)["'`”’」]$/s.exec(text)?.[1];
  return (inner ?? text).trim();
}

/** Where to look on; null for what has no page of its own. */
export function linkOf({ type, id }: Pick<SearchHit, "type" | "id">): string | null {
  const path = encodeURIComponent(id);
  switch (type) {
    case "reservation":
      return reservationPath(path);
    case "sku":
      return `/v1/stock/${path}`;
    case "sale":
      return `/v1/sales/${path}`;
    case "dead-letter":
      return `/v1/dead-letters/${path}`;
    case "operation":
      return null;
  }
}
