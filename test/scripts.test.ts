import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

type Verdict = Readonly<{ closingLine: string; code: number; complaints: readonly string[] }>;

const script = (name: string): string => new URL(`../scripts/${name}`, import.meta.url).href;
const { judge } = (await import(script("test-report.mjs"))) as {
  judge: (run: object) => Verdict;
};

describe("the closing line of npm test", () => {
  const run = (code: number, statuses: readonly string[], args: readonly string[] = []) => {
    const assertionResults = statuses.map((status) => ({ status, fullName: `is ${status}` }));
    const testResults = [{ name: "/repo/src/a.test.ts", status: "passed", assertionResults }];
    return judge({ code, report: { testResults }, args, root: "/repo" });
  };

  it("counts what the report holds", () => {
    expect(run(0, ["passed", "passed"])).toEqual({
      closingLine: "2 passed, 0 failed",
      code: 0,
      complaints: [],
    });
    expect(run(1, ["passed", "failed"])).toMatchObject({
      closingLine: "1 passed, 1 failed",
      code: 1,
    });
  });

  it.each(["skipped", "pending", "todo"])("fails a run with a %s test and names it", (status) => {
    const verdict = run(0, ["passed", status]);
    expect(verdict).toMatchObject({ closingLine: "1 passed, 0 failed, 1 skipped", code: 1 });
    expect(verdict.complaints.join()).toContain(`src/a.test.ts > is ${status}`);
  });

  it("accepts tests that the caller filtered out by name", () => {
    expect(run(0, ["passed", "skipped"], ["-t", "passed"]).code).toBe(0);
    expect(run(0, ["skipped"], ["-t", "nothing"]).code).toBe(1);
  });

  it("fails a run without tests, without a report, or that ended badly after its tests", () => {
    expect(run(0, []).code).toBe(1);
    expect(judge({ code: 0, report: undefined, args: [], root: "/repo" }).code).toBe(1);
    expect(run(1, ["passed"])).toMatchObject({ code: 1, complaints: [expect.any(String)] });
  });

  it("counts a file that failed as a whole", () => {
    const testResults = [{ name: "/repo/a.test.ts", status: "failed", assertionResults: [] }];
    const verdict = judge({ code: 1, report: { testResults }, args: [], root: "/repo" });
    expect(verdict.closingLine).toBe("0 passed, 1 failed");
  });
});

describe("the set-up lock", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-lock-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("lets one process in at a time, after taking over from a dead one", async () => {
    const counter = join(folder, "counter");
    writeFileSync(counter, "0");
    mkdirSync(join(folder, "lock"));
    writeFileSync(join(folder, "lock", "pid"), String(await deadProcess()));

    const codes = await Promise.all([1, 2, 3].map(() => countSlowly(folder, 3)));

    expect(codes).toEqual([0, 0, 0]);
    expect(readFileSync(counter, "utf8")).toBe("9");
    expect(readdirSync(folder)).toEqual(["counter"]);
  });
});

async function deadProcess(): Promise<number | undefined> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid;
}

/** Reads, pauses and writes back under the lock: two at once would lose a count. */
async function countSlowly(folder: string, times: number): Promise<unknown> {
  const program = `
    import { readFileSync, writeFileSync } from "node:fs";
    import { withLock } from ${JSON.stringify(script("lock.mjs"))};
    const [folder, times] = process.argv.slice(1);
    for (let turn = 0; turn < Number(times); turn += 1) {
      await withLock(folder + "/lock", async () => {
        const count = Number(readFileSync(folder + "/counter", "utf8"));
        await new Promise((resolve) => setTimeout(resolve, 10));
        writeFileSync(folder + "/counter", String(count + 1));
      });
    }`;
  const args = ["--input-type=module", "-e", program, folder, String(times)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code;
}
