import type { Clock } from "../clock.ts";
import { integer, text } from "./rows.ts";
import type { Row } from "./sql-database.ts";

/** Milliseconds without an answer after which the server is asked what it is doing. */
const patienceMs = 2_500;
/** A statement may have to travel first: the slowest line that is waited for, in characters. */
const charactersPerMs = 100;
/** What has just been answered may still be on its way. */
const waitingSeconds = 2;

/** A connection whose server owes it an answer. */
export type Owed = {
  /** The server's number of the connection. */
  readonly id: number;
  readonly characters: number;
  /** Rises with every byte that comes. */
  readonly received: () => number;
  readonly died: (error: Error) => void;
};

export type Asking = {
  readonly clock: Clock;
  /** Another connection to the same server. */
  readonly open: () => Promise<Other>;
};

export type Other = {
  rows(text: string): Promise<readonly Row[]>;
  write(text: string): Promise<unknown>;
  destroy(): void;
};

/**
 * Watches a statement until it is answered; returns how to stop. A line that dies without a word
 * looks like a server that takes its time. So another connection asks: a server that waits for us
 * while we wait for it has not heard us, or was not heard. It is told to hang up, because what it
 * keeps locked for the dead connection would stay so until it finds out by itself.
 */
export function watchSilence(owed: Owed, asking: Asking): () => void {
  const answered = new AbortController();
  const { signal } = answered;
  const waitMs = patienceMs + owed.characters / charactersPerMs;
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      const before = owed.received();
      await asking.clock.sleep(waitMs, signal);
      const isStillOwed = (): boolean => !signal.aborted && owed.received() === before;
      if (isStillOwed() && (await isWaiting(owed.id, asking, isStillOwed))) {
        return owed.died(new Silence());
      }
    }
  };
  void watch();
  return () => answered.abort();
}

/** The connection is of no use, and whether the statement was carried out is not known. */
class Silence extends Error {
  override readonly name = "Silence";
  readonly code = "ETIMEDOUT";

  constructor() {
    super("the connection is dead: the server waits for a statement, and we for its answer");
  }
}

/** If so, the server has hung up. Who cannot ask knows nothing: the statement has its limit. */
async function isWaiting(
  id: number,
  { open }: Asking,
  isStillOwed: () => boolean,
): Promise<boolean> {
  let other: Other | null = null;
  try {
    other = await open();
    const all = await other.rows("show processlist");
    const own = all.find((row) => integer(row, "Id") === id);
    if (own === undefined || text(own, "Command") !== "Sleep") return false;
    // An answer that came while this was asked is as good as any.
    if (integer(own, "Time") < waitingSeconds || !isStillOwed()) return false;
    await other.write(`kill ${id}`);
    return true;
  } catch {
    return false;
  } finally {
    other?.destroy();
  }
}
