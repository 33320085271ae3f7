import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { RowResult } from "./row.ts";
import { rows } from "./rows.ts";

const main = fileURLToPath(new URL("../dist/faults/main.js", import.meta.url));
const gate = rows.filter(({ isGate }) => isGate);
/** Less than the standard load: the same faults, in a time that every run of the tests has. */
const load = ["--rate", "100", "--seconds", "9"];
const withinMs = 25 * 60_000;

let found: readonly RowResult[] = [];
let said = "";

beforeAll(async () => {
  ({ found, said } = await play());
}, withinMs);

describe("the gate rows of the fault matrix", () => {
  it.each(gate.map(({ id, fault }) => [id, fault]))("%s: %s", (id) => {
    const row = found.find((each) => each.id === id);
    expect(row, said).toMatchObject({ proved: true, lost: 0, oversold: 0 });
    // How soon is a figure, not a test: `npm run faults` holds it against its target.
    expect(row?.secondsToNormal, said).not.toBeNull();
  });
});

/** A row that is not ok is told in the report; only what cannot be read is an error of its own. */
function play(): Promise<{ found: readonly RowResult[]; said: string }> {
  return new Promise((resolve) => {
    const args = [main, "--gate", "--json", ...load];
    execFile(process.execPath, args, { timeout: withinMs }, (_, stdout, stderr) => {
      const last = stdout.trim().split("\n").at(-1) ?? "";
      const parsed: { rows?: RowResult[] } = last.startsWith("{") ? JSON.parse(last) : {};
      resolve({ found: parsed.rows ?? [], said: stderr });
    });
  });
}
