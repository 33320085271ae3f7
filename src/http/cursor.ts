import { InputError } from "./input.ts";

/**
 * Where the next page starts: opaque for the client, versioned for us, and bound to its list, so
 * that a cursor of another list is refused instead of misread.
 */
export type CursorList = "sales" | "stock" | "entries" | "dead-letters" | "audit-log";

export function makeCursor(list: CursorList, after: string): string {
  return Buffer.from(`1:${list}:${after}`).toString("base64url");
}

export function readCursor(list: CursorList, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const prefix = `1:${list}:`;
  const after = text.slice(prefix.length);
  if (text.startsWith(prefix) && /^[\x21-\x7e]{1,64}$/.test(after)) return after;
  throw new InputError("query", "/cursor", "expected a cursor of this list");
}

export function readCursorNumber(list: CursorList, cursor: string | undefined): number | null {
  const after = readCursor(list, cursor);
  if (after === null) return null;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new InputError("query", "/cursor", "expected a cursor of this list");
}

export type PageLink = {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly list: CursorList;
};

/** The page and the link to the next one; `found` holds one more than the page when there is. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  link: PageLink & { readonly key: (item: T) => string },
): { items: readonly T[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(link.query)) {
    if (value !== undefined && name !== "cursor") query.set(name, value);
  }
  query.set("cursor", makeCursor(link.list, link.key(last)));
  return { items, next: `${link.path}?${query.toString()}` };
}
