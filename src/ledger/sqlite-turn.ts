/** Whoever has the turn is alone until its work ends; the others wait in order of arrival. */
export class Turn {
  #tail: Promise<void> | null = null;

  /** Looked at and used without an await between: an await lets another take the turn. */
  get taken(): Promise<void> | null {
    return this.#tail;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    while (this.#tail !== null) await this.#tail;
    const done = work();
    const tail: Promise<void> = done.then(
      () => this.#end(tail),
      () => this.#end(tail),
    );
    this.#tail = tail;
    return done;
  }

  #end(tail: Promise<void>): void {
    if (this.#tail === tail) this.#tail = null;
  }
}

const turns = new Map<string, { readonly turn: Turn; holders: number }>();

/**
 * The writers of one file in this process share a turn. Without it, one that waits for SQLite's
 * own lock would stop the thread on which the other has to finish.
 */
export function takeTurn(path: string): { readonly turn: Turn; release(): void } {
  const shared = turns.get(path) ?? { turn: new Turn(), holders: 0 };
  shared.holders += 1;
  turns.set(path, shared);
  return {
    turn: shared.turn,
    release() {
      shared.holders -= 1;
      if (shared.holders === 0 && turns.get(path) === shared) turns.delete(path);
    },
  };
}
