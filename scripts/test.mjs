// Sets up, runs the tests, and closes with `N passed, N failed` alone on the last line of standard
// output, from the runner's own report. Arguments go to vitest: `npm test -- --project unit`.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./build.mjs";
import { setupOrExit } from "./setup.mjs";
import { judge } from "./test-report.mjs";

const signalCodes = { SIGINT: 130, SIGTERM: 143 };

await setupOrExit();
const args = process.argv.slice(2);
const { code, report } = runVitest(args);
const verdict = judge({ code, report, args, root });
if (verdict.complaints.length > 0) {
  process.stderr.write(`\nFAILED\n${verdict.complaints.join("\n")}\n\n`);
}
process.stdout.write(`${verdict.closingLine}\n`);
process.exitCode = verdict.code;

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
