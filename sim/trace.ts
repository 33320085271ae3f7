import { hash } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What happened, in order. Its hash tells whether two runs of a seed were the same. */
export class Trace {
  readonly lines: string[] = [];
  readonly #scheduler: Scheduler;
  readonly #keep: boolean;
  #hash = 0x811c9dc5;

  constructor(scheduler: Scheduler, keep: boolean) {
    this.#scheduler = scheduler;
    this.#keep = keep;
  }

  /** `detail` is only made when somebody reads along. */
  note(text: string, detail?: () => string): void {
    const { now } = this.#scheduler;
    this.#hash = hash(text, this.#hash ^ Math.floor(now * 1000));
    if (!this.#keep) return;
    const more = detail === undefined ? "" : ` ${detail()}`;
    this.lines.push(`${now.toFixed(1).padStart(9)} ${text}${more}`);
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, "0");
  }
}

/** Short JSON for a person: long texts and hashes are cut. */
export function brief(value: unknown, max = 240): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof Map) return Object.fromEntries(part);
    if (part instanceof Set) return [...part];
    if (isBytes(part)) return `<${part.data.length} bytes>`;
    return typeof part === "string" && part.length === 64 ? part.slice(0, 6) : part;
  });
  if (text === undefined) return "";
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** A buffer, as JSON writes it. */
function isBytes(part: unknown): part is { readonly data: readonly unknown[] } {
  if (typeof part !== "object" || part === null || !("data" in part)) return false;
  return "type" in part && part.type === "Buffer" && Array.isArray(part.data);
}
