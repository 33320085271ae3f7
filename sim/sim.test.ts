import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { bank, type PlantedBug } from "./bugs.ts";
import { matches, patch } from "./patch.ts";
import { plainRun, runSeed } from "./run.ts";
import seeds from "./seeds.json" with { type: "json" };

const longMs = 240_000;
const root = new URL("../", import.meta.url);

async function violationOf(seed: number): Promise<string | null> {
  const { violation } = await runSeed(plainRun(seed));
  return violation === null ? null : `seed ${seed}: ${violation.invariant}: ${violation.message}`;
}

describe("the simulation", () => {
  it.each(seeds)(
    "holds its promises in seed $seed: $why",
    { timeout: longMs },
    async ({ seed }) => {
      expect(await violationOf(seed)).toBeNull();
    },
  );

  const fresh = 300;
  const share = 50;
  const froms = Array.from({ length: fresh / share }, (_, n) => 1_001 + n * share);
  it.each(froms)(
    `holds its promises in ${share} seeds from %i`,
    { timeout: longMs },
    async (from) => {
      for (let seed = from; seed < from + share; seed += 1) {
        expect(await violationOf(seed)).toBeNull();
      }
    },
  );

  it("is a function of its seed", { timeout: longMs }, async () => {
    for (const seed of [7, 8, 9]) {
      const [first, second] = [await runSeed(plainRun(seed)), await runSeed(plainRun(seed))];
      expect(second.traceHash).toBe(first.traceHash);
      expect(second.events).toBe(first.events);
    }
    const other = await runSeed(plainRun(10));
    expect(other.traceHash).not.toBe((await runSeed(plainRun(9))).traceHash);
  });
});

describe("the bank of planted bugs", () => {
  it("has a name, a promise and a place for each", () => {
    const names = bank.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(24);
    expect(bank.filter(({ breaks }) => breaks.length < 20)).toEqual([]);
  });

  it.each(bank)("finds where to plant $name", (bug) => {
    const source = compiled(bug);
    expect(matches(source, bug.find)).toBe(1);
    const planted = ts.transpileModule(patch(source, bug), { reportDiagnostics: true });
    expect(planted.diagnostics).toEqual([]);
  });

  it("refuses an anchor that is not there, or stands twice", () => {
    const [bug] = bank;
    if (bug === undefined) throw new Error("the bank is empty");
    expect(() => patch("nothing", bug)).toThrow(/stands 0 times/);
    expect(() => patch(`${bug.find} ${bug.find}`, bug)).toThrow(/stands 2 times/);
  });

  it.each(["repeat-decided-again", "reserved-before-the-ledger", "chain-not-chained"])(
    "finds %s within a few seeds, and the seed shows it again",
    { timeout: longMs },
    async (name) => {
      const found = await sim(["--bug", name, "--seeds", "60", "--json", "--no-shrink"]);
      expect(found.code).toBe(3);
      const { seed } = (found.last as { firstViolation: { seed: number } }).firstViolation;
      const again = await sim(["--bug", name, "--replay", String(seed)]);
      expect(again.code).toBe(3);
    },
  );
});

describe("the command", () => {
  it("reports one JSON object, alone on its last line", { timeout: longMs }, async () => {
    const { code, last } = await sim(["--seeds", "2", "--seed", "5", "--json"]);
    expect(code).toBe(0);
    expect(last).toMatchObject({ seeds: 2, violations: 0, firstViolation: null });
    expect(Object.keys(last as object)).toEqual(
      expect.arrayContaining(["seeds", "events", "virtualSeconds", "violations", "seconds"]),
    );
  });

  it("lists the bank", { timeout: longMs }, async () => {
    const { code, last } = await sim(["--bugs", "--json"]);
    expect(code).toBe(0);
    expect(last).toEqual({ bugs: bank.map(({ name }) => name) });
  });

  it.each([
    ["--seeds", "0"],
    ["--bug", "no-such-bug"],
    ["--sedes", "1"],
  ])("explains itself when told %s %s", { timeout: longMs }, async (...args) => {
    const { code, err } = await sim(args);
    expect(code).toBe(2);
    expect(err).toContain("--replay S");
  });

  it("shrinks a failure and says how to see it again", { timeout: longMs }, async () => {
    const { code, err } = await sim(["--bug", "chain-not-chained", "--seeds", "3"]);
    expect(code).toBe(3);
    expect(err).toMatch(/--replay \d+ --bug chain-not-chained --requests \d+/);
  });
});

/** As the build writes it: the anchors stand in compiled text. */
function compiled(bug: PlantedBug): string {
  const path = bug.file.replace(/\.js$/, ".ts");
  const text = readFileSync(new URL(path, root), "utf8");
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(text, { compilerOptions: options }).outputText;
}

type Ran = { readonly code: number; readonly last: unknown; readonly err: string };

async function sim(args: readonly string[]): Promise<Ran> {
  const main = fileURLToPath(new URL("dist/sim/main.js", root));
  const run = promisify(execFile)(process.execPath, [main, ...args], { maxBuffer: 1 << 28 });
  const { stdout, stderr, code } = await run.then(
    (done) => ({ ...done, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
  const line = stdout.trimEnd().split("\n").at(-1) ?? "";
  return { code, err: stderr, last: line.startsWith("{") ? JSON.parse(line) : null };
}
