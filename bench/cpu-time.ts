import { readdirSync, readFileSync } from "node:fs";

/** Linux counts in hundredths of a second. */
const microsecondsPerTick = 10_000;

/** Microseconds of processor that a process and its children have had; null but on Linux. */
export function cpuTimeOf(pid: number): number | null {
  if (process.platform !== "linux") return null;
  return treeOf(pid).reduce((sum, each) => sum + ownTimeOf(each), 0);
}

function ownTimeOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program stands in brackets, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
  } catch {
    return 0;
  }
}

function treeOf(pid: number): readonly number[] {
  const found = [pid];
  for (const each of found) found.push(...childrenOf(each));
  return found;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
        .split(" ")
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
}
