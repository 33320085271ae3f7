/**
 * The exceptions to the rules, each with its reason. A path that ends in `/` is a folder. A cast
 * that a listed file no longer makes fails the check, so that list only holds what is true.
 */
export type Allowance = Readonly<{ path: string; reason: string }>;

/** Files that may write `as`: parsers, where a type is given to what was only just checked. */
export const casts: readonly Allowance[] = [
  { path: "src/domain/values.ts", reason: "gives the brands" },
];

export const timers = ["setTimeout", "setInterval", "setImmediate", "AbortSignal.timeout"] as const;
export const clocks = [
  "Date.now",
  "new Date()",
  "performance.now",
  "performance.timeOrigin",
  "process.hrtime",
] as const;
export const chances = ["Math.random", "randomUUID"] as const;

export type Ambient =
  | (typeof timers | typeof clocks | typeof chances)[number]
  | "process.env"
  | "process.exit";

/** Files that may reach for time, chance and surroundings instead of being handed them. */
export const ambient: readonly (Allowance & Readonly<{ names: readonly Ambient[] }>)[] = [
  {
    path: "src/clock.ts",
    names: [...timers, ...clocks, ...chances],
    reason: "is the clock and the chance that everybody else is handed",
  },
  { path: "src/config.ts", names: ["process.env"], reason: "the only reader of the environment" },
  {
    path: "src/cli/",
    names: ["process.exit", "process.env", ...timers, ...clocks],
    reason: "a process of its own: exit codes, signals, progress on a terminal",
  },
  {
    path: "src/loadtest/",
    names: [...timers, ...clocks],
    reason: "measures a real server in real time",
  },
  {
    path: "sim/",
    names: ["setImmediate"],
    reason: "yields at a macrotask so that promises settle; no virtual time passes",
  },
  {
    path: "sim/main.ts",
    names: ["process.env", "process.exit", ...clocks],
    reason: "reports how long the run took",
  },
  {
    path: "bench/",
    names: [...timers, ...clocks, ...chances, "process.env", "process.exit"],
    reason: "measures in real time",
  },
];

/** Functions that may stand in the `${}` of a statement: they make `?` marks, never values. */
export const sqlMarkers: readonly string[] = ["placeholders"];

/** Columns of the ledger that say whether an entry was told to the world; the rest never change. */
export const publicationColumn = /^(status|publi(sh|cation)\w*)$/;

/** The one folder that may import a driver; everything else goes through a port. */
export const drivers: Readonly<Record<string, string>> = {
  "better-sqlite3": "src/ledger/",
  mysql2: "src/ledger/",
  ioredis: "src/redis/ or src/hot-stock/ or src/bus/",
  "rabbitmq-client": "src/bus/ or src/outlet/",
  "rocketmq-client-nodejs": "src/bus/",
  "@platformatic/kafka": "src/bus/",
};

export function allows(allowance: Allowance, path: string): boolean {
  return allowance.path.endsWith("/") ? path.startsWith(allowance.path) : path === allowance.path;
}
