import type { Clock } from "../clock.ts";
import type { Finding } from "./check.ts";

/** How long a store may take to say how it is. */
export const probeMsMax = 8_000;

/**
 * What a probe finds, or, when the store is away, refuses or says nothing in time, that alone: a
 * doctor who hangs or falls over is no help to anybody.
 */
export async function probed(
  id: string,
  { clock, look, work }: Probe,
): Promise<readonly Finding[]> {
  const late = new AbortController();
  const silence = clock.sleep(probeMsMax, late.signal).then(() => {
    throw new Error(`no answer within ${probeMsMax} ms`);
  });
  const reachable = { id, look, isRefused: false };
  try {
    const { findings, said } = await Promise.race([work(late.signal), silence]);
    return [{ ...reachable, state: "ok", said: { answer: said } }, ...findings];
  } catch (error) {
    return [{ ...reachable, state: "fail", said: { answer: reasonOf(error) } }];
  } finally {
    // It wakes the sleeper, whose complaint nobody needs any more.
    silence.catch(() => undefined);
    late.abort();
  }
}

export type Probe = {
  readonly clock: Pick<Clock, "sleep">;
  readonly look: string;
  /** `over`: nobody waits any longer; what was opened is closed. */
  readonly work: (
    over: AbortSignal,
  ) => Promise<{ readonly findings: readonly Finding[]; readonly said: string }>;
};

/** One line; a store's own words, which hold no secret of ours. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const deeper = error instanceof Error && error.message === "" ? codeOf(error) : "";
  return (message || deeper || "no reason given").split("\n")[0] ?? "";
}

function codeOf(error: object): string {
  return "code" in error ? String(error.code) : "";
}
