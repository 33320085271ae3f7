/** The least versions without a hole that is known, a line each: its patches are what counts. */
export type LeastVersions = readonly (readonly [line: string, patch: number])[];

export type VersionVerdict = { readonly state: "ok" | "warn" | "fail"; readonly least: string };

/**
 * A line that is newer than all is not known to be bad; one that is older than all, or below its
 * patch, is. A line between two that nobody mends any more only warns.
 */
export function judgeVersion(version: string, least: LeastVersions): VersionVerdict {
  const told = least.map(([line, patch]) => `${line}.${patch}`).join(", ");
  const [, line = "", patch = "0"] = /^(\d+\.\d+)(?:\.(\d+))?/.exec(version) ?? [];
  const known = least.find(([each]) => each === line);
  if (known !== undefined) {
    return { state: Number(patch) >= known[1] ? "ok" : "fail", least: told };
  }
  const numbers = least.map(([each]) => lineNumber(each));
  const number = lineNumber(line);
  if (number > Math.max(...numbers)) return { state: "ok", least: told };
  return { state: number < Math.min(...numbers) ? "fail" : "warn", least: told };
}

function lineNumber(line: string): number {
  const [major = "0", minor = "0"] = line.split(".");
  return Number(major) * 1_000 + Number(minor);
}

/** CVE-2025-49844: a script of anybody who may connect runs code of his own. */
export const leastRedis: LeastVersions = [
  // Nobody mends this line but distributions, which keep its number: look at the package.
  ["7.0", 15],
  ["7.2", 11],
  ["7.4", 6],
  ["8.0", 4],
  ["8.2", 2],
];
export const leastValkey: LeastVersions = [
  ["7.2", 11],
  ["8.0", 6],
  ["8.1", 4],
];
export const leastMysql: LeastVersions = [
  ["8.4", 0],
  ["9.0", 0],
];
export const leastMariadb: LeastVersions = [
  ["10.11", 0],
  ["11.4", 0],
  ["11.8", 0],
];
/** CVE-2024-51988, CVE-2025-30219: the management's users may do more than they should. */
export const leastRabbitmq: LeastVersions = [
  // Distributions mend this line under its number: look at the package.
  ["3.10", 8],
  ["3.12", 11],
  ["3.13", 7],
  ["4.0", 3],
  ["4.1", 0],
];
/** CVE-2023-33246, CVE-2023-37582: whoever reaches broker or name server runs commands there. */
export const leastRocketmq: LeastVersions = [
  ["5.1", 2],
  ["5.2", 0],
  ["5.3", 0],
  ["5.4", 0],
  ["5.5", 0],
];
