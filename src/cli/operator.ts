import { randomBytes } from "node:crypto";
import { type Desk, openDesk } from "../client/desk.ts";
import { type Context, type Options, textOption } from "./context.ts";
import { usageError } from "./failure.ts";

/** Lends a desk at the configured server for the time of a command. */
export async function atDesk<T>(context: Context, work: (desk: Desk) => Promise<T>): Promise<T> {
  const { url, apiKey } = context.loaded.config;
  const desk = openDesk({ url, apiKey, language: context.text.language });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

/** A fresh id for an act: printed, so that an act whose answer was lost can be told again. */
export function operationIdOf(options: Options): string {
  return textOption(options, "operationId") ?? `cli-${randomBytes(9).toString("hex")}`;
}

/** Danger is confirmed: by a person who is asked, or by `--yes` where nobody can be. */
export async function confirmed(
  context: Context,
  options: Options,
  { question, again }: { question: string; again: string },
): Promise<boolean> {
  if (options["yes"] === true) return true;
  if (context.isInteractive) return context.ask(question);
  const { text } = context;
  throw usageError(question, text("confirm.why"), text("confirm.next", { command: again }));
}

export function path(...parts: readonly string[]): string {
  return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

export function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}

const pageMax = 200;

type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

/** Follows the links of a list until there are enough. */
export async function readPages<T>(
  get: (path: string) => Promise<Page<T>>,
  first: string,
  limit: number,
): Promise<Page<T>> {
  const items: T[] = [];
  let next: string | null = first;
  while (next !== null && items.length < limit) {
    const page: Page<T> = await get(next);
    items.push(...page.items.slice(0, limit - items.length));
    next = page.next;
  }
  return { items, next };
}

export function pageSize(limit: number): number {
  return Math.min(limit, pageMax);
}
