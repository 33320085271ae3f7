// What a test run comes to: the closing line, the exit code, what is wrong besides failed tests.

import { relative } from "node:path";

/** `report` is vitest's JSON report, or undefined if it left none; `code` is its exit code. */
export function judge({ code, report, args, root }) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((file) =>
    file.assertionResults.map((test) => ({ ...test, file: relative(root, file.name) })),
  );
  const passed = tests.filter((test) => test.status === "passed").length;
  const skipped = tests.filter((test) => !["passed", "failed"].includes(test.status));
  const failed = tests.filter((test) => test.status === "failed").length + broken(files).length;

  const complaints = [];
  if (report === undefined) complaints.push("The runner left no report: it crashed, see above.");
  if (passed + failed === 0) complaints.push("No test ran.");
  if (skipped.length > 0 && !args.some(isNameFilter)) complaints.push(...skipList(skipped));
  if (code !== 0 && failed === 0) complaints.push(`The runner ended with code ${code}, see above.`);

  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  return {
    closingLine: `${passed} passed, ${failed} failed${tail}`,
    code: code === 0 && complaints.length + failed > 0 ? 1 : code,
    complaints,
  };
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
