/** A mistake that can be planted into the compiled program, and the promise that it breaks. */
export type PlantedBug = {
  readonly name: string;
  /** The promise, in the words of the guarantees. */
  readonly breaks: string;
  /** The compiled file, from the root of `dist`. */
  readonly file: string;
  /** Stands in the compiled text exactly once; white space counts as one space. */
  readonly find: string;
  readonly replace: string;
};

export const bank: readonly PlantedBug[] = [];
