import { systemClock } from "../clock.ts";
import type { FleetFamilies } from "../http/fleet-metrics.ts";

/** What a process of a fleet tells the one that keeps it. */
export type FromMember =
  | { readonly kind: "ready"; readonly url: string }
  /** Somebody wants the metrics of all. */
  | { readonly kind: "metrics"; readonly question: number }
  | { readonly kind: "families"; readonly question: number; readonly families: FleetFamilies };

export type Rendered = { readonly contentType: string; readonly body: string };

/** And what it is told. */
export type ToMember =
  | { readonly kind: "count"; readonly question: number; readonly isAsked: boolean }
  | ({ readonly kind: "rendered"; readonly question: number } & Rendered);

const kinds: ReadonlySet<unknown> = new Set(["ready", "metrics", "families"]);

/** Both ends are this program; what else comes over the channel is its runtime's own. */
export function isFromMember(message: unknown): message is FromMember {
  return kindOf(message) !== undefined && kinds.has(kindOf(message));
}

export function isToMember(message: unknown): message is ToMember {
  const kind = kindOf(message);
  return kind === "count" || kind === "rendered";
}

function kindOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "kind" in message
    ? message.kind
    : undefined;
}

/** The answer to a question, or null when it has not come in time. */
export async function answerOf<T>(
  asked: Map<number, (answer: T) => void>,
  question: number,
  withinMs: number,
): Promise<T | null> {
  const answered = new AbortController();
  const answer = new Promise<T>((resolve) => asked.set(question, resolve));
  const late = systemClock.sleep(withinMs, answered.signal).then(() => null);
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
    asked.delete(question);
  }
}
