// Sets up, runs the tests, and closes with `N passed, N failed` alone on the last line of standard
// output, from the runner's own report. Arguments go to vitest: `npm test -- --project unit`.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root } from "./build.mjs";
import { setupOrExit } from "./setup.mjs";

const signalCodes = { SIGINT: 130, SIGTERM: 143 };

await setupOrExit();
const args = process.argv.slice(2);
const { code, report } = runVitest(args);
process.exitCode = close({ code, report, isFiltered: args.some(isNameFilter) });

function runVitest(args) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const file = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const run = spawnSync(process.execPath, [vitest, "run", ...reporters, ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  rmSync(folder, { recursive: true, force: true });
  return { code: run.status ?? signalCodes[run.signal] ?? 1, report };
}

/** Prints the closing line and returns the exit code. */
function close({ code, report, isFiltered }) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((file) =>
    file.assertionResults.map((test) => ({ ...test, file: relative(root, file.name) })),
  );
  const passed = tests.filter((test) => test.status === "passed").length;
  const skipped = tests.filter((test) => !["passed", "failed"].includes(test.status));
  const failed = tests.filter((test) => test.status === "failed").length + broken(files).length;

  const complaints = [];
  if (report === undefined) complaints.push("The runner left no report: it crashed, see above.");
  if (tests.length === 0) complaints.push("No test ran.");
  if (skipped.length > 0 && !isFiltered) complaints.push(...skipList(skipped));
  if (code !== 0 && failed === 0) complaints.push(`The runner ended with code ${code}, see above.`);
  if (complaints.length > 0) process.stderr.write(`\nFAILED\n${complaints.join("\n")}\n\n`);

  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  process.stdout.write(`${passed} passed, ${failed} failed${tail}\n`);
  return code === 0 && complaints.length + failed > 0 ? 1 : code;
}

/** Files that failed as a whole (an import, a hook): no test of theirs says so. */
function broken(files) {
  return files.filter(
    (file) =>
      file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
}

function skipList(skipped) {
  const lines = skipped.map((test) => `  ${test.status}: ${test.file} > ${test.fullName}`);
  return [`${skipped.length} tests did not run, and every test has to:`, ...lines];
}

/** Tests outside a name filter are reported as skipped; that is what the caller asked for. */
function isNameFilter(arg) {
  return /^(-t|--testNamePattern)(=|$)/.test(arg);
}
