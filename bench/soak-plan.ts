/** What the child process is asked to do, and what it reports: one line of JSON each. */
export type SoakPlan = { readonly minutes: number; readonly perSecond: number };

export type SoakSample = {
  readonly second: number;
  /** The resident set, and the heap in use after a collection, in bytes. */
  readonly resident: number;
  readonly heap: number;
  readonly reserved: number;
};
