import type { PlantedBug } from "./bugs.ts";

const leases = "src/ledger/leases.js";

/** Who may act: what a second or a woken holder could do. */
export const leaseBugs: readonly PlantedBug[] = [
  {
    name: "lease-taken-early",
    breaks: "one process at a time expires, repairs and loads",
    file: leases,
    find: `integer(row, "until_ms") <= at;`,
    replace: "true;",
  },
  {
    name: "lease-token-stands-still",
    breaks: "the token of a lease grows with every change of hands",
    file: leases,
    find: "set holder = ?, token = token + 1, until_ms = ?",
    replace: "set holder = ?, token = token, until_ms = ?",
  },
];
