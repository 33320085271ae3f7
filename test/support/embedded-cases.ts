import { test as base } from "vitest";

/** The cases run over the embedded stores, and again over HTTP on Redis and MariaDB. */
export const isOnStack = process.env["HOLDFAST_TEST_SHOP"] === "stack";

const exactTime = "asks for single milliseconds; on servers time passes while they answer";
const ownClock =
  "turns the wall clock of the one process that the embedded ledger has its time from";
const largestSale = "over HTTP a sale comes with at most 1,000,000,000 units of a SKU";
const manyRounds = "counts the ends of rounds to the millisecond, which only virtual time repeats";

/** Cases that servers cannot play, by the name of their test, each with its reason. */
export const embeddedOnly: Readonly<Record<string, string>> = {
  "C10 (b) at the largest exact level one more unit is refused": largestSale,
  "C33 (a) of payment and expiry in one moment the payment wins, 200 times": manyRounds,
  "C33 (a) where another waits for the unit, it goes to one of the two": manyRounds,
  "C41 (a) a window of 15 minutes across the change of the clocks in %s lasts as long": exactTime,
  "C41 (c) a deadline with a fraction of a second is not cut to the second": exactTime,
  "C41 a ledger's clock that jumps ends no holds: a person is called": ownClock,
};

function isHere(name: string): boolean {
  return !(isOnStack && Object.hasOwn(embeddedOnly, name));
}

type Named = (name: string, ...rest: readonly unknown[]) => unknown;

const each = ((...rows: Parameters<typeof base.each>) => {
  const made = base.each(...rows) as Named;
  return (name: string, ...rest: readonly unknown[]) => {
    if (isHere(name)) made(name, ...rest);
  };
}) as typeof base.each;

/** As vitest's, but for what the list above leaves to the embedded stores. */
export const test = Object.assign(
  (name: string, body: () => Promise<void> | void): void => {
    if (isHere(name)) base(name, body);
  },
  { each },
);
